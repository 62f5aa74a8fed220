{% macro _draft(name, table, found) %}
    {%- set added = delta_scd2.settings_of(name, {}, project_name).columns -%}
    {%- set names = delta_scd2._drafted_names(table.columns, added) -%}
    {%- set options = {'unique_key': delta_scd2._renamed(found.key, names)} -%}
    {%- set comments = ['Business key: ' ~ found.reason ~ '.'] -%}
    {%- set single_times = [] -%}
    {%- set touched = [] -%}
    {%- for column in table.columns -%}
        {%- do single_times.append(column.name)
            if delta_scd2._looks_like_extract_time(column) and column.distinct == 1
                and column.name not in found.key -%}
        {%- do touched.append(column.name)
            if delta_scd2._looks_like_touch_time(column) and column.name not in found.key -%}
    {%- endfor -%}
    {%- set effective_at = found.time or (single_times | first | default(none)) -%}
    {%- if effective_at -%}
        {%- do options.update({'effective_at': names[effective_at]}) -%}
        {%- do comments.append('Each `' ~ names[effective_at]
            ~ '` is taken for a full extract; if it brings only what is new, '
            ~ "add source_kind='increment'.") -%}
    {%- endif -%}
    {%- set touched = touched | reject('equalto', effective_at) | list -%}
    {%- if touched -%}
        {%- do options.update({'ignore_columns': delta_scd2._renamed(touched, names)}) -%}
        {%- do comments.append('A new `' ~ options.ignore_columns | join('`, `')
            ~ '` alone opens no version, and is stored with the next one.'
            ~ (' Versions begin at the time of the run.' if not effective_at)) -%}
    {%- endif -%}
    {%- set reader = delta_scd2._reader_of(table.relation) -%}
    {%- if table.has_feed -%}
        {%- do comments.append("The table has a change data feed. To read only what changed: "
            ~ "source_kind='changelog', effective_at='_commit_timestamp', "
            ~ "sequence_by='_commit_version', and changes_since_last_run of the table.") -%}
    {%- endif -%}
    {%- for column in table.columns
        if reader.is_seed and column.name in found.key and 'int' in column.data_type -%}
        {%- do comments.append('A seed stores 0001 as 1; if ' ~ column.name
            ~ ' is a text, say so in the column_types of the seed.') -%}
    {%- endfor -%}
    {%- set kept = [] -%}
    {%- for column in table.columns -%}
        {%- set own_hash = column.name | lower in [
            added.durable_key | lower,
            added.hash_diff | lower,
        ] and column.name not in found.key -%}
        {%- set drafted = none if own_hash
            else delta_scd2._drafted_column(column, names[column.name]) -%}
        {%- do kept.append(drafted) if drafted -%}
        {%- do comments.extend(delta_scd2._comments_on_column(column, drafted, own_hash)) -%}
    {%- endfor -%}
    {{- return({
        'name': name,
        'table': table,
        'reader': reader,
        'options': options,
        'comments': comments,
        'columns': kept,
        'names': added,
    }) -}}
{% endmacro %}


