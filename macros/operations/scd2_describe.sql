{# Only dbt can resolve the profile, target, variables and models, so the command line asks it. #}
{% macro scd2_describe(dimension) %}
    {%- set found = named_dimensions(dimension) -%}
    {%- set description = {'dimensions': node_addresses(dimension_nodes()), 'found': node_addresses(found)} -%}

    {%- if found | length == 1 -%}
        {%- set node = found[0] -%}
        {%- set settings = scd2_config(node) -%}
        {%- set table = load_relation(table_of(node)) -%}
        {%- set sequence_by = settings.sequence_by | map('lower') | list -%}
        {%- do description.update({
            'relation': node.relation_name,
            'unique_key': settings.unique_key,
            'sequence_by': sequence_by + settings.stored_as.items() | selectattr(0, 'in', sequence_by) | map('last') | list,
            'columns': settings.columns,
            'unknown_member': settings.unknown_member,
            'keeps_tombstones': settings.keeps_tombstones,
            'yes': flag_literal(settings, true),
            'is_open': is_open_sql(settings),
            'gap_micros': gap_micros(settings),
            'recorded': read_properties(table) if table else none,
        }) -%}
    {%- endif -%}
    {%- do print(tojson(description)) -%}
{% endmacro %}
