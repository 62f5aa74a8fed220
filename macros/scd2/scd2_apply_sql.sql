{# The change set as one Delta MERGE. Business key and beginning tell a version, and of current versions the key alone. #}
{% macro scd2_apply_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set effective_from = _backticked(names.effective_from) -%}
    {%- set is_current = _backticked(names.is_current) -%}
merge into {{ dimension.target }} as target
using (
    select changes.*
    from {{ dimension.changes }} as changes
    -- behind a semi join Spark still sees how small the change set is
    left semi join (
        {{ _stands_sql(dimension) | trim | indent(8) }}
    ) as standing
) as changes
on
    {%- for column in dimension.key_columns %}
    {{ 'and ' if not loop.first }}target.{{ _backticked(column.name) }} = changes.{{ _backticked(column.name) }}
    {%- endfor %}
    {%- if _touches_current_only(dimension) %}
    and target.{{ is_current }} = {{ _flag_literal(settings, true) }}
    and changes._scd2_action = 'change'
    {%- else %}
    and target.{{ effective_from }} = changes.{{ effective_from }}
    {%- for bound in dimension.bounds %}
    and target.{{ bound }}
    {%- endfor %}
when matched and changes._scd2_action = 'remove' then delete
    {%- endif %}
-- every column, so that the table is read for the condition alone
when matched then update set
    {%- for column in dimension.columns %}
    {{ _backticked(column) }} = changes.{{ _backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
when not matched then insert (
    {%- for column in dimension.columns %}
    {{ _backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
values (
    {%- for column in dimension.columns %}
    changes.{{ _backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{% endmacro %}


{# Whether events may fall between versions, and so take some away. #}
{% macro _splices(dimension) %}
    {{- return(dimension.settings.source_kind != 'snapshot' or dimension.rebuild_from is not none) -}}
{% endmacro %}


{% macro _touches_current_only(dimension) %}
    {{- return(not _splices(dimension) and not dimension.is_amended and not dimension.overwrite_columns
        and not dimension.settings.inferred_member) -}}
{% endmacro %}
