{# An error message for a column whose type differs from the table's; for structs it lists the
   differing fields. #}
{% macro differing_types(name, type, table_type, table, here='the model', remedy='cast it in the model') %}
    {%- set fields = delta_scd2._differing_fields(name, type, table_type) -%}
    {%- if 'struct<' in type and 'struct<' in table_type and fields -%}
        {{- return('the column `' ~ name ~ '` has other fields in ' ~ here ~ ' than in ' ~ table
            ~ ', ' ~ delta_scd2.listed(fields, 5, '; ') ~ ': ' ~ remedy) -}}
    {%- endif -%}
    {{- return('the column `' ~ name ~ '` is ' ~ delta_scd2.shown_text(type) ~ ' in ' ~ here ~ ' and '
        ~ delta_scd2.shown_text(table_type) ~ ' in ' ~ table
        ~ ': ' ~ remedy) -}}
{% endmacro %}


{% macro _differing_fields(path, type, table_type) %}
    {%- set ours, theirs = delta_scd2.parsed_type(type), delta_scd2.parsed_type(table_type) -%}
    {%- set differences = [] -%}
    {%- if type == table_type -%}
        {{- return([]) -}}
    {%- elif ours.name != theirs.name or ours.name not in ['struct', 'array', 'map'] -%}
        {{- return([
            '`' ~ path ~ '` is ' ~ delta_scd2.shown_text(type) ~ ' and '
                ~ delta_scd2.shown_text(table_type) ~ ' there'
        ]) -}}
    {%- elif ours.name == 'struct' -%}
        {%- set ours_by_name = delta_scd2._fields_by_name(ours) -%}
        {%- set theirs_by_name = delta_scd2._fields_by_name(theirs) -%}
        {%- for name, field_type in ours_by_name.items() -%}
            {%- if name in theirs_by_name -%}
                {%- do differences.extend(delta_scd2._differing_fields(
                    path ~ '.' ~ name, field_type, theirs_by_name[name]
                )) -%}
            {%- else -%}
                {%- do differences.append('`' ~ path ~ '.' ~ name ~ '` is new') -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for name in theirs_by_name if name not in ours_by_name -%}
            {%- do differences.append('`' ~ path ~ '.' ~ name ~ '` is missing') -%}
        {%- endfor -%}
        {{- return(differences or ['`' ~ path ~ '` has its fields in another order']) -}}
    {%- endif -%}
    {%- for part in (['.element'] if ours.name == 'array' else ['.key', '.value']) -%}
        {%- do differences.extend(delta_scd2._differing_fields(
            path ~ part, ours.arguments[loop.index0], theirs.arguments[loop.index0]
        )) -%}
    {%- endfor -%}
    {{- return(differences) -}}
{% endmacro %}


{% macro _fields_by_name(parsed) %}
    {%- set types = {} -%}
    {%- for argument in parsed.arguments -%}
        {%- set field = delta_scd2.parsed_field(argument) -%}
        {%- do types.update({field.name: field.type}) -%}
    {%- endfor -%}
    {{- return(types) -}}
{% endmacro %}
