{# Whether the table was created with `--sample`; it contains a subset of rows, so a full run
   replaces it. #}
{% macro was_built_from_sample(recorded) %}
    {{- return(not delta_scd2.is_partial_run() and recorded.get('scd2.sample') == 'true') -}}
{% endmacro %}


{# The result of a model whose existing table a run with `--empty` or `--sample` leaves alone. #}
{% macro skip_partial_run(what) %}
    {%- do store_raw_result(
        'main',
        message='SKIP a partial run changes no ' ~ what,
        code='SKIP',
        rows_affected=0
    ) -%}
{% endmacro %}
