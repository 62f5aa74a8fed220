{# The change set as one Delta MERGE. Business key and beginning tell a version, and of current
   versions the key alone. #}
{% macro merge_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set effective_from = delta_scd2.backticked(names.effective_from) -%}
    {%- set is_current = delta_scd2.backticked(names.is_current) -%}
merge into {{ load.target }} as target
using (
    select changes.*
    from {{ load.changes }} as changes
    -- behind a semi join Spark still sees how small the change set is
    left semi join (
        {{ delta_scd2.assert_target_unchanged_sql(load) | trim | indent(8) }}
    ) as standing
) as changes
on
    {%- for column in load.key_columns %}
    {{ 'and ' if not loop.first }}target.{{ delta_scd2.backticked(column.name) }} = changes.{{ delta_scd2.backticked(column.name) }}
    {%- endfor %}
    {%- if delta_scd2.changes_current_versions_only(load) %}
    and target.{{ is_current }} = {{ delta_scd2.flag_literal(settings, true) }}
    and changes._scd2_action = 'change'
    {%- else %}
    and target.{{ effective_from }} = changes.{{ effective_from }}
    {%- for bound in load.bounds %}
    and target.{{ bound }}
    {%- endfor %}
when matched and changes._scd2_action = 'remove' then delete
    {%- endif %}
-- every column, so that the table is read for the condition alone
when matched then update set
    {%- for column in load.columns %}
    {{ delta_scd2.backticked(column) }} = changes.{{ delta_scd2.backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
when not matched then insert (
    {%- for column in load.columns %}
    {{ delta_scd2.backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
values (
    {%- for column in load.columns %}
    changes.{{ delta_scd2.backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{% endmacro %}
