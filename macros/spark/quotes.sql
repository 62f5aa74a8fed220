{# The mistakes of a session that reads quoted texts or names in another way. #}
{% macro _misread_quotes(settings) %}
    {%- set mistakes = [] -%}
    {%- for name, what in {
        'spark.sql.parser.escapedStringLiterals': 'treats a backslash in a text as an ordinary character, '
            ~ 'and this package writes it as an escape',
        'spark.sql.parser.quotedRegexColumnNames': 'takes a quoted name for a regular expression, and '
            ~ 'the names of columns are quoted',
    }.items() if settings.get(name, 'false') | lower == 'true' -%}
        {%- do mistakes.append('the session ' ~ what ~ ': set `' ~ name
            ~ '` to `false` in the profile or the cluster') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
