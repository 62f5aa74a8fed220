{% macro backticked(name) -%}
    `{{ name | replace('`', '``') }}`
{%- endmacro %}


{% macro backticked_names(names) %}
    {%- set quoted = [] -%}
    {%- for name in names -%}
        {%- do quoted.append(delta_scd2.backticked(name)) -%}
    {%- endfor -%}
    {{- return(quoted) -}}
{% endmacro %}


{% macro column_list(columns, alias=none, indent=4) %}
    {{- return(delta_scd2.backticked_columns(columns, alias) | join(',\n' ~ ' ' * indent)) -}}
{% endmacro %}


{% macro columns_in_line(columns, alias=none) %}
    {{- return(delta_scd2.backticked_columns(columns, alias) | join(', ')) -}}
{% endmacro %}


{% macro backticked_columns(columns, alias=none) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append((alias ~ '.' if alias else '') ~ delta_scd2.backticked(column.name)) -%}
    {%- endfor -%}
    {{- return(quoted) -}}
{% endmacro %}


{% macro lower_names(columns) %}
    {{- return(columns | map(attribute='name') | map('lower') | sort | list) -}}
{% endmacro %}


{% macro columns_named(names) %}
    {%- set columns = [] -%}
    {%- for name in names -%}
        {%- do columns.append({'name': name}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{% macro columns_by_name(names, by_name) %}
    {%- set columns = [] -%}
    {%- for name in names -%}
        {%- do columns.append(by_name[name | lower]) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# Maps lower-case column names to the columns. #}
{% macro columns_by_lower_name(columns) %}
    {%- set by_name = {} -%}
    {%- for column in columns -%}
        {%- do by_name.update({column.name | lower: column}) -%}
    {%- endfor -%}
    {{- return(by_name) -}}
{% endmacro %}


{# Maps lower-case column names to their types. #}
{% macro types_by_name(columns) %}
    {%- set types = {} -%}
    {%- for column in columns -%}
        {%- do types.update({column.name | lower: column.data_type}) -%}
    {%- endfor -%}
    {{- return(types) -}}
{% endmacro %}
