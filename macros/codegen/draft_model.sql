{% macro _drafted_sql(draft) -%}
{%- for comment in draft.comments -%}
-- {{ comment | wordwrap(110, wrapstring='\n-- ') }}
{% endfor -%}
{{ '{{' }} config(
    materialized="scd2",
    {%- for option, value in draft.options.items() %}
    {{ option }}={{ delta_scd2._literal_of(value) }},
    {%- endfor %}
) {{ '}}' }}

select
    {%- for column in draft.columns %}
    {{ column.expression }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ '{{' }} {{ draft.reader.call }} {{ '}}' }}
{%- endmacro %}


{% macro _drafted_python(draft) -%}
{%- for comment in draft.comments -%}
# {{ comment | wordwrap(110, wrapstring='\n# ') }}
{% endfor -%}
def model(dbt, session):
    dbt.config(
        materialized="scd2",
        {%- for option, value in draft.options.items() %}
        {{ option }}={{ delta_scd2._literal_of(value) }},
        {%- endfor %}
    )
    rows = dbt.{{ draft.reader.call }}
    return rows.selectExpr(
        {%- for column in draft.columns %}
        {{ delta_scd2._in_double_quotes(column.expression) }},
        {%- endfor %}
    )
{%- endmacro %}


{# A name or a list of names; the syntax is valid in Jinja and Python. #}
{% macro _literal_of(value) %}
    {%- set texts = [] -%}
    {%- for name in delta_scd2.as_list(value) -%}
        {%- do texts.append(delta_scd2._in_double_quotes(name)) -%}
    {%- endfor -%}
    {{- return(texts[0] if texts | length == 1 else '[' ~ texts | join(', ') ~ ']') -}}
{% endmacro %}


{# A string literal that is valid in Python, Jinja and YAML. #}
{% macro _in_double_quotes(text) %}
    {{- return('"' ~ text | replace('\\', '\\\\') | replace('"', '\\"') ~ '"') -}}
{% endmacro %}
