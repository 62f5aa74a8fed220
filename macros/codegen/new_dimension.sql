{% macro new_dimension(source, name=none, key=[], language='sql', directory='models/gold') %}
    {%- if language not in ['sql', 'python'] -%}
        {%- do raise_refusal(wrong_value('language', language, 'sql or python'), 'leave it out for SQL') -%}
    {%- endif -%}
    {%- set table = _profiled_table(source) -%}
    {%- set name = name or 'dim_' ~ _entity_of(table.relation.identifier) -%}
    {%- if not modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', name) -%}
        {%- do raise_refusal('`' ~ name ~ '` is no name for a model', 'give a `name` of letters, digits and `_`') -%}
    {%- endif -%}
    {%- for node in graph.nodes.values() if node.resource_type in ['model', 'seed', 'snapshot'] and node.name == name -%}
        {%- do raise_refusal('`' ~ name ~ '` exists already, in ' ~ node.original_file_path, 'give another `name` (`NAME=` for make)') -%}
    {%- endfor -%}
    {%- set found = _found_key(table, as_list(key), _entity_of(name)) -%}
    {%- do print('business key of ' ~ name ~ ': ' ~ found.key | join(', ') ~ ' (' ~ found.reason ~ ')') -%}
    {%- set draft = _draft(name, table, found) -%}
    {%- if language == 'python' -%}
        {%- do print('# ' ~ directory ~ '/' ~ name ~ '.py\n' ~ _drafted_python(draft)) -%}
    {%- else -%}
        {%- do print('-- ' ~ directory ~ '/' ~ name ~ '.sql\n' ~ _drafted_sql(draft)) -%}
    {%- endif -%}
    {%- do print('# ' ~ directory ~ '/' ~ name ~ '.yml\n' ~ _drafted_yaml(draft)) -%}
{% endmacro %}
