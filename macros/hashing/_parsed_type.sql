{# The name of a type without its aliases, none where it is not understood, and the texts of its arguments. #}
{% macro _parsed_type(type) %}
    {%- set aliases = {
        'byte': 'tinyint', 'short': 'smallint', 'integer': 'int', 'long': 'bigint', 'real': 'float',
        'dec': 'decimal', 'numeric': 'decimal', 'timestamp_ltz': 'timestamp',
        'char': 'string', 'character': 'string', 'varchar': 'string',
    } -%}
    {%- set lengths = {
        'decimal': [0, 1, 2], 'dec': [0, 1, 2], 'numeric': [0, 1, 2], 'char': [1], 'character': [1], 'varchar': [1],
        'array': [1], 'map': [2],
    } -%}
    {%- set shape = modules.re.fullmatch(
        '(?is)\\s*(\\w+)\\s*(?:<(.*)>|[(](.*)[)])?(?:\\s+collate\\s+\\w+)?\\s*', type
    ) -%}
    {%- set name = shape.group(1) | lower if shape else none -%}
    {%- set arguments = _split_at_commas(shape.group(2) or shape.group(3) or '') if shape else [] -%}
    {%- if name != 'struct' and arguments | length not in lengths.get(name, [0]) -%}
        {%- set name = none -%}
    {%- endif -%}
    {{- return({'name': aliases.get(name, name), 'arguments': arguments}) -}}
{% endmacro %}


{# A field of a struct, as `a:int` or as DDL: `a b`: int not null comment '…'. #}
{% macro _parsed_field(field) %}
    {%- set shape = modules.re.fullmatch(
        "(?is)\\s*(?:`((?:``|[^`])*)`\\s*:?|([^:<'\"]+):|(\\w+)\\s)\\s*(.+?)"
        ~ "(?:\\s+not\\s+null)?(?:\\s+comment\\s+(?:'.*'|\".*\"))?\\s*",
        field,
    ) -%}
    {%- if not shape -%}
        {{- return({'name': field, 'type': field}) -}}
    {%- endif -%}
    {%- set quoted = shape.group(1) -%}
    {{- return({
        'name': quoted | replace('``', '`') if quoted is not none else (shape.group(2) or shape.group(3)) | trim,
        'type': shape.group(4),
    }) -}}
{% endmacro %}


{# Commas inside brackets, quoted names and comments do not count. #}
{% macro _split_at_commas(text) %}
    {%- set parts = [] -%}
    {%- set now = namespace(part='', depth=0) -%}
    {%- for token in modules.re.findall("(?s)`(?:``|[^`])*`|'(?:\\\\.|[^'])*'|\"(?:\\\\.|[^\"])*\"|.", text) -%}
        {%- if token == ',' and now.depth == 0 -%}
            {%- do parts.append(now.part) -%}
            {%- set now.part = '' -%}
        {%- else -%}
            {%- set now.part = now.part ~ token -%}
            {%- set now.depth = now.depth + (1 if token in '<(' else -1 if token in '>)' else 0) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(parts + [now.part] if text else []) -}}
{% endmacro %}
