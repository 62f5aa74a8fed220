{# What a load did, as values of the load log. `graph` is the one thing that a model and the end of a run share. #}
{% macro _note_load(dimension, plan, summary, row_counts, recorded) %}
    {%- set moments = row_counts.keys() | list -%}
    {%- set skipped = [] -%}
    {%- for moment in moments if dimension.settings.source_kind == 'snapshot' and moment not in dimension.moments -%}
        {%- do skipped.append(row_counts[moment]) -%}
    {%- endfor -%}
    {%- set load = dict(
        summary,
        plan=_sql_string(plan),
        rows_read=row_counts.values() | sum,
        skipped=skipped | sum,
        source_version=recorded.get('scd2.consumed_version', 'null'),
    ) -%}
    {%- if moments -%}
        {%- do load.update({
            'first_effective_at': _timestamp_literal(moments | min),
            'last_effective_at': _timestamp_literal(moments | max),
        }) -%}
    {%- endif -%}
    {%- do load.update({'delta_version': _newest_version(dimension.target)}) if plan != 'none' -%}
    {%- do graph.nodes[model.unique_id].update({'scd2_load': load}) -%}
{% endmacro %}
