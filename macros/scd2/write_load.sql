{# Writes the change set in one commit, then appends the events behind it. #}
{% macro _write(load) %}
    {%- do delta_scd2.check_properties_unchanged(
        load.target, delta_scd2.read_properties(load.target), load.properties
    ) if load.exists and (load.pending_extracts
        or load.settings.reads_extracts and load.settings.inferred_member
        or load.is_compared and load.settings.has_sequence_keys) -%}
    {#- Another run may have made the table of events, which this one would make anew. -#}
    {%- do delta_scd2.check_properties_unchanged(
        load.event_log, delta_scd2.event_log_properties(load.event_log), load.event_log_properties
    ) if load.exists and load.event_log and not load.has_usable_events and load.may_change -%}
    {%- if load.may_change -%}
        {%- do delta_scd2._write_changes(load) -%}
        {%- do delta_scd2.append_events(load) if load.event_log and not delta_scd2.is_emptied(load) -%}
    {%- elif load.pending_extracts -%}
        {%- do run_query(delta_scd2.assert_target_unchanged_sql(load)) -%}
    {%- elif delta_scd2.lacks_event_table(load) -%}
        {%- do delta_scd2.append_events(load) -%}
    {%- endif -%}
{% endmacro %}


{% macro _write_changes(load) %}
    {%- for statement_sql in delta_scd2.alter_statements(load) -%}
        {%- do run_query(statement_sql) -%}
    {%- endfor -%}
    {%- if load.plan == 'none' -%}
        {#- A MERGE includes this check. Without one, a load must not record anything about a
            dimension that another run changed. -#}
        {%- do run_query(delta_scd2.assert_target_unchanged_sql(load)) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- if load.summary['removed'] and load.settings.has_sequence_keys -%}
        {#- The surrogate key of a removed version must not be reused. -#}
        {%- set last_key = run_query(delta_scd2.last_key_sql(load)).rows[0]['_scd2_last_key'] | string -%}
        {%- do run_query(delta_scd2.set_properties_sql(load.target, {'scd2.last_key': last_key})) -%}
    {%- endif -%}
    {%- set write_sql = delta_scd2._write_sql(load) -%}
    {%- do delta_scd2.show_statements(load, write_sql) -%}
    {%- call statement('merge') -%}
        {{ delta_scd2.committing(load.target, write_sql) }}
    {%- endcall -%}
{% endmacro %}


{% macro _write_sql(load) %}
    {%- if load.plan == 'create' -%}
        {{- delta_scd2.create_sql(load) -}}
    {%- elif load.is_compared -%}
        {{- delta_scd2.merge_compared_sql(load) -}}
    {%- elif load.plan == 'three_clause' -%}
        {{- delta_scd2.merge_three_clause_sql(load) -}}
    {%- else -%}
        {{- delta_scd2.merge_sql(load) -}}
    {%- endif -%}
{% endmacro %}


{# Records the load in the table properties, on the result line and in the load log. #}
{% macro _record(load) %}
    {%- set properties = delta_scd2.properties_after_load(load) -%}
    {#- These loads may write without a new extract, and their MERGE must not look unrecorded. -#}
    {%- set is_repeated = load.plan not in ['none', 'create']
        and (load.rebuild_from or load.settings.inferred_member) -%}
    {%- set before = dict(load.properties, **delta_scd2.filled_columns_property(load)) -%}
    {%- set news = properties if is_repeated
        else dict(properties.items() | reject('in', before.items())) -%}
    {%- if not delta_scd2.is_emptied(load) and news and not delta_scd2.is_recorded_at_once(load) -%}
        {%- do delta_scd2.run_to_its_end(delta_scd2.set_properties_sql(load.target, news)) -%}
    {%- endif -%}
    {%- set summary = load.summary -%}
    {%- do delta_scd2.store_load_result(
        load.plan,
        {'opened': summary['opened'], 'closed': summary['closed'], 'deleted': summary['deleted']},
        {'altered': summary['altered'], 'removed': summary['removed']}
    ) -%}
    {%- do delta_scd2.collect_load_metrics(load, properties) if delta_scd2.load_log_node() -%}
{% endmacro %}
