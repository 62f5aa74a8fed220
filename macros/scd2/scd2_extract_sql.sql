{# The rows of the model as the timeline wants them: dated, and hashed. The hashes come last. Spark notes what it knows of columns
   as it goes through them, and of a hash that comes first once for each set of its columns to which it then gives new names. #}
{% macro scd2_extract_sql(dimension, rows) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
select
    {{ _column_list(dimension.kept_columns) }},
    {{ _backticked(names.effective_from) }},
    {%- if settings.change_type %}
    {{ "if(" ~ _is_inferred(settings) ~ ", false, _scd2_kind = 'delete')" if settings.inferred_member else "_scd2_kind = 'delete'" }} as _scd2_is_gone,
    {%- endif %}
    {{ _hash_of(dimension.key_columns) | indent(4) }} as {{ _backticked(names.durable_key) }},
    {{ _hash_of(dimension.tracked_columns) | indent(4) }} as {{ _backticked(names.hash_diff) }}
from {{ rows }}
{% endmacro %}


{% macro _column_list(columns, alias=none, indent=4) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append((alias ~ '.' if alias else '') ~ _backticked(column.name)) -%}
    {%- endfor -%}
    {{- quoted | join(',\n' ~ ' ' * indent) -}}
{% endmacro %}


{# Where what has no beginning of its own begins: placeholders and the unknown member. #}
{% macro _beginning_of_time() %}
    {{- return(_timestamp_literal(_micros('1900-01-01'))) -}}
{% endmacro %}


{% macro _is_inferred(settings) %}
    {{- return('coalesce(' ~ _backticked(settings.inferred_member) ~ ', false)') -}}
{% endmacro %}
