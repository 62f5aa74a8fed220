{# The versions of a dimension that begins with one complete extract: every row is one, and nothing has ended yet. #}
{% macro first_versions_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
select
    {%- if names.surrogate_key %}
    {{ new_key_sql(dimension) | indent(4) }} as {{ backticked(names.surrogate_key) }},
    {%- endif %}
    {{ backticked(names.durable_key) }},
    {{ column_list(dimension.kept_columns) }},
    {{ backticked(names.hash_diff) }},
    {%- if names.state_hash %}
    {{ state_hash_sql(dimension) }} as {{ backticked(names.state_hash) }},
    {%- endif %}
    {{ backticked(names.effective_from) }},
    {{ open_end_literal(settings) }} as {{ backticked(names.effective_to) }},
    {{ flag_literal(settings, true) }} as {{ backticked(names.is_current) }},
    {{ flag_literal(settings, false) }} as {{ backticked(names.is_deleted) }}
from {{ dimension.extract }}
    {%- if dimension.lacks_unknown_member %}
union all
select
    {{ _unknown_member_sql(dimension) }}
    {%- endif %}
{% endmacro %}


{# Whether a run begins a dimension so. An extract of after the end of time is left to the check of versions that end before
   they begin. #}
{% macro is_first_extract(dimension) %}
    {%- set settings = dimension.settings -%}
    {{- return(not dimension.exists and settings.source_kind == 'snapshot' and dimension.moments | length == 1
        and not settings.inferred_member
        and (settings.open_end is none or dimension.moments | first < ts_micros(settings.open_end | string))) -}}
{% endmacro %}
