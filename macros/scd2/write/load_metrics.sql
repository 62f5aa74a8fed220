{# What a load did, as values of the load log. `graph` is the one thing that a model and the end of a run share. #}
{% macro collect_load_metrics(dimension, plan, summary, row_counts, recorded) %}
    {%- set moments = row_counts.keys() | list -%}
    {%- set skipped = [] -%}
    {%- for moment in moments if dimension.settings.source_kind == 'snapshot' and moment not in dimension.moments -%}
        {%- do skipped.append(row_counts[moment]) -%}
    {%- endfor -%}
    {%- set load = dict(
        summary,
        plan=sql_string(plan),
        rows_read=row_counts.values() | sum,
        skipped=skipped | sum,
        source_version=recorded.get('scd2.consumed_version', 'null'),
    ) -%}
    {%- if moments -%}
        {%- do load.update({
            'first_effective_at': timestamp_literal(moments | min),
            'last_effective_at': timestamp_literal(moments | max),
        }) -%}
    {%- endif -%}
    {%- do load.update({'delta_version': newest_version(dimension.target)}) if plan != 'none' -%}
    {%- do graph.nodes[model.unique_id].update({'scd2_load': load}) -%}
{% endmacro %}


{% macro note_invocation_before(commit) %}
    {%- do graph.nodes[model.unique_id].update({'scd2_invocation_before': invocation_of(commit)}) -%}
{% endmacro %}


{# The run that was the last to write a dimension when this run read it. #}
{% macro invocation_before(node) %}
    {{- return(graph.nodes[node.unique_id].get('scd2_invocation_before')) -}}
{% endmacro %}
