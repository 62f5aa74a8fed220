{# The rows of the model with their effective time and hashes. The hashes come last: Spark's
   optimizer tracks constraints column by column, and would track a hash that comes first once for
   every combination of renamed columns. #}
{% macro hashed_rows_sql(load, rows) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
select
    {{ delta_scd2.column_list(load.kept_columns) }},
    {{ delta_scd2.backticked(names.effective_from) }},
    {%- if settings.change_type %}
    _scd2_is_gone,
    {%- endif %}
    {{ delta_scd2.hash_of(load.key_columns) | indent(4) }} as {{ delta_scd2.backticked(names.durable_key) }},
    {{ delta_scd2.hash_of(load.tracked_columns) | indent(4) }} as {{ delta_scd2.backticked(names.hash_diff) }}
from {{ rows }}
{% endmacro %}
