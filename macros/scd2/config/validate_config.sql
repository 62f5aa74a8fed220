{% macro validate_config(node, settings, source_columns) %}
    {%- set mistakes = delta_scd2.validate_written_options(node, delta_scd2.scd2_options()) -%}
    {%- if not settings.unique_key -%}
        {%- do mistakes.append('`unique_key` is missing: name the column or the list of columns of '
            ~ 'the business key') -%}
    {%- endif -%}
    {%- if node.config.get('file_format') != 'delta' -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'file_format', node.config.get('file_format'), 'delta'
        ) ~ ': set `+file_format: delta` under `models` in dbt_project.yml') -%}
    {%- endif -%}
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
