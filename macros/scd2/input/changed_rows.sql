{# The rows of the single new extract whose keys changed. The state hash is left out, because Spark
   would compute it for all rows. #}
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


{# A key needs about 64 bytes in a broadcast table; above 100 MB, a shuffle is better. #}
{% macro changed_keys_hint(load) %}
    {%- set size = 64 * load.changed_key_counts['changed'] -%}
    {{- return('/*+ broadcast(changed_keys) */' if size <= 100 * 1024 * 1024) -}}
{% endmacro %}
