{% macro print_build() %}
    {%- if execute -%}
        {%- do delta_scd2.print_history() -%}
        {%- for schema in delta_scd2.dimension_nodes() | map(attribute='schema') | unique -%}
            {%- set directory = modules.re.sub('^file:/+', '/', delta_scd2.schema_location(schema)) -%}
            {%- do print('tables: ' ~ schema ~ ', in ' ~ directory) -%}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}
