{# Spark cannot create a view of a query with two columns of one name, and its error does not name
   them. #}
{% macro check_repeated_columns(query) %}
    {%- set described = run_query('describe query ' ~ query | trim) -%}
    {%- set names = described.columns['col_name'].values() | map('lower') | list -%}
    {%- set repeated = [] -%}
    {%- for name in names | unique if names.count(name) > 1 -%}
        {%- do repeated.append(name) -%}
    {%- endfor -%}
    {%- if repeated -%}
        {%- do delta_scd2.raise_refusal(
            'the model returns more than one column named `'
                ~ delta_scd2.listed(repeated, separator='`, `') ~ '`',
            'name its columns and leave one of them out, or give it another name; `join … using '
                ~ '(id)` returns the key once'
        ) -%}
    {%- endif -%}
{% endmacro %}
