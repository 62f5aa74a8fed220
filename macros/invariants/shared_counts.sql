{# How many rows fail the test that is running, if they were counted with those of the other tests
   of its dimension. None if the test has to ask for itself. Tests of one dimension that run at the
   same time do not wait for each other: the first asks for all, and the others ask for themselves
   until its counts are there. #}
{% macro shared_count(relation) %}
    {%- if not execute or flags.WHICH not in ['test', 'build'] or flags.EMPTY
        or not delta_scd2._is_counted_with_others(model) -%}
        {{- return(none) -}}
    {%- endif -%}
    {#- Not in a node, because dbt-core 1.12 recreates nodes on every access; and by invocation,
        because a program may run dbt several times with one manifest. -#}
    {%- set counts = graph.setdefault('scd2_test_counts', {}).setdefault(
        invocation_id ~ ' ' ~ relation, {'asked_by': model.unique_id}
    ) -%}
    {%- if counts.asked_by == model.unique_id -%}
        {%- do counts.update(delta_scd2._counts(relation, delta_scd2._tests_counted_together(model))) -%}
    {%- endif -%}
    {{- return(counts.get(model.test_metadata.name)) -}}
{% endmacro %}


{# Whether a test is one of this run whose rows can be counted by the configuration of its dimension
   alone, and count as dbt counts them by default. #}
{% macro _is_counted_with_others(node) %}
    {%- set test = node.test_metadata or {} -%}
    {%- set own = node.config.store_failures -%}
    {%- set stores_failures = flags.STORE_FAILURES if own is none else own -%}
    {%- if test.namespace != 'delta_scd2' or test.name not in delta_scd2._counted_tests()
        or test.kwargs.keys() | list != ['model'] or not node.attached_node
        or node.unique_id not in selected_resources or stores_failures -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set defaults = {
        'where': none, 'limit': none, 'fail_calc': 'count(*)', 'warn_if': '!= 0',
        'error_if': '!= 0', 'sql_header': none, 'materialized': 'test',
    } -%}
    {%- for option, default in defaults.items() if node.config.get(option) != default -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(true) -}}
{% endmacro %}


{# The names of this test and of the other tests of its dimension; none if it is the only one. #}
{% macro _tests_counted_together(node) %}
    {%- set names = [] -%}
    {%- for unique_id in selected_resources
        if unique_id in graph.nodes and unique_id.startswith('test.') -%}
        {%- set other = graph.nodes[unique_id] -%}
        {%- if other.attached_node == node.attached_node
            and delta_scd2._is_counted_with_others(other) -%}
            {%- do names.append(other.test_metadata.name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(names | unique | sort if names | length > 1 else []) -}}
{% endmacro %}


{# Failing rows by test. Nothing if the table lacks a column: not every test needs it, and those
   that do not need not fail. #}
{% macro _counts(relation, tests) %}
    {%- if not tests -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set columns = delta_scd2.columns_of(relation) -%}
    {%- set dimension = delta_scd2.tested_dimension(relation, {'track_columns': none}, columns) -%}
    {%- set stored = delta_scd2.lower_names(columns) -%}
    {%- for name in dimension.column_names if name | string | lower not in stored -%}
        {{- return({}) -}}
    {%- endfor -%}
    {%- set row = run_query(delta_scd2._counts_sql(dimension, relation, tests)).rows[0] -%}
    {%- set counts = {} -%}
    {%- for test in tests -%}
        {%- do counts.update({test: row[test] | int}) -%}
    {%- endfor -%}
    {{- return(counts) -}}
{% endmacro %}


{# What a test compiles to whose failing rows are known to be none. #}
{% macro no_failing_rows_sql() -%}
-- 0 failing rows, counted with the other tests of {{ delta_scd2.node_address(graph.nodes[model.attached_node]) }}
select 1 as failing_row
where false
{%- endmacro %}
