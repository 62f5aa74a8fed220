{% macro hash_of(columns, alias=none, declared=false) -%}
sha2(concat_ws(
    '|'
    {%- for column in columns -%}
        {%- set value = (delta_scd2.backticked(alias) ~ '.' if alias else '')
            ~ delta_scd2.backticked(column.name) -%}
        {%- set field = delta_scd2._hash_field(column.data_type, value, column) -%}
        ,
    {{ delta_scd2._if_type_is_right(column, value, field) if declared else field }}
    {%- endfor %}
), 256)
{%- endmacro %}


{% macro hash_of_nulls(columns) -%}
    sha2({{ delta_scd2.sql_string((['\\N'] * columns | length) | join('|')) }}, 256)
{%- endmacro %}


{# Spark's optimizer removes the comparison if the types match; a wrong declaration fails the query
   instead of changing the hash. #}
{% macro _if_type_is_right(column, value, field) -%}
    {%- set declared_type = 'typeof(cast(null as ' ~ column.data_type ~ '))' -%}
    {%- set complaint = delta_scd2.sql_string('column ' ~ column.name ~ ' is declared ') -%}
    if(typeof({{ value }}) = {{ declared_type }}, {{ field }}, raise_error(concat(
        {{ complaint }}, {{ declared_type }}, ' but is ', typeof({{ value }}),
        ': correct the data_type it is hashed by, or cast the column before it is hashed')))
{%- endmacro %}
