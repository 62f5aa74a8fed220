{# The versions of a first load with one complete extract: every row is a version, and all are
   open. #}
{% macro first_versions_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
select
    {%- if names.surrogate_key %}
    {{ delta_scd2.new_key_sql(load) | indent(4) }} as {{ delta_scd2.backticked(names.surrogate_key) }},
    {%- endif %}
    {{ delta_scd2.backticked(names.durable_key) }},
    {{ delta_scd2.column_list(load.kept_columns) }},
    {{ delta_scd2.backticked(names.hash_diff) }},
    {%- for column in delta_scd2.derived_columns(load) %}
    {{ column.sql }} as {{ delta_scd2.backticked(column.name) }},
    {%- endfor %}
    {{ delta_scd2.backticked(names.effective_from) }},
    {{ delta_scd2.open_end_literal(settings) }} as {{ delta_scd2.backticked(names.effective_to) }},
    {{ delta_scd2.flag_literal(settings, true) }} as {{ delta_scd2.backticked(names.is_current) }},
    {{ delta_scd2.flag_literal(settings, false) }} as {{ delta_scd2.backticked(names.is_deleted) }}
from {{ load.hashed_rows }}
    {%- if load.lacks_unknown_member %}
union all
select
    {{ delta_scd2._unknown_member_sql(load) | trim }}
    {%- endif %}
{% endmacro %}


{# Whether the load is a first load of one complete extract. An extract later than `open_end` goes
   through the change set, which raises an error for versions that end before they start. #}
{% macro is_first_extract(load) %}
    {%- set settings = load.settings -%}
    {{- return(not load.exists and settings.reads_extracts and load.pending_extracts | length == 1
        and not settings.inferred_member
        and (settings.open_end is none
            or load.pending_extracts | first < delta_scd2.ts_micros(settings.open_end
                | string))) -}}
{% endmacro %}
