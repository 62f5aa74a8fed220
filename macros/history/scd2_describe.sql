{# dbt alone knows profile, target, variables and models, so the command asks it. The answer travels in dbt's log: the result
   of an operation is thrown away. #}
{% macro scd2_describe(dimension) %}
    {%- set dimensions = {} -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.config.materialized == 'scd2' -%}
        {%- do dimensions.update({node.name: node}) -%}
    {%- endfor -%}
    {%- set description = {'dimensions': dimensions.keys() | list} -%}

    {%- if dimension in dimensions -%}
        {%- set node = dimensions[dimension] -%}
        {%- set settings = scd2_settings(node) -%}
        {%- set table = load_relation(
            api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias, type='table')
        ) -%}
        {%- do description.update({
            'relation': node.relation_name,
            'unique_key': settings.unique_key,
            'sequence_by': settings.sequence_by,
            'columns': settings.columns,
            'unknown_member': settings.unknown_member,
            'keeps_tombstones': settings.hard_deletes == 'new_record',
            'yes': _flag_literal(settings, true),
            'is_open': _is_open_sql(settings),
            'gap_micros': _gap_micros(settings),
            'recorded': _recorded(table) if table else none,
        }) -%}
    {%- endif -%}
    {%- do log(tojson({'scd2_description': description})) -%}
{% endmacro %}
