{# The state of a dimension is stored in its table properties, because an extract without changes
   leaves no trace in the rows, and because some options must not change once there is history. #}

{# JSON in which Spark finds no word such as `url` or `token` in any case, even inside `hourly`: it
   redacts properties that match. Their first letter is escaped. #}
{% macro redaction_safe_json(value) %}
    {%- set text = namespace(json=tojson(value)) -%}
    {%- for word in ['url', 'secret', 'password', 'token', 'access[.]?key'] -%}
        {%- for letter in [word[0], word[0] | upper] -%}
            {%- set escaped = '\\\\u%04x' | format(letter.encode()[0]) -%}
            {%- set text.json = modules.re.sub(letter ~ '(?=(?i:' ~ word[1:] ~ '))', escaped, text.json) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(text.json) -}}
{% endmacro %}


{% macro applied_extracts(recorded) %}
    {%- set extract_times = [] -%}
    {%- for text in recorded.get('scd2.extracts', '').split(',') if text -%}
        {%- do extract_times.append(delta_scd2.ts_micros(text)) -%}
    {%- endfor -%}
    {{- return(extract_times) -}}
{% endmacro %}


{% macro set_properties_sql(table, properties) %}
alter table {{ table }} set {{ delta_scd2.properties_clause(properties) }}
{% endmacro %}


{% macro read_properties(relation) %}
    {%- set properties = {} -%}
    {%- for row in run_query('show tblproperties ' ~ relation) if row['key'].startswith('scd2.') -%}
        {%- if row['value'].endswith('(redacted)') -%}
            {%- do delta_scd2.raise_refusal(
                'Spark hides the property `' ~ row['key'] ~ '` of ' ~ relation
                    ~ ', which says what the last run left',
                'change `spark.sql.redaction.options.regex` and `spark.redaction.regex` so that '
                    ~ 'they match no word of it'
            ) -%}
        {%- endif -%}
        {%- do properties.update({row['key']: row['value']}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{% endmacro %}
