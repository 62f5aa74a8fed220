{% macro validate_config(node, settings, source_columns) %}
    {%- set mistakes = delta_scd2.validate_written_options(node, delta_scd2.scd2_options()) -%}
    {%- do mistakes.extend(delta_scd2.validate_values(node.config, settings)) -%}
    {%- do mistakes.extend(delta_scd2._validate_columns(settings, source_columns)) -%}
    {%- if not mistakes -%}
        {%- do mistakes.extend(delta_scd2.validate_event_time(
            node,
            delta_scd2.resolve_columns(settings, source_columns).columns,
            settings.columns.effective_from
        )) -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}
