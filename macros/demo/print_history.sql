{% macro print_history(results) %}
    {%- if not execute or flags.WHICH != 'build' or flags.EMPTY -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set line = '{:<18} {:<18} {:>9} {:>9} {:>9}' -%}
    {%- set dimensions = [] -%}
    {%- for result in results
        if result.node.config.materialized == 'scd2' and result.status == 'success' -%}
        {%- do dimensions.append(result.node) -%}
    {%- endfor -%}
    {%- if dimensions -%}
        {%- do print('\n'
            ~ line.format('dimension', 'extract (UTC)', 'versions', 'live', 'deleted')) -%}
        {%- for row in run_query(delta_scd2.history_sql(dimensions)) -%}
            {%- do print(line.format(
                row['dimension'],
                row['extract'],
                row['versions'] | int,
                row['live'] | int,
                row['deleted'] | int
            )) -%}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}
