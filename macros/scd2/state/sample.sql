{# Whether the table was created with `--sample`; it contains a subset of rows, so a full run
   replaces it. #}
{% macro query_is_sample(existing) %}
    {{- return(not delta_scd2.is_partial_run()
        and delta_scd2.read_properties(existing).get('scd2.sample') == 'true') -}}
{% endmacro %}
