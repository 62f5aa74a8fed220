{# Escapes separators in the texts that can hold them; no value has the same text as null. #}
{% macro _hash_field(type, value, column) -%}
    {%- set text = delta_scd2.hash_text(type, value, column) -%}
    {%- if delta_scd2.parsed_type(type).name in ['string', 'array', 'map', 'struct'] -%}
        coalesce(replace(replace({{ text }}, '\\', '\\\\'), '|', '\\|'), '\\N')
    {%- else -%}
        coalesce({{ text }}, '\\N')
    {%- endif -%}
{%- endmacro %}


{# The canonical text of a value of a Spark type, null for null; docs/decisions/0002-hash-format.md
   defines it. The type `hash` stands for texts that are hashes of this format themselves. #}
{% macro hash_text(type, value, column) -%}
    {%- set parsed = delta_scd2.parsed_type(type) -%}
    {%- if parsed.name == 'hash' -%}
        {{ value }}
    {%- elif parsed.name in [
        'string', 'boolean', 'tinyint', 'smallint', 'int', 'bigint', 'timestamp_ntz'
    ] -%}
        cast({{ value }} as string)
    {%- elif parsed.name == 'decimal' -%}
        {#- Not a cast, which returns 1E-7 without ANSI mode. -#}
        {%- set scale = parsed.arguments[1] | default(0) | int -%}
        format_number({{ value }}, '0.{{ '#' * ([scale, 1] | max) }}')
    {%- elif parsed.name == 'float' -%}
        {{ delta_scd2.hash_text('double', 'cast(' ~ value ~ ' as double)', column) }}
    {%- elif parsed.name == 'double' -%}
        {#- The printed digits of a fraction depend on the Java version; xxhash64 maps eight bytes
            one-to-one and is fast. -#}
        case
        when {{ value }} % 1 = 0 and abs({{ value }}) < 9007199254740992
        then cast(cast({{ value }} as bigint) as string)
        when {{ value }} is not null then concat('x', cast(xxhash64({{ value }}) as string)) end
    {%- elif parsed.name == 'date' -%}
        {#- Not a cast, whose text differs under the legacy time parser policy. -#}
        cast(unix_date({{ value }}) as string)
    {%- elif parsed.name == 'timestamp' -%}
        cast(unix_micros({{ value }}) as string)
    {%- elif parsed.name == 'binary' -%}
        hex({{ value }})
    {%- elif parsed.name == 'array' -%}
        {%- set element = delta_scd2._hash_field(parsed.arguments[0], 'e', column) -%}
        concat(cast(size({{ value }}) as string), ':', array_join(transform({{ value }}, e -> {{ element }}), '|'))
    {%- elif parsed.name == 'map' -%}
        {#- Arrays of two texts are sorted by the text of the key. -#}
        {%- set key = delta_scd2._hash_field(parsed.arguments[0], 'e.key', column) -%}
        {%- set item = delta_scd2._hash_field(parsed.arguments[1], 'e.value', column) -%}
        concat(cast(size({{ value }}) as string), ':', array_join(flatten(array_sort(transform(
            map_entries({{ value }}), e -> array({{ key }}, {{ item }})))), '|'))
    {%- elif parsed.name == 'struct' -%}
        case when {{ value }} is not null then concat_ws('|'
        {%- for field in parsed.arguments -%}
            {%- set field = delta_scd2.parsed_field(field) -%}
            {#- Not a dot: Spark would read the part before it as the name of a relation. -#}
            , {{ delta_scd2._hash_field(field.type, value ~ '[' ~ delta_scd2.sql_string(field.name) ~ ']', column) }}
        {%- endfor -%}
        ) end
    {%- else -%}
        {%- do exceptions.raise_compiler_error('Column ' ~ column.name ~ ' of type '
            ~ delta_scd2.shown_text(column.data_type) ~ ' cannot be hashed: '
            ~ delta_scd2.shown_text(type)
            ~ ' has no text in the hash format. Cast it in staging, for example to string.') -%}
    {%- endif -%}
{%- endmacro %}
