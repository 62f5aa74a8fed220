{% macro add_columns_statements(table, columns) %}
    {%- set statements = [] -%}
    {%- for column in columns -%}
        {%- for name, value in delta_scd2.feature_properties([column]).items() -%}
            {%- set property = delta_scd2.sql_string(name) ~ ' = ' ~ delta_scd2.sql_string(value) -%}
            {%- do statements.append('alter table ' ~ table ~ ' set tblproperties ('
                ~ property ~ ')') -%}
        {%- endfor -%}
        {%- do statements.append('alter table ' ~ table ~ ' add columns ('
            ~ delta_scd2.backticked(column.name) ~ ' ' ~ column.data_type ~ ')') -%}
    {%- endfor -%}
    {{- return(statements | unique | list) -}}
{% endmacro %}
