{# Whether the plan only scans Delta tables and computes row by row. #}
{% macro query_is_plain_delta_scan(relation) %}
    {%- set plan = run_query('explain select * from ' ~ relation).columns[0].values() | join('\n') -%}
    {%- set tree = '[ :+-]*([*]\\([0-9]+\\) )?' -%}
    {%- for line in plan.splitlines()[1:] if line | trim -%}
        {%- set operator = '((Project|Filter|ColumnarToRow|Union)\\b'
            ~ '|FileScan parquet .*Location: PreparedDeltaFileIndex)' -%}
        {%- if not modules.re.match(tree ~ operator, line) -%}
            {{- return(false) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return('FileScan' in plan) -}}
{% endmacro %}
