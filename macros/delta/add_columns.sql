{% macro add_columns_statements(table, columns) %}
    {%- set statements = [] -%}
    {%- for column in columns -%}
        {%- for name, value in feature_properties([column]).items() -%}
            {%- set property = sql_string(name) ~ ' = ' ~ sql_string(value) -%}
            {%- do statements.append('alter table ' ~ table ~ ' set tblproperties (' ~ property ~ ')') -%}
        {%- endfor -%}
        {%- do statements.append('alter table ' ~ table ~ ' add columns (' ~ backticked(column.name) ~ ' ' ~ column.data_type ~ ')') -%}
    {%- endfor -%}
    {{- return(statements | unique | list) -}}
{% endmacro %}