{# What a person should know of a column that was drafted otherwise than it is, or left out. #}
{% macro _comments_on_column(column, drafted, own_hash) %}
    {%- set comments = [] -%}
    {%- if drafted and drafted.name != column.name -%}
        {%- do comments.append(column.name ~ ' is named ' ~ drafted.name
            ~ ', because the dimension adds a column of that name, or Delta cannot store it.') -%}
    {%- endif -%}
    {%- if own_hash -%}
        {%- do comments.append('Left out, because the dimension makes its own: '
            ~ column.name ~ '.') -%}
    {%- elif not drafted -%}
        {%- do comments.append('Left out, because values of its type cannot be compared: '
            ~ column.name ~ ' ' ~ column.data_type ~ '.') -%}
    {%- elif drafted.data_type != column.data_type -%}
        {%- do comments.append('The map ' ~ column.name
            ~ ' becomes its sorted entries, which can be compared.') -%}
    {%- elif column.data_type in ['float', 'double'] -%}
        {%- do comments.append('Any change of a fraction opens a version; to round '
            ~ column.name ~ ', cast it to a decimal.') -%}
    {%- endif -%}
    {{- return(comments) -}}
{% endmacro %}


{# The column names in the model. A column is renamed if the dimension adds a column of that name or
   Delta cannot store the name; if two columns then collide, the later one gets a number. #}
{% macro _drafted_names(columns, added) %}
    {%- set taken = added.values() | select | map('lower') | list -%}
    {%- set own = delta_scd2.lower_names(columns) -%}
    {%- set names = {} -%}
    {%- for column in columns -%}
        {%- set name = modules.re.sub(delta_scd2.unstorable_characters() ~ '+', '_', column.name) -%}
        {%- set name = 'source_' ~ name if name | lower in taken else name -%}
        {%- set others = taken + (names.values() | map('lower') | list)
            + (own if name != column.name else []) -%}
        {%- do names.update({column.name: delta_scd2._free_name(name, others)}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{% endmacro %}


{# The name itself, or the name with the first free number. #}
{% macro _free_name(name, taken) %}
    {%- if name | lower not in taken -%}
        {{- return(name) -}}
    {%- endif -%}
    {%- for number in range(2, taken | length + 3) if (name ~ '_' ~ number) | lower not in taken -%}
        {{- return(name ~ '_' ~ number) -}}
    {%- endfor -%}
{% endmacro %}


{% macro _renamed(columns, names) %}
    {%- set renamed = [] -%}
    {%- for column in columns -%}
        {%- do renamed.append(names[column]) -%}
    {%- endfor -%}
    {{- return(renamed) -}}
{% endmacro %}


{# The catalog keeps names in lower case. #}
{% macro _is_place_of(relation, schema, identifier) %}
    {{- return([relation.schema | lower, relation.identifier | lower] == [schema | lower, identifier | lower]) -}}
{% endmacro %}


{# The `ref` or `source` call that reads the table; a table unknown to the project becomes a new
   source. #}
{% macro _reader_of(relation) %}
    {%- for node in graph.nodes.values() if node.resource_type in ['model', 'seed', 'snapshot']
        and delta_scd2._is_place_of(relation, node.schema, node.alias) -%}
        {%- set package = delta_scd2._in_double_quotes(node.package_name) ~ ', '
            if node.package_name != project_name else '' -%}
        {%- set version = ', v=' ~ tojson(node.version)
            if node.get('version') not in [none, node.get('latest_version')] else '' -%}
        {{- return({
            'call': 'ref(' ~ package ~ delta_scd2._in_double_quotes(node.name) ~ version ~ ')',
            'is_new': false,
            'is_seed': node.resource_type == 'seed',
        }) -}}
    {%- endfor -%}
    {%- for node in graph.sources.values()
        if delta_scd2._is_place_of(relation, node.schema, node.identifier) -%}
        {%- set names = delta_scd2._in_double_quotes(node.source_name) ~ ', '
            ~ delta_scd2._in_double_quotes(node.name) -%}
        {{- return({'call': 'source(' ~ names ~ ')', 'is_new': false, 'is_seed': false}) -}}
    {%- endfor -%}
    {{- return({
        'call': 'source(' ~ delta_scd2._in_double_quotes(relation.schema) ~ ', '
            ~ delta_scd2._in_double_quotes(relation.identifier) ~ ')',
        'is_new': true,
        'is_seed': false,
    }) -}}
{% endmacro %}


{# For example `customer` for `stg_crm__customers`. #}
{% macro _entity_of(table_name) %}
    {%- set entity = namespace(text=modules.re.sub(
        '^(stg|src|raw|dim)_', '', table_name.split('__')[-1] | lower
    )) -%}
    {%- for pattern, singular in [
        ('_(raw|extracts?|snapshot)$', ''),
        ('ies$', 'y'),
        ('(ss|x|ch|sh)es$', '\\1'),
        ('([^sui])s$', '\\1'),
    ] -%}
        {%- set entity.text = modules.re.sub(pattern, singular, entity.text) -%}
    {%- endfor -%}
    {{- return(entity.text) -}}
{% endmacro %}
