{# The state of a dimension is stored in its table properties, because an extract without changes
   leaves no trace in the rows, and because some options must not change once there is history. #}

{# JSON in which Spark finds no word such as `url` or `token`, even inside `hourly`: it redacts
   properties that match. #}
{% macro redaction_safe_json(names) %}
    {%- set text = namespace(json=tojson(names)) -%}
    {%- for word, escaped in {
        'url': '\\u0075rl', 'secret': '\\u0073ecret', 'password': '\\u0070assword', 'token': '\\u0074oken',
        'accesskey': '\\u0061ccesskey', 'access.key': '\\u0061ccess.key',
    }.items() -%}
        {%- set text.json = text.json | replace(word, escaped) -%}
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


{% macro set_properties_sql(load, properties) %}
alter table {{ load.target }} set tblproperties (
    {%- for name, value in properties.items() %}
    {{ delta_scd2.sql_string(name) }} = {{ delta_scd2.sql_string(value) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
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
