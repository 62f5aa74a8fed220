{# The rows of the one fresh extract that concern a key. Their state is hashed after them, since Spark would hash that of all rows. #}
{% macro changed_rows_sql(dimension) %}
{%- set hint = changed_keys_hint(dimension) -%}
select{{ ' ' ~ hint if hint }} given.* except (_scd2_state_hash)
from {{ dimension.given }} as given
left semi join {{ dimension.concerned }} as concerned
    on given._scd2_key_hash = concerned.key_hash
where given.{{ backticked(dimension.settings.columns.effective_from) }} = {{ timestamp_literal(dimension.moments | first) }}
{% endmacro %}


{# A key takes some 64 bytes in the table that Spark broadcasts; beyond 100 MB both sides are better shuffled. #}
{% macro changed_keys_hint(dimension) %}
    {{- return('/*+ broadcast(concerned) */' if 64 * dimension.glance['concerned'] <= 100 * 1024 * 1024) -}}
{% endmacro %}
