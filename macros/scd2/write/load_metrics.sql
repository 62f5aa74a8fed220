{# Collects the metrics of a load for the load log. `graph` is the only object shared by a model and
   the end of a run. #}
{% macro collect_load_metrics(load, properties) %}
    {%- set extract_times = load.row_counts.keys() | list -%}
    {%- set skipped = [] -%}
    {%- for extract_time in extract_times
        if load.settings.reads_extracts and extract_time not in load.pending_extracts -%}
        {%- do skipped.append(load.row_counts[extract_time]) -%}
    {%- endfor -%}
    {%- set commits = delta_scd2.newest_commits(load.target, 8)
        if load.is_compared or load.plan != 'none' -%}
    {%- do delta_scd2.note_invocation_before(commits) if load.is_compared -%}
    {%- set metrics = dict(
        load.summary,
        plan=delta_scd2.sql_string(load.plan),
        rows_read=load.row_counts.values() | sum,
        skipped=skipped | sum,
        source_version=properties.get('scd2.consumed_version', 'null'),
        first_effective_at=delta_scd2.timestamp_literal(extract_times | min) if extract_times else 'null',
        last_effective_at=delta_scd2.timestamp_literal(extract_times | max) if extract_times else 'null',
        delta_version=commits[0]['version'] if load.plan != 'none' else 'null',
    ) -%}
    {%- do delta_scd2._noted('scd2_loads').update({model.unique_id: metrics}) -%}
{% endmacro %}


{# What this run notes of its models. Not stored in the nodes, because dbt-core 1.12 recreates them on
   every access; and by invocation, because a program may run dbt several times with one manifest. #}
{% macro _noted(what) %}
    {{- return(graph.setdefault(what, {}).setdefault(invocation_id, {})) -}}
{% endmacro %}


{# The metrics of the load in this run, or none if it did not get that far. #}
{% macro load_metrics(node) %}
    {{- return(delta_scd2._noted('scd2_loads').get(node.unique_id)) -}}
{% endmacro %}


{# Notes the run that made the newest of these commits before this run did. Maintenance, such as
   `OPTIMIZE`, is of no run. #}
{% macro note_invocation_before(commits) %}
    {%- set others = [] -%}
    {%- for commit in commits if delta_scd2.invocation_of(commit) not in [none, invocation_id] -%}
        {%- do others.append(delta_scd2.invocation_of(commit)) -%}
    {%- endfor -%}
    {%- do delta_scd2._noted('scd2_invocations_before').update({
        model.unique_id: others | first | default(none)
    }) -%}
{% endmacro %}


{# The last run that wrote the dimension before this run read it. #}
{% macro invocation_before(node) %}
    {{- return(delta_scd2._noted('scd2_invocations_before').get(node.unique_id)) -}}
{% endmacro %}
