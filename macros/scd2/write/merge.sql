{# Writes the change set in one MERGE. Versions match by business key and `effective_from`; if only
   current versions change, the business key is enough. #}
{% macro merge_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set effective_from = backticked(names.effective_from) -%}
    {%- set is_current = backticked(names.is_current) -%}
merge into {{ load.target }} as target
using (
    select changes.*
    from {{ load.changes }} as changes
    -- a semi join lets Spark still see that the change set is small
    left semi join (
        {{ assert_target_unchanged_sql(load) | trim | indent(8) }}
    ) as standing
) as changes
on
    {%- for column in load.key_columns %}
    {{ 'and ' if not loop.first }}target.{{ backticked(column.name) }} = changes.{{ backticked(column.name) }}
    {%- endfor %}
    {%- if changes_current_versions_only(load) %}
    and target.{{ is_current }} = {{ flag_literal(settings, true) }}
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
    {%- for column in load.columns %}
    {{ backticked(column) }} = changes.{{ backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
when not matched then insert (
    {%- for column in load.columns %}
    {{ backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
values (
    {%- for column in load.columns %}
    changes.{{ backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{% endmacro %}
