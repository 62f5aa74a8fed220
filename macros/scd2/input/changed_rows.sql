{# The rows of the one fresh extract that concern a key. Their state is hashed after them, since
   Spark would hash that of all rows. #}
{% macro changed_rows_sql(load) %}
{%- set hint = delta_scd2.changed_keys_hint(load) -%}
select{{ ' ' ~ hint if hint }} source_rows.* except (_scd2_state_hash)
from {{ load.source_view }} as source_rows
left semi join {{ load.changed_keys }} as changed_keys
    on source_rows._scd2_key_hash = changed_keys.key_hash
where source_rows.{{ delta_scd2.backticked(load.settings.columns.effective_from) }} = {{
    delta_scd2.timestamp_literal(load.pending_extracts | first)
}}
{% endmacro %}


{# A key takes some 64 bytes in the table that Spark broadcasts; beyond 100 MB both sides are
   better shuffled. #}
{% macro changed_keys_hint(load) %}
    {{- return('/*+ broadcast(changed_keys) */' if 64 * load.changed_key_counts['changed'] <= 100 * 1024 * 1024) -}}
{% endmacro %}
