{# The table or view of a name `schema.table`; one that does not exist is refused with the nearest name that does. #}
{% macro _existing_relation(name) %}
    {%- set parts = name.split('.') -%}
    {%- if parts | length != 2 -%}
        {%- do _refuse('`' ~ name ~ '` names no table', 'give its schema and its name, as in `silver.customers`') -%}
    {%- endif -%}
    {%- set relation = load_relation(api.Relation.create(schema=parts[0], identifier=parts[1])) -%}
    {%- if relation is none -%}
        {%- set schemas = run_query('show schemas').columns[0].values() | list -%}
        {%- set is_schema = parts[0] | lower in schemas -%}
        {%- set siblings = run_query('show tables in ' ~ _backticked(parts[0])).columns['tableName'].values() if is_schema else [] -%}
        {%- set near = _closest(parts[1], siblings) if is_schema else _closest(parts[0], schemas) -%}
        {%- do _refuse(
            ('there is no table `' ~ name ~ '`') if is_schema else 'there is no schema `' ~ parts[0] ~ '`',
            'did you mean `' ~ (parts[0] ~ '.' ~ near if is_schema else near ~ '.' ~ parts[1]) ~ '`?' if near
                else 'name a table or view that exists'
        ) -%}
    {%- endif -%}
    {{- return(relation) -}}
{% endmacro %}
