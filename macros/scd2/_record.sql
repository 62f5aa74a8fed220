{# What the table remembers of its loads, in its properties. Extracts leave no trace in the rows when nothing changed; and
   options that decide what is stored must not change under a dimension that holds history. #}

{% macro _recorded(relation) %}
    {%- set properties = {} -%}
    {%- for row in run_query('show tblproperties ' ~ relation) if row['key'].startswith('scd2.') -%}
        {%- do properties.update({row['key']: row['value']}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{% endmacro %}


{% macro _applied_extracts(recorded) %}
    {%- set moments = [] -%}
    {%- for text in recorded.get('scd2.extracts', '').split(',') if text -%}
        {%- do moments.append(_micros(text)) -%}
    {%- endfor -%}
    {{- return(moments) -}}
{% endmacro %}


{% macro _lasting_options(dimension) %}
    {%- set settings = dimension.settings -%}
    {{- return({
        'scd2.unique_key': settings.unique_key | map('lower') | join(','),
        'scd2.track_columns': dimension.tracked_columns | map(attribute='name') | map('lower') | sort | join(','),
        'scd2.surrogate_key': settings.surrogate_key,
        'scd2.flag_values': tojson(settings.flag_values),
        'scd2.open_end': settings.open_end | string,
    }) -}}
{% endmacro %}


{% macro _changed_options(dimension, recorded) %}
    {%- set mistakes = [] -%}
    {%- for name, value in _lasting_options(dimension).items() if recorded.get(name, value) != value -%}
        {%- do mistakes.append('`' ~ name.split('.')[1] ~ '` was `' ~ recorded[name] ~ '` when ' ~ dimension.target
            ~ ' was built and is `' ~ value ~ '` now, which its history cannot follow: go back, or rebuild it') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _record_sql(dimension, moments) %}
    {%- set properties = _lasting_options(dimension) -%}
    {%- if moments -%}
        {%- set texts = [] -%}
        {%- for moment in moments -%}
            {%- do texts.append(_utc_text(moment)) -%}
        {%- endfor -%}
        {%- do properties.update({'scd2.extracts': texts | join(',')}) -%}
    {%- endif -%}
alter table {{ dimension.target }} set tblproperties (
    {%- for name, value in properties.items() %}
    {{ _sql_string(name) }} = {{ _sql_string(value) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{% endmacro %}
