{# Only dbt can resolve the profile, target, variables and models, so the command line asks it. #}
{% macro scd2_describe(dimension) %}
    {%- set found = delta_scd2.named_dimensions(dimension) -%}
    {%- set description = {'dimensions': delta_scd2.node_addresses(delta_scd2.dimension_nodes()),
        'found': delta_scd2.node_addresses(found)} -%}

    {%- if found | length == 1 -%}
        {%- set node = found[0] -%}
        {%- set settings = delta_scd2.scd2_config(node) -%}
        {%- set table = load_relation(delta_scd2.table_of(node)) -%}
        {%- set sequence_by = settings.sequence_by | map('lower') | list -%}
        {%- set stored_sequence = settings.stored_as.items()
            | selectattr(0, 'in', sequence_by) | map('last') | list -%}
        {%- do description.update({
            'relation': node.relation_name,
            'unique_key': settings.unique_key,
            'sequence_by': sequence_by + stored_sequence,
            'columns': settings.columns,
            'unknown_member': settings.unknown_member,
            'keeps_tombstones': settings.keeps_tombstones,
            'yes': delta_scd2.flag_literal(settings, true),
            'is_open': delta_scd2.is_open_sql(settings),
            'gap_micros': delta_scd2.gap_micros(settings),
            'recorded': delta_scd2.read_properties(table) if table else none,
        }) -%}
    {%- endif -%}
    {%- do print(tojson(description)) -%}
{% endmacro %}
