{% macro is_full_refresh() %}
    {{- return(flags.FULL_REFRESH and config.get('full_refresh') != false) -}}
{% endmacro %}


{# Whether `--empty` or `--sample` limits the rows. #}
{% macro is_partial_run() %}
    {{- return(flags.EMPTY or invocation_args_dict.get('sample')) -}}
{% endmacro %}
