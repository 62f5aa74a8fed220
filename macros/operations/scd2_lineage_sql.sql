{% macro scd2_lineage_sql(node) %}
    {%- set settings = delta_scd2.scd2_config(node) -%}
    {%- set names = settings.columns -%}
    {%- set documented = [] -%}
    {%- for name in node.columns -%}
        {%- do documented.append({'name': name}) -%}
    {%- endfor -%}
    {%- set columns = delta_scd2.resolve_columns(settings, documented, are_stored=true) -%}
    {%- set selected = [] -%}
    {%- for column in columns.kept_columns -%}
        {%- do selected.append(delta_scd2.backticked(delta_scd2.name_in_model(settings, column.name)) ~ ' as '
            ~ delta_scd2.backticked(column.name)) -%}
    {%- endfor -%}
    {%- set keys = settings.unique_key -%}
    {%- set effective_at = delta_scd2.as_list(settings.effective_at) -%}
    {%- set inputs = {
        'surrogate_key': keys + effective_at,
        'durable_key': keys,
        'hash_diff': columns.tracked_columns | map(attribute='name') | list,
        'state_hash': keys + columns.tracked_columns | map(attribute='name') | list,
        'effective_to': keys + effective_at,
        'is_current': keys + effective_at,
        'is_deleted': keys + effective_at + delta_scd2.as_list(settings.change_type),
    } -%}
    {%- for role, read in inputs.items() if names[role] -%}
        {%- set made_from = 'concat(' ~ delta_scd2.backticked_names(read) | join(', ') ~ ')'
            if read else 'null' -%}
        {%- do selected.append(made_from ~ ' as ' ~ delta_scd2.backticked(names[role])) -%}
    {%- endfor -%}
    {%- do selected.append((delta_scd2.backticked_names(effective_at)[0] or 'current_timestamp()') ~ ' as '
        ~ delta_scd2.backticked(names.effective_from)) -%}
select
    {{ selected | join(',\n    ') }}
from model_rows
{% endmacro %}
