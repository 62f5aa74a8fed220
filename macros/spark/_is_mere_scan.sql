{# Whether Spark reads a relation by scanning Parquet files, and computes no more than row by row. #}
{% macro _is_mere_scan(relation) %}
    {%- set plan = run_query('explain select * from ' ~ relation).columns[0].values() | first -%}
    {%- for line in plan.splitlines()[1:] if line | trim -%}
        {%- if not modules.re.match('[ :+-]*([*]\\([0-9]+\\) )?(Project|Filter|ColumnarToRow|Union|FileScan parquet)\\b', line) -%}
            {{- return(false) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(true) -}}
{% endmacro %}
