{# The text of a new dimension, for a person to go on with. #}

{% macro _draft(name, table, found) %}
    {%- set added = scd2_settings({'name': name, 'config': {}}).columns -%}
    {%- set names = _drafted_names(table.columns, added) -%}
    {%- set options = {'unique_key': _renamed(found.key, names)} -%}
    {%- set comments = [] -%}
    {%- do comments.append('Business key: ' ~ found.reason ~ '.') -%}
    {%- set single_times = [] -%}
    {%- set touched = [] -%}
    {%- for column in table.columns -%}
        {%- do single_times.append(column.name) if _looks_like_extract_time(column) and column.distinct == 1 -%}
        {%- do touched.append(column.name) if _looks_like_touch_time(column) and column.name not in found.key -%}
    {%- endfor -%}
    {%- set effective_at = found.time or (single_times | first | default(none)) -%}
    {%- if effective_at -%}
        {%- do options.update({'effective_at': names[effective_at]}) -%}
        {%- do comments.append('Each `' ~ names[effective_at] ~ '` is taken for a complete extract; if it brings only what is new, '
            ~ "add source_kind='increment'.") -%}
    {%- endif -%}
    {%- set touched = touched | reject('equalto', effective_at) | list -%}
    {%- if touched -%}
        {%- do options.update({'ignore_columns': _renamed(touched, names)}) -%}
        {%- do comments.append('A time that only says when a row was written opens no version.') -%}
    {%- endif -%}
    {%- set reader = _reader_of(table.relation) -%}
    {%- if table.has_feed -%}
        {%- do comments.append("The table has a change data feed. To read only what changed: source_kind='changelog', "
            ~ "effective_at='_commit_timestamp', sequence_by='_commit_version', and changes_since_last_run of the table.") -%}
    {%- endif -%}
    {%- set kept = [] -%}
    {%- for column in table.columns -%}
        {%- set own_hash = column.name | lower in [added.durable_key | lower, added.hash_diff | lower] -%}
        {%- set drafted = none if own_hash else _drafted_column(column, names[column.name]) -%}
        {%- do kept.append(drafted) if drafted -%}
        {%- if drafted and drafted.name != column.name -%}
            {%- do comments.append(column.name ~ ' is named ' ~ names[column.name] ~ ', for the dimension adds a column of that '
                ~ 'name, or Delta stores none.') -%}
        {%- endif -%}
        {%- if own_hash -%}
            {%- do comments.append('Left out, for the dimension makes its own: ' ~ column.name ~ '.') -%}
        {%- elif not drafted -%}
            {%- do comments.append('Left out, for values of its type cannot be compared: ' ~ column.name ~ ' '
                ~ column.data_type ~ '.') -%}
        {%- elif drafted.data_type != column.data_type -%}
            {%- do comments.append('The map ' ~ column.name ~ ' becomes its sorted entries, which can be compared.') -%}
        {%- elif column.data_type in ['float', 'double'] -%}
            {%- do comments.append('Any change of a fraction opens a version; to round ' ~ column.name ~ ', cast it to a decimal.') -%}
        {%- endif -%}
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


{# The names of the columns in the model: their own, but where the dimension adds a column of that name, or Delta stores none.
   Of two columns that so come to one name, the later one gets a number. #}
{% macro _drafted_names(columns, added) %}
    {%- set taken = added.values() | select | map('lower') | list -%}
    {%- set own = _names(columns) -%}
    {%- set names = {} -%}
    {%- for column in columns -%}
        {%- set name = modules.re.sub(_unstorable_characters() ~ '+', '_', column.name) -%}
        {%- set name = 'source_' ~ name if name | lower in taken else name -%}
        {%- set others = taken + (names.values() | map('lower') | list) + (own if name != column.name else []) -%}
        {%- do names.update({column.name: _free_name(name, others)}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{% endmacro %}


{# The name itself, or with the first number that makes it another than those taken. #}
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


{# The words by which a model reads the table; one that the project does not know is declared as a source. #}
{% macro _reader_of(relation) %}
    {%- for node in graph.nodes.values() if node.resource_type in ['model', 'seed', 'snapshot']
        and node.schema == relation.schema and node.alias == relation.identifier -%}
        {%- set package = _in_double_quotes(node.package_name) ~ ', ' if node.package_name != project_name else '' -%}
        {%- set version = ', v=' ~ tojson(node.version) if node.get('version') not in [none, node.get('latest_version')] else '' -%}
        {{- return({'call': 'ref(' ~ package ~ _in_double_quotes(node.name) ~ version ~ ')', 'is_new': false}) -}}
    {%- endfor -%}
    {%- for node in graph.sources.values() if node.schema == relation.schema and node.identifier == relation.identifier -%}
        {{- return({'call': 'source(' ~ _in_double_quotes(node.source_name) ~ ', ' ~ _in_double_quotes(node.name) ~ ')', 'is_new': false}) -}}
    {%- endfor -%}
    {{- return({
        'call': 'source(' ~ _in_double_quotes(relation.schema) ~ ', ' ~ _in_double_quotes(relation.identifier) ~ ')',
        'is_new': true,
    }) -}}
{% endmacro %}


{# `stg_crm__customers` is about a customer. #}
{% macro _entity_of(table_name) %}
    {%- set entity = namespace(text=modules.re.sub('^(stg|src|raw|dim)_', '', table_name.split('__')[-1] | lower)) -%}
    {%- for pattern, singular in [
        ('_(raw|extracts?|snapshot)$', ''), ('ies$', 'y'), ('(ss|x|ch|sh)es$', '\\1'), ('([^sui])s$', '\\1'),
    ] -%}
        {%- set entity.text = modules.re.sub(pattern, singular, entity.text) -%}
    {%- endfor -%}
    {{- return(entity.text) -}}
{% endmacro %}


{# Whether values of a type can be hashed, and compared by a test. #}
{% macro _is_comparable(type) %}
    {%- set parsed = _parsed_type(type) -%}
    {%- if parsed.name == 'array' -%}
        {{- return(_is_comparable(parsed.arguments[0])) -}}
    {%- elif parsed.name == 'struct' -%}
        {%- for field in parsed.arguments if not _is_comparable(_parsed_field(field).type) -%}
            {{- return(false) -}}
        {%- endfor -%}
        {{- return(true) -}}
    {%- endif -%}
    {{- return(parsed.name in [
        'string', 'boolean', 'tinyint', 'smallint', 'int', 'bigint', 'decimal', 'float', 'double', 'date', 'timestamp',
        'timestamp_ntz', 'binary',
    ]) -}}
{% endmacro %}


{# A column as the model selects it; none where it has to be left out. #}
{% macro _drafted_column(column, new_name) %}
    {%- set name = _quoted_where_needed(column.name) -%}
    {%- set as_name = ' as ' ~ _quoted_where_needed(new_name) -%}
    {%- set parsed = _parsed_type(column.data_type) -%}
    {%- if parsed.name == 'map' and _is_comparable('struct<k:' ~ parsed.arguments | join(',v:') ~ '>') -%}
        {{- return({
            'name': new_name,
            'expression': 'array_sort(map_entries(' ~ name ~ '))' ~ as_name,
            'data_type': 'array<struct<key:' ~ parsed.arguments | join(',value:') ~ '>>',
        }) -}}
    {%- elif _is_comparable(column.data_type) -%}
        {{- return({
            'name': new_name,
            'expression': name ~ (as_name if new_name != column.name else ''),
            'data_type': column.data_type,
        }) -}}
    {%- endif -%}
    {{- return(none) -}}
{% endmacro %}


{% macro _quoted_where_needed(name) %}
    {%- set words = [
        'and', 'case', 'cross', 'else', 'end', 'except', 'false', 'for', 'from', 'full', 'group', 'having', 'in', 'inner',
        'intersect', 'interval', 'is', 'join', 'left', 'natural', 'not', 'null', 'on', 'or', 'order', 'right', 'select',
        'then', 'to', 'true', 'union', 'using', 'when', 'where', 'with',
    ] -%}
    {%- set is_plain = modules.re.fullmatch('[a-z_][a-z0-9_]*', name) and name not in words -%}
    {{- return(name if is_plain else _backticked(name)) -}}
{% endmacro %}


{% macro _drafted_sql(draft) -%}
{%- for comment in draft.comments -%}
-- {{ comment | wordwrap(110, wrapstring='\n-- ') }}
{% endfor -%}
{{ '{{' }} config(
    materialized="scd2",
    {%- for option, value in draft.options.items() %}
    {{ option }}={{ _literal_of(value) }},
    {%- endfor %}
) {{ '}}' }}

select
    {%- for column in draft.columns %}
    {{ column.expression }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ '{{' }} {{ draft.reader.call }} {{ '}}' }}
{%- endmacro %}


{% macro _drafted_python(draft) -%}
{%- for comment in draft.comments -%}
# {{ comment | wordwrap(110, wrapstring='\n# ') }}
{% endfor -%}
def model(dbt, session):
    dbt.config(
        materialized="scd2",
        {%- for option, value in draft.options.items() %}
        {{ option }}={{ _literal_of(value) }},
        {%- endfor %}
    )
    rows = dbt.{{ draft.reader.call }}
    return rows.selectExpr(
        {%- for column in draft.columns %}
        {{ _in_double_quotes(column.expression) }},
        {%- endfor %}
    )
{%- endmacro %}


{# One name, or a list of several, for SQL and Python alike. #}
{% macro _literal_of(value) %}
    {%- set texts = [] -%}
    {%- for name in _as_list(value) -%}
        {%- do texts.append(_in_double_quotes(name)) -%}
    {%- endfor -%}
    {{- return(texts[0] if texts | length == 1 else '[' ~ texts | join(', ') ~ ']') -}}
{% endmacro %}


{# A text as Python, Jinja and YAML write it. #}
{% macro _in_double_quotes(text) %}
    {{- return('"' ~ text | replace('\\', '\\\\') | replace('"', '\\"') ~ '"') -}}
{% endmacro %}


{# A text as YAML writes it; `no` in quotes, for it is a boolean there. #}
{% macro _yaml_text(text) %}
    {%- set is_plain = modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_(),]*', text)
        and text | lower not in ['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'] -%}
    {{- return(text if is_plain else _in_double_quotes(text)) -}}
{% endmacro %}


{% macro _drafted_yaml(draft) -%}
{%- set names = draft.names -%}
{%- set unstored = [draft.options.get('effective_at')] -%}
version: 2
{% if draft.reader.is_new %}
sources:
  - name: {{ _yaml_text(draft.table.relation.schema) }}
    tables:
      - name: {{ _yaml_text(draft.table.relation.identifier) }}
        description: What {{ draft.name }} is made from.
{% endif %}
models:
  - name: {{ _yaml_text(draft.name) }}
    description: Every version of the rows of {{ draft.table.relation.schema }}.{{ draft.table.relation.identifier }}.
    data_tests:
      - one_current_row_per_key
      - no_overlapping_validity
      - valid_intervals
      - versions_differ
      - deleted_rows_closed
    columns:
      - {name: {{ names.surrogate_key }}, data_type: string, description: Identifies a version., data_tests: [unique, not_null]}
      - {name: {{ names.durable_key }}, data_type: string, description: Identifies a key., data_tests: [not_null]}
      {%- for column in draft.columns if column.name not in unstored %}
      - name: {{ _yaml_text(column.name) }}
        data_type: {{ _yaml_text(column.data_type) }}
        description: {{ 'Business key.' if column.name in draft.options.unique_key else 'As in the source.' }}
        {%- if column.name in draft.options.unique_key %}
        data_tests: [not_null]
        {%- endif %}
      {%- endfor %}
      - {name: {{ names.hash_diff }}, data_type: string, description: Hash of the tracked columns., data_tests: [not_null]}
      {%- if names.state_hash %}
      - {name: {{ names.state_hash }}, data_type: bigint, description: Tells whether a row is as it was.}
      {%- endif %}
      - {name: {{ names.effective_from }}, data_type: timestamp, description: Beginning of the version., data_tests: [not_null]}
      - {name: {{ names.effective_to }}, data_type: timestamp, description: End of the version., data_tests: [not_null]}
      - {name: {{ names.is_current }}, data_type: boolean, description: Marks the last version of a key., data_tests: [not_null]}
      - {name: {{ names.is_deleted }}, data_type: boolean, description: Marks a version that a deletion ended., data_tests: [not_null]}
{%- endmacro %}
