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


{% macro scd2_options() %}
    {{- return([
        'unique_key', 'source_kind', 'effective_at', 'sequence_by', 'change_type', 'track_columns', 'overwrite_columns',
        'ignore_columns', 'hard_deletes', 'surrogate_key', 'open_end', 'closing_gap', 'scd2_columns', 'flag_values',
        'on_schema_change', 'unknown_member', 'inferred_member', 'max_delete_fraction', 'min_rows', 'merge_plan',
    ]) -}}
{% endmacro %}
