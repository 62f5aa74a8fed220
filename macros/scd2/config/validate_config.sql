{% macro validate_config(node, settings, source_columns) %}
    {%- set mistakes = validate_written_options(node, scd2_options()) -%}
    {%- do mistakes.extend(validate_values(node.config, settings)) -%}
    {%- do mistakes.extend(_validate_columns(settings, source_columns)) -%}
    {%- if not mistakes -%}
        {%- do mistakes.extend(validate_event_time(
            node, resolve_columns(settings, source_columns).columns, settings.columns.effective_from
        )) -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}
