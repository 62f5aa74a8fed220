{# Parses a field of a struct that a person wrote, either `a:int` or DDL such as: `a b`: int not null
   comment '…'. A name with a colon, such as that of an XML attribute, may have no quotes. #}
{% macro parsed_field(field) %}
    {%- set shape = modules.re.fullmatch(
        "(?is)\\s*(?:`((?:``|[^`])*)`\\s*:?|([^<'\"]+):|(\\w+)\\s)\\s*([^:<]+?(?:<.*>)?)"
        ~ "(?:\\s+not\\s+null)?(?:\\s+comment\\s+(?:'.*'|\".*\"))?\\s*",
        field,
    ) -%}
    {%- if not shape -%}
        {{- return({'name': field, 'type': field}) -}}
    {%- endif -%}
    {%- set quoted = shape.group(1) -%}
    {{- return({
        'name': quoted | replace('``', '`') if quoted is not none
            else (shape.group(2) or shape.group(3)) | trim,
        'type': shape.group(4),
    }) -}}
{% endmacro %}


{# Ignores commas inside brackets, quoted names and comments. #}
{% macro _split_at_commas(text) %}
    {%- set parts = [] -%}
    {%- set now = namespace(part='', depth=0) -%}
    {%- for token in modules.re.findall(
        "(?s)`(?:``|[^`])*`|'(?:\\\\.|[^'])*'|\"(?:\\\\.|[^\"])*\"|.", text
    ) -%}
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


{# A type as SQL, from what `describe … as json` says of it. #}
{% macro described_type(type) %}
    {%- if type.name == 'struct' -%}
        {%- set fields = [] -%}
        {%- for field in type.fields -%}
            {%- set is_plain = modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', field.name) -%}
            {%- do fields.append((field.name if is_plain else delta_scd2.backticked(field.name))
                ~ ':' ~ delta_scd2.described_type(field.type)) -%}
        {%- endfor -%}
        {{- return('struct<' ~ fields | join(',') ~ '>') -}}
    {%- elif type.name == 'array' -%}
        {{- return('array<' ~ delta_scd2.described_type(type.element_type) ~ '>') -}}
    {%- elif type.name == 'map' -%}
        {{- return('map<' ~ delta_scd2.described_type(type.key_type) ~ ','
            ~ delta_scd2.described_type(type.value_type) ~ '>') -}}
    {%- elif type.name == 'decimal' -%}
        {{- return('decimal(' ~ type.precision ~ ',' ~ type.scale ~ ')') -}}
    {%- elif type.name in ['char', 'varchar'] -%}
        {{- return('string') -}}
    {%- elif type.name == 'string' and (type.collation or 'UTF8_BINARY') != 'UTF8_BINARY' -%}
        {{- return('string collate ' ~ type.collation) -}}
    {%- elif type.name == 'interval' and type.start_unit -%}
        {{- return('interval ' ~ [type.start_unit, type.end_unit] | unique | join(' to ')) -}}
    {%- endif -%}
    {{- return('timestamp' if type.name == 'timestamp_ltz' else type.name) -}}
{% endmacro %}


{# The columns that contain a `variant`, which Spark cannot compare. #}
{% macro variant_columns(columns) %}
    {%- set variants = [] -%}
    {%- for column in columns if modules.re.search('(^|[<:,])variant($|[>,])', column.data_type) -%}
        {%- do variants.append(column) -%}
    {%- endfor -%}
    {{- return(variants) -}}
{% endmacro %}


{# The columns whose values have a hash. Earlier releases stored columns without a type, which hold
   nulls alone. #}
{% macro hashable_columns(columns) %}
    {{- return(columns | reject('in', delta_scd2.variant_columns(columns))
        | rejectattr('data_type', 'equalto', 'void') | list) -}}
{% endmacro %}


{% macro incomparable_column(column) %}
    {{- return('`' ~ column.name ~ '` of type ' ~ delta_scd2.shown_text(column.data_type)
        ~ ', of which Spark does not tell two values apart') -}}
{% endmacro %}


{# The canonical name of a type (none if the type is not recognized) and the texts of its
   arguments. #}
{% macro parsed_type(type) %}
    {%- set aliases = {
        'byte': 'tinyint', 'short': 'smallint', 'integer': 'int', 'long': 'bigint', 'real': 'float',
        'dec': 'decimal', 'numeric': 'decimal', 'timestamp_ltz': 'timestamp',
        'char': 'string', 'character': 'string', 'varchar': 'string',
    } -%}
    {%- set lengths = {
        'decimal': [0, 1, 2],
        'dec': [0, 1, 2],
        'numeric': [0, 1, 2],
        'char': [1],
        'character': [1],
        'varchar': [1],
        'array': [1],
        'map': [2],
    } -%}
    {%- set shape = modules.re.fullmatch(
        '(?is)\\s*(\\w+)\\s*(?:<(.*)>|[(](.*)[)])?(?:\\s+collate\\s+\\w+)?\\s*', type
    ) -%}
    {%- set name = shape.group(1) | lower if shape else none -%}
    {%- set arguments = delta_scd2._split_at_commas(shape.group(2) or shape.group(3) or '')
        if shape else [] -%}
    {%- if name != 'struct' and arguments | length not in lengths.get(name, [0]) -%}
        {%- set name = none -%}
    {%- endif -%}
    {{- return({'name': aliases.get(name, name), 'arguments': arguments}) -}}
{% endmacro %}


{# Delta supports more, such as int to double; these changes keep every value and its hash. #}
{% macro widens(from_type, to_type) %}
    {%- set whole = ['tinyint', 'smallint', 'int', 'bigint'] -%}
    {%- if from_type == to_type -%}
        {{- return(false) -}}
    {%- elif from_type == 'void' -%}
        {#- Earlier releases stored ignored and overwritten columns without a type; they contain
            only nulls. -#}
        {{- return(true) -}}
    {%- elif from_type in whole and to_type in whole -%}
        {{- return(whole.index(from_type) < whole.index(to_type)) -}}
    {%- elif [from_type, to_type] == ['float', 'double'] -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set before = modules.re.fullmatch('decimal\\((\\d+),(\\d+)\\)', from_type) -%}
    {%- set after = modules.re.fullmatch('decimal\\((\\d+),(\\d+)\\)', to_type) -%}
    {%- if not before or not after -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set more_scale = after.group(2) | int - before.group(2) | int -%}
    {%- set more_digits = after.group(1) | int - before.group(1) | int -%}
    {{- return(more_scale >= 0 and more_digits >= more_scale) -}}
{% endmacro %}


{# A type or other text, truncated for an error message. #}
{% macro shown_text(type, most=100) %}
    {{- return(type if type | length <= most else type[:most - 1] ~ '…') -}}
{% endmacro %}
