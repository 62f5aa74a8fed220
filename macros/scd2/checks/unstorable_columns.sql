{# Characters in column names that Delta stores only with column mapping. #}
{% macro unstorable_characters() %}
    {{- return('[ ,;{}()\\n\\t=]') -}}
{% endmacro %}


{# Whether a column has such a character in its name, or in that of a field in its type. #}
{% macro has_unstorable_name(column) %}
    {%- set names = [column.name] + modules.re.findall('`((?:``|[^`])*)`', column.data_type or '') -%}
    {{- return(modules.re.search(delta_scd2.unstorable_characters(), names | join('')) is not none) -}}
{% endmacro %}


{# The mistakes in the names of the columns that are new to a table. #}
{% macro unstorable_columns(columns, existing=none) %}
    {%- set remedy = 'configure `tblproperties: {delta.columnMapping.mode: name}`' -%}
    {%- if existing is not none -%}
        {%- set remedy = '`alter table ' ~ existing
            ~ " set tblproperties ('delta.columnMapping.mode' = 'name')`" -%}
    {%- endif -%}
    {%- set mistakes = [] -%}
    {%- for column in columns if delta_scd2.has_unstorable_name(column)
        and not delta_scd2._query_maps_columns(existing) -%}
        {%- set is_field = not modules.re.search(delta_scd2.unstorable_characters(), column.name) -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` has a '
            ~ ('field with a ' if is_field else '') ~ 'character that Delta stores only with column '
            ~ 'mapping: rename it in the model, or ' ~ remedy) -%}
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
