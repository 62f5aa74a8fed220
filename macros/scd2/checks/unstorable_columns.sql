{# Characters in column names that Delta stores only with column mapping. #}
{% macro unstorable_characters() %}
    {{- return('[ ,;{}()\\n\\t=]') -}}
{% endmacro %}


{# The mistakes in the names of the columns that are new to a table. #}
{% macro unstorable_columns(columns, existing=none) %}
    {%- set remedy = 'configure `tblproperties: {delta.columnMapping.mode: name}`' -%}
    {%- if existing is not none -%}
        {%- set remedy = '`alter table ' ~ existing
            ~ " set tblproperties ('delta.columnMapping.mode' = 'name')`" -%}
    {%- endif -%}
    {%- set mistakes = [] -%}
    {%- for column in columns if modules.re.search(delta_scd2.unstorable_characters(), column.name)
        and not delta_scd2._query_maps_columns(existing) -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` has a character that Delta stores '
            ~ 'only with column mapping: rename it in the model, or ' ~ remedy) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _query_maps_columns(existing) %}
    {%- set properties = dict(config.get('tblproperties') or {}) -%}
    {%- if existing is not none -%}
        {%- for row in run_query('show tblproperties ' ~ existing) -%}
            {%- do properties.update({row['key']: row['value']}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(properties.get('delta.columnMapping.mode', 'none') != 'none') -}}
{% endmacro %}
