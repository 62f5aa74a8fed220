{# The rows of the one fresh extract that concern a key. Their state is hashed after them, since Spark would hash that of all rows. #}
{% macro changed_rows_sql(load) %}
{%- set hint = changed_keys_hint(load) -%}
select{{ ' ' ~ hint if hint }} given.* except (_scd2_state_hash)
from {{ load.source_view }} as given
left semi join {{ load.changed_keys }} as concerned
    on given._scd2_key_hash = concerned.key_hash
where given.{{ backticked(load.settings.columns.effective_from) }} = {{ timestamp_literal(load.pending_extracts | first) }}
{% endmacro %}


{# A key takes some 64 bytes in the table that Spark broadcasts; beyond 100 MB both sides are better shuffled. #}
{% macro changed_keys_hint(load) %}
    {{- return('/*+ broadcast(concerned) */' if 64 * load.changed_key_counts['concerned'] <= 100 * 1024 * 1024) -}}
{% endmacro %}
