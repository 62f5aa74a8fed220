{% macro print_history(dimensions=none) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set nodes = [] -%}
    {%- for name in delta_scd2.as_list(dimensions) -%}
        {%- do nodes.append(delta_scd2.built_dimension_node(name)) -%}
    {%- endfor -%}
    {%- for node in delta_scd2.dimension_nodes()
        if dimensions is none and load_relation(delta_scd2.table_of(node)) -%}
        {%- set recorded = delta_scd2.read_properties(delta_scd2.table_of(node)) -%}
        {%- if 'scd2.unique_key' in recorded or 'scd2.sample' in recorded -%}
            {%- do nodes.append(node) -%}
        {%- else -%}
            {%- do exceptions.warn(node.name ~ ' is not shown: ' ~ node.relation_name ~ ' was not made by it') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do delta_scd2._print_histories(nodes) -%}
{% endmacro %}


{# At the end of a build; with `--no-print`, nobody would see what this reads. The graph has nodes as
   other macros expect them, results do not. #}
{% macro print_history_of_run(results) %}
    {%- if not execute or flags.WHICH != 'build' or flags.EMPTY or not invocation_args_dict.get('print', true)
        or not var('scd2_print_history', true) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set nodes = [] -%}
    {%- for result in results
        if result.node.config.materialized == 'scd2' and result.status == 'success' -%}
        {%- do nodes.append(graph.nodes[result.node.unique_id]) -%}
    {%- endfor -%}
    {%- do delta_scd2._print_histories(nodes) -%}
{% endmacro %}


{% macro _print_histories(nodes) %}
    {%- if nodes -%}
        {%- set rows = run_query(delta_scd2.history_sql(nodes)) -%}
        {%- set has_colors = flags.USE_COLORS and not env_var('NO_COLOR', '') -%}
        {%- do print('\n' ~ delta_scd2.history_table(rows, has_colors) ~ '\n') if rows | length -%}
    {%- endif -%}
{% endmacro %}
