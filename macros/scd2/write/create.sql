{% macro create_sql(load) %}
    {#- Only loads that may compare look at the size of the table, and turn deletion vectors on later.
        The size of its files is not known yet: a row is taken for 256 bytes. -#}
    {%- set is_rewritten = delta_scd2.compares_at_once(load.settings)
        and delta_scd2.is_small(256 * load.summary['opened']) -%}
    {%- set properties = {delta_scd2.deletion_vectors_property(): 'false' if is_rewritten else 'true'} -%}
    {%- do properties.update(delta_scd2.sample_properties()) -%}
    {#- A table created with `--empty` has no row but this one. -#}
    {%- do properties.update({'scd2.unknown_member': 'true'})
        if delta_scd2.is_emptied(load) and load.settings.unknown_member -%}
    {#- Nor has it events to lose. -#}
    {%- do properties.update({'scd2.events_id': load.event_log_id})
        if load.event_log and not delta_scd2.is_emptied(load) -%}
    {%- do properties.update(delta_scd2.feature_properties(load.kept_columns)) -%}
    {%- do properties.update(delta_scd2.properties_after_load(load)
        if delta_scd2.is_recorded_at_once(load) else delta_scd2.immutable_options(load))
        if not delta_scd2.is_emptied(load) -%}
    {%- do properties.update(config.get('tblproperties') or {}) -%}
create or replace table {{ load.target }}
    {%- for clause in [
        file_format_clause(),
        partition_cols(label='partitioned by'),
        location_clause(),
        comment_clause(),
    ] if clause | trim %}
{{ clause | trim }}
    {%- endfor %}
{{ delta_scd2.properties_clause(properties) }}
as
    {%- if load.opens_all_rows %}
{{ delta_scd2.first_versions_sql(load) }}
    {%- else %}
select
    {{ delta_scd2.backticked_names(load.columns) | join(',\n    ') }}
from {{ load.changes }}
    {%- endif %}
{% endmacro %}
