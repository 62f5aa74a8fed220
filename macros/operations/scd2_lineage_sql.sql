{% macro scd2_lineage_sql(node) %}
    {%- set settings = delta_scd2.scd2_config(node) -%}
    {%- set names = settings.columns -%}
    {%- set documented = [] -%}
    {%- for name in node.columns -%}
        {%- do documented.append({'name': name}) -%}
    {%- endfor -%}
    {%- set stored_as = {} -%}
    {%- for name, stored in settings.stored_as.items() if stored | lower not in (node.own_columns or []) -%}
        {%- do stored_as.update({name: stored}) -%}
    {%- endfor -%}
    {%- set columns = delta_scd2.resolve_columns(
        dict(settings, stored_as=stored_as), documented, are_stored=true
    ) -%}
    {%- set selected, tracked = [], [] -%}
    {%- for column in columns.kept_columns -%}
        {%- do selected.append(delta_scd2.backticked(column.name_in_model or column.name) ~ ' as '
            ~ delta_scd2.backticked(column.name)) -%}
    {%- endfor -%}
    {%- for column in columns.tracked_columns -%}
        {%- do tracked.append(column.name_in_model or column.name) -%}
    {%- endfor -%}
    {%- set keys = settings.unique_key -%}
    {%- set effective_at = delta_scd2.as_list(settings.effective_at) -%}
    {%- set inputs = {
        'surrogate_key': keys + effective_at,
        'durable_key': keys,
        'hash_diff': tracked,
        'state_hash': keys + tracked,
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
