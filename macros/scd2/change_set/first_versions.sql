{# The versions of a first load with one complete extract: every row is a version, and all are
   open. #}
{% macro first_versions_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
select
    {%- if names.surrogate_key %}
    {{ new_key_sql(load) | indent(4) }} as {{ backticked(names.surrogate_key) }},
    {%- endif %}
    {{ backticked(names.durable_key) }},
    {{ column_list(load.kept_columns) }},
    {{ backticked(names.hash_diff) }},
    {%- for column in derived_columns(load) %}
    {{ column.sql }} as {{ backticked(column.name) }},
    {%- endfor %}
    {{ backticked(names.effective_from) }},
    {{ open_end_literal(settings) }} as {{ backticked(names.effective_to) }},
    {{ flag_literal(settings, true) }} as {{ backticked(names.is_current) }},
    {{ flag_literal(settings, false) }} as {{ backticked(names.is_deleted) }}
from {{ load.hashed_rows }}
    {%- if load.lacks_unknown_member %}
union all
select
    {{ _unknown_member_sql(load) }}
    {%- endif %}
{% endmacro %}


{# Whether the load is a first load of one complete extract. An extract later than `open_end` goes
   through the change set, which raises an error for versions that end before they start. #}
{% macro is_first_extract(load) %}
    {%- set settings = load.settings -%}
    {{- return(not load.exists and settings.reads_extracts and load.pending_extracts | length == 1
        and not settings.inferred_member
        and (settings.open_end is none or load.pending_extracts | first < ts_micros(settings.open_end | string))) -}}
{% endmacro %}
