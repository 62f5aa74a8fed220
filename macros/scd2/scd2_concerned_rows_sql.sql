{# The rows of the one fresh extract that concern a key. Their state is hashed after them, since Spark would hash that of all rows. #}
{% macro scd2_concerned_rows_sql(dimension) %}
{%- set hint = _concerned_hint(dimension) -%}
select{{ ' ' ~ hint if hint }} given.* except (_scd2_state_hash)
from {{ dimension.given }} as given
left semi join {{ dimension.concerned }} as concerned
    on given._scd2_key_hash = concerned.key_hash
where given.{{ _backticked(dimension.settings.columns.effective_from) }} = {{ _timestamp_literal(dimension.moments | first) }}
{% endmacro %}


{# A key takes some 64 bytes in the table that Spark broadcasts; beyond 100 MB both sides are better shuffled. #}
{% macro _concerned_hint(dimension) %}
    {{- return('/*+ broadcast(concerned) */' if 64 * dimension.glance['concerned'] <= 100 * 1024 * 1024) -}}
{% endmacro %}
