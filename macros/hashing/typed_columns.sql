{# The columns as a list of {name, data_type}, with types from the mapping or from this model's
   YAML. #}
{% macro _typed_columns(columns) %}
    {#- dbt parses the SQL before it reads the YAML. -#}
    {%- if not execute -%}
        {{- return([]) -}}
    {%- endif -%}
    {%- set node = model if model is defined else {'name': 'no model', 'columns': {}} -%}
    {%- if not columns -%}
        {%- do exceptions.raise_compiler_error('A hash in ' ~ node.name
            ~ ' has no columns: name at least one.') -%}
    {%- endif -%}

    {%- set types = {} -%}
    {%- for name, column in (node.columns or {}).items() -%}
        {%- do types.update({name | lower: column.data_type}) -%}
    {%- endfor -%}
    {%- set typed = [] -%}
    {%- set untyped = [] -%}
    {%- for name in ([columns] if columns is string else columns) -%}
        {%- set data_type = columns[name] if columns is mapping else types.get(name | lower) -%}
        {%- do typed.append({'name': name, 'data_type': data_type}) -%}
        {%- do untyped.append(name) if not data_type -%}
    {%- endfor -%}
    {%- if untyped -%}
        {%- do exceptions.raise_compiler_error(
            'A hash in ' ~ node.name ~ ' needs the type of: ' ~ untyped | join(', ')
            ~ '. Declare their data_type in the YAML of the model, or pass a mapping, as in '
            ~ "hash_key({'" ~ untyped[0] ~ "': 'string'}). A unit test sees no YAML: there, "
            ~ 'only a mapping works.'
        ) -%}
    {%- endif -%}
    {{- return(typed) -}}
{% endmacro %}
