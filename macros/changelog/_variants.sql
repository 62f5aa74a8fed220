{# The columns that hold values that Spark does not compare in any form. #}
{% macro _variants(columns) %}
    {%- set variants = [] -%}
    {%- for column in columns if modules.re.search('(^|[<:,])variant($|[>,])', column.data_type) -%}
        {%- do variants.append(column) -%}
    {%- endfor -%}
    {{- return(variants) -}}
{% endmacro %}


{% macro _incomparable(column) %}
    {{- return('`' ~ column.name ~ '` of type ' ~ _shown_type(column.data_type) ~ ', of which Spark does not tell two values apart') -}}
{% endmacro %}
