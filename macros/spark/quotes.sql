{# The mistakes of a session that reads quoted texts or names in another way. #}
{% macro _misread_quotes(settings) %}
    {%- set mistakes = [] -%}
    {%- for name, what in {
        'spark.sql.parser.escapedStringLiterals': 'takes a backslash in a text for a character like '
            ~ 'others, and hashes and messages are written with it',
        'spark.sql.parser.quotedRegexColumnNames': 'takes a quoted name for a regular expression, and '
            ~ 'the names of columns are quoted',
    }.items() if settings.get(name, 'false') | lower == 'true' -%}
        {%- do mistakes.append('the session ' ~ what ~ ': set `' ~ name
            ~ '` to `false` in the profile or the cluster') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
