{% macro new_dimension(source, name=none, key=[], language='sql', directory='models/gold') %}
    {%- if language not in ['sql', 'python'] -%}
        {%- do delta_scd2.raise_refusal(
            delta_scd2.wrong_value('language', language, 'sql or python'),
            'leave it out for SQL'
        ) -%}
    {%- endif -%}
    {%- set table = delta_scd2._profiled_table(source) -%}
    {%- set name = name or 'dim_' ~ delta_scd2._entity_of(table.relation.identifier) -%}
    {%- if not modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', name) -%}
        {%- do delta_scd2.raise_refusal(
            '`' ~ name ~ '` is not a name for a model',
            'give a `name` of letters, digits and `_`'
        ) -%}
    {%- endif -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in ['model', 'seed', 'snapshot'] and node.name == name -%}
        {%- do delta_scd2.raise_refusal(
            '`' ~ name ~ '` exists already, in ' ~ node.original_file_path,
            'give another `name`'
        ) -%}
    {%- endfor -%}
    {%- set found = delta_scd2._found_key(
        table, delta_scd2.as_list(key), delta_scd2._entity_of(name)
    ) -%}
    {%- do print('business key of ' ~ name ~ ': ' ~ found.key | join(', ') ~ ' ('
        ~ found.reason ~ ')') -%}
    {%- set draft = delta_scd2._draft(name, table, found) -%}
    {%- if language == 'python' -%}
        {%- do print('# ' ~ directory ~ '/' ~ name ~ '.py\n' ~ delta_scd2._drafted_python(draft)) -%}
    {%- else -%}
        {%- do print('-- ' ~ directory ~ '/' ~ name ~ '.sql\n' ~ delta_scd2._drafted_sql(draft)) -%}
    {%- endif -%}
    {%- do print('# ' ~ directory ~ '/' ~ name ~ '.yml\n' ~ delta_scd2._drafted_yaml(draft)) -%}
{% endmacro %}
