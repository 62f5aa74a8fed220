{% macro strict_cast(expression, data_type, name=none, rounds=false) -%}
    {%- set cast_value = 'try_cast(' ~ expression ~ ' as ' ~ data_type ~ ')' -%}
    {%- set is_exact = not rounds and delta_scd2.parsed_type(data_type).name == 'decimal' -%}
    {%- set error = delta_scd2._cast_error_sql(expression, data_type, name, is_exact) -%}
    coalesce(
        {%- if is_exact %}
        if({{ delta_scd2._loses_decimals_sql(expression, data_type) }}, null, {{ cast_value }}),
        {%- else %}
        {{ cast_value }},
        {%- endif %}
        if(isnull({{ expression }}), null, raise_error({{ error }}))
    )
{%- endmacro %}


{# Whether a text has decimals that the type would round away. The comparison as doubles is for texts
   with an exponent; it is exact for up to 15 digits. `typeof` is a constant, so that a number costs
   nothing. #}
{% macro _loses_decimals_sql(expression, data_type) -%}
    {%- set scale = (delta_scd2.parsed_type(data_type).arguments + [0, 0])[1] | int -%}
    {%- set text = 'cast(' ~ expression ~ ' as string)' -%}
    startswith(typeof({{ expression }}), 'string') and (
            {{ text }} rlike '[.][0-9]{{ '{' ~ scale ~ '}' }}[0-9]*[1-9][^eE]*$'
            or double(try_cast({{ text }} as {{ data_type }})) <> try_cast({{ text }} as double)
        )
{%- endmacro %}


{# The message, with the remedy, as an expression. #}
{% macro _cast_error_sql(expression, data_type, name, is_exact) -%}
    {%- set text = 'cast(' ~ expression ~ ' as string)' -%}
    {%- set problem = (model.name ~ ': ' if model is defined and not name else '')
        ~ 'cannot cast ' ~ (name or expression) ~ ' to ' ~ data_type ~ ': ' -%}
    {%- set remedy = '. Remedy: fix the value at the source, or choose a type that can hold it'
        ~ (', or round it with `rounds=true`' if is_exact and not name else '') -%}
    {%- set is_column = modules.re.fullmatch('`[^`]+`|[A-Za-z_][\\w.]*', expression) and not name -%}
    concat(
            {{ delta_scd2.sql_string(problem) }},
            {{ text }},
            {{ delta_scd2.sql_string(remedy ~ ('; `where ' ~ expression ~ " = '" if is_column else '.')) }}
            {%- if is_column %},
            replace({{ text }}, '\'', '\\\''),
            '\'` finds its rows.'
            {%- endif %}
        )
{%- endmacro %}
