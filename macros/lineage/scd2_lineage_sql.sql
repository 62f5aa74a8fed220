{% macro scd2_lineage_sql(node) %}
    {%- set settings = scd2_settings(node) -%}
    {%- set names = settings.columns -%}
    {%- set documented = [] -%}
    {%- for name in node.columns -%}
        {%- do documented.append({'name': name}) -%}
    {%- endfor -%}
    {%- set columns = scd2_columns(settings, documented) -%}
    {%- set selected = [] -%}
    {%- for column in columns.kept_columns -%}
        {%- do selected.append(_backticked(_given_name(settings, column.name)) ~ ' as ' ~ _backticked(column.name)) -%}
    {%- endfor -%}
    {%- set keys = settings.unique_key -%}
    {%- set moment = _as_list(settings.effective_at) -%}
    {%- set inputs = {
        'surrogate_key': keys + moment,
        'durable_key': keys,
        'hash_diff': columns.tracked_columns | map(attribute='name') | list,
        'state_hash': keys + columns.tracked_columns | map(attribute='name') | list,
        'effective_to': keys + moment,
        'is_current': keys + moment,
        'is_deleted': keys + moment + _as_list(settings.change_type),
    } -%}
    {%- for role, read in inputs.items() if names[role] -%}
        {%- set made_from = 'concat(' ~ _quoted(read) | join(', ') ~ ')' if read else 'null' -%}
        {%- do selected.append(made_from ~ ' as ' ~ _backticked(names[role])) -%}
    {%- endfor -%}
    {%- do selected.append((_quoted(moment)[0] or 'current_timestamp()') ~ ' as ' ~ _backticked(names.effective_from)) -%}
select
    {{ selected | join(',\n    ') }}
from model_rows
{% endmacro %}
