{# Writes the change set in one MERGE. Versions match by business key and `effective_from`; if only
   current versions change, the business key is enough. #}
{% macro merge_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set effective_from = delta_scd2.backticked(names.effective_from) -%}
merge into {{ load.target }} as target
using (
    select changes.*
    from {{ load.changes }} as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        {{ delta_scd2.assert_target_unchanged_sql(load) | trim | indent(8) }}
    ) as target_state
) as changes
on
    {{- delta_scd2._same_business_key_sql(load) }}
    {%- if delta_scd2.changes_current_versions_only(load) %}
    and target.{{ delta_scd2.is_current_sql(settings) }}
    and changes._scd2_action = 'change'
    {%- else %}
    and target.{{ effective_from }} = changes.{{ effective_from }}
    {%- for bound in load.bounds %}
    and target.{{ bound }}
    {%- endfor %}
when matched and changes._scd2_action = 'remove' then delete
    {%- endif %}
-- sets every column, so that only the columns of the condition are read
when matched then update set
    {%- for column in delta_scd2.backticked_names(load.columns) %}
    {{ column }} = changes.{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
{{ delta_scd2._insert_sql(load, 'changes') }}
{% endmacro %}


{# By `=` and not `<=>`: the unknown member, whose key is null, matches nothing. #}
{% macro _same_business_key_sql(load) %}
    {%- for name in delta_scd2.backticked_columns(load.key_columns) %}
    {{ 'and ' if not loop.first }}target.{{ name }} = changes.{{ name }}
    {%- endfor %}
{%- endmacro %}


{% macro _insert_sql(load, rows, condition='') -%}
when not matched{{ condition }} then insert (
    {{ delta_scd2.backticked_names(load.columns) | join(',\n    ') }}
)
values (
    {%- for column in delta_scd2.backticked_names(load.columns) %}
    {{ rows }}.{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endmacro %}
