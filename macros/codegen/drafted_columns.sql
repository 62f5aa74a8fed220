{# Whether values of a type can be hashed and compared. #}
{% macro _is_comparable(type) %}
    {%- set parsed = delta_scd2.parsed_type(type) -%}
    {%- if parsed.name == 'array' -%}
        {{- return(delta_scd2._is_comparable(parsed.arguments[0])) -}}
    {%- elif parsed.name == 'struct' -%}
        {%- for field in parsed.arguments
            if not delta_scd2._is_comparable(delta_scd2.parsed_field(field).type) -%}
            {{- return(false) -}}
        {%- endfor -%}
        {{- return(true) -}}
    {%- endif -%}
    {{- return(parsed.name in [
        'string', 'boolean', 'tinyint', 'smallint', 'int', 'bigint', 'decimal', 'float', 'double',
        'date', 'timestamp', 'timestamp_ntz', 'binary',
    ]) -}}
{% endmacro %}


{# The select expression of a column, or none if the column must be left out. #}
{% macro _drafted_column(column, new_name) %}
    {%- set name = delta_scd2._quoted_where_needed(column.name) -%}
    {%- set as_name = ' as ' ~ delta_scd2._quoted_where_needed(new_name) -%}
    {%- set parsed = delta_scd2.parsed_type(column.data_type) -%}
    {%- if parsed.name == 'map'
        and delta_scd2._is_comparable('struct<k:' ~ parsed.arguments | join(',v:') ~ '>') -%}
        {{- return({
            'name': new_name,
            'expression': 'array_sort(map_entries(' ~ name ~ '))' ~ as_name,
            'data_type': 'array<struct<key:' ~ parsed.arguments | join(',value:') ~ '>>',
        }) -}}
    {%- elif delta_scd2._is_comparable(column.data_type) -%}
        {{- return({
            'name': new_name,
            'expression': name ~ (as_name if new_name != column.name else ''),
            'data_type': column.data_type,
        }) -}}
    {%- endif -%}
    {{- return(none) -}}
{% endmacro %}


{% macro _quoted_where_needed(name) %}
    {%- set words = [
        'and', 'case', 'cross', 'else', 'end', 'except', 'false', 'for', 'from', 'full', 'group',
        'having', 'in', 'inner', 'intersect', 'interval', 'is', 'join', 'left', 'natural', 'not',
        'null', 'on', 'or', 'order', 'right', 'select', 'then', 'to', 'true', 'union', 'using',
        'when', 'where', 'with',
    ] -%}
    {%- set is_plain = modules.re.fullmatch('[a-z_][a-z0-9_]*', name) and name not in words -%}
    {{- return(name if is_plain else delta_scd2.backticked(name)) -}}
{% endmacro %}
