{# What a load did, kept for the load log. `graph` is the one thing that a model and the end of a run share. #}
{% macro _note_load(dimension, plan, summary, row_counts, recorded) %}
    {%- set skipped = [] -%}
    {%- for moment, row_count in row_counts.items()
        if dimension.settings.source_kind == 'snapshot' and moment not in dimension.moments -%}
        {%- do skipped.append(row_count) -%}
    {%- endfor -%}
    {%- set moments = row_counts.keys() | list -%}
    {%- do graph.nodes[model.unique_id].update({'scd2_load': dict(
        summary,
        plan=plan,
        first_effective_at=moments | min if moments else none,
        last_effective_at=moments | max if moments else none,
        source_version=recorded.get('scd2.consumed_version'),
        rows_read=row_counts.values() | sum,
        skipped=skipped | sum,
    )}) -%}
{% endmacro %}
