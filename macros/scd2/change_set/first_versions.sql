{# The versions of a first load in which each key has one row: every row is a version, and all are
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
    {%- if names.state_hash %}
    {{ delta_scd2.state_hash_sql(load) }} as {{ delta_scd2.backticked(names.state_hash) }},
    {%- endif %}
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


{# Whether a first load opens a version for each of its rows: one full extract, or a batch with
   one row for each key. #}
{% macro opens_all_rows(load) %}
    {%- set settings = load.settings -%}
    {{- return(not load.exists and not settings.inferred_member and not load.unavailable_columns
        and (load.pending_extracts | length == 1 if settings.reads_extracts
            else load.row_counts != {} and not load.other_rows)) -}}
{% endmacro %}
