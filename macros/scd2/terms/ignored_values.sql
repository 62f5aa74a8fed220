{# The columns that are not compared with other versions: those that have a hash, and variants. #}
{% macro ignored_columns(load) %}
    {%- set hashed = delta_scd2.comparable_columns_but(
        load, load.tracked_columns + load.overwrite_columns + load.sequence_columns
    ) -%}
    {{- return({'hashed': hashed, 'variants': delta_scd2.variant_columns(load.kept_columns)}) -}}
{% endmacro %}


{% macro has_ignored_columns(load) %}
    {%- set columns = delta_scd2.ignored_columns(load) -%}
    {{- return(columns.hashed + columns.variants != []) -}}
{% endmacro %}


{# The values of these columns, as one value to compare. #}
{% macro ignored_values_sql(load) %}
    {%- set columns = delta_scd2.ignored_columns(load) -%}
    {%- set values = [delta_scd2.hash_of(columns.hashed)] if columns.hashed else [] -%}
    {%- for column in columns.variants -%}
        {%- do values.append('to_json(struct(' ~ delta_scd2.backticked(column.name) ~ '))') -%}
    {%- endfor -%}
    {{- return('struct(' ~ values | join(', ') ~ ')' if values | length > 1 else values | first) -}}
{% endmacro %}
