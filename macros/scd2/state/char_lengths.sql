{# Spark fills a text of a `char(n)` column up to its length with spaces, and the table keeps them.
   When that length changes, each value would count as changed, and each key as another one. #}

{# The lengths of the `char` texts in each column, by its lower-case name. #}
{% macro _char_lengths(bound) %}
    {%- set lengths = {} -%}
    {%- for name, type in bound.items() -%}
        {%- set found = modules.re.findall('(?<![^<:,])char\\((\\d+)\\)(?=[>, ]|$)', type) -%}
        {%- do lengths.update({name: found | map('int') | list}) if found -%}
    {%- endfor -%}
    {{- return(lengths) -}}
{% endmacro %}


{# The property that says what texts were first filled up to; none without such a column. #}
{% macro char_lengths_property(bound, recorded) %}
    {%- set before = fromjson(recorded.get('scd2.char_lengths', '{}')) -%}
    {%- set lengths = dict(delta_scd2._char_lengths(bound), **before) -%}
    {{- return({'scd2.char_lengths': delta_scd2.redaction_safe_json(lengths)} if lengths else {}) -}}
{% endmacro %}


{# Reports columns whose texts are filled up to another length than those that are stored. #}
{% macro changed_char_lengths(columns, bound, recorded, target) %}
    {%- set mistakes = [] -%}
    {%- set before = fromjson(recorded.get('scd2.char_lengths', '{}')) -%}
    {%- set now = delta_scd2._char_lengths(bound) -%}
    {%- for column in columns -%}
        {%- set name = column.name | lower -%}
        {%- if name in before and name in now and before[name] != now[name] -%}
            {%- set stored = before[name] | join(', ') -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is filled up to '
                ~ now[name] | join(', ') ~ ' characters and was filled up to ' ~ stored ~ ' when '
                ~ target ~ ' was loaded, so that each value would count as changed: return '
                ~ (delta_scd2._refilled_sql(column.name, stored) if column.data_type == 'string'
                    else 'its texts with the spaces that they had')
                ~ ' in the model, which leaves the stored values as they are') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# A longer text stays whole. #}
{% macro _refilled_sql(name, length) %}
    {%- set quoted = delta_scd2.backticked(name) -%}
    {%- set text = 'rtrim(' ~ quoted ~ ')' -%}
    {{- return('`rpad(' ~ text ~ ', greatest(' ~ length ~ ', length(' ~ text ~ ")), ' ') as " ~ quoted ~ '`') -}}
{% endmacro %}
