{# dbt alone knows profile, target, variables and models, so the command asks it. #}
{% macro scd2_describe(dimension) %}
    {%- set found = _named_dimensions(dimension) -%}
    {%- set description = {'dimensions': _addresses(_dimension_nodes()), 'found': _addresses(found)} -%}

    {%- if found | length == 1 -%}
        {%- set node = found[0] -%}
        {%- set settings = scd2_settings(node) -%}
        {%- set table = load_relation(_table_of(node)) -%}
        {%- set sequence_by = settings.sequence_by | map('lower') | list -%}
        {%- do description.update({
            'relation': node.relation_name,
            'unique_key': settings.unique_key,
            'sequence_by': sequence_by + settings.stored_as.items() | selectattr(0, 'in', sequence_by) | map('last') | list,
            'columns': settings.columns,
            'unknown_member': settings.unknown_member,
            'keeps_tombstones': settings.hard_deletes == 'new_record',
            'yes': _flag_literal(settings, true),
            'is_open': _is_open_sql(settings),
            'gap_micros': _gap_micros(settings),
            'recorded': _recorded(table) if table else none,
        }) -%}
    {%- endif -%}
    {%- do print(tojson(description)) -%}
{% endmacro %}
