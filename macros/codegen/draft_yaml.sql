{% macro _drafted_yaml(draft) -%}
{%- set names = draft.names -%}
{%- set unstored = [draft.options.get('effective_at')] -%}
version: 2
{% if draft.reader.is_new %}
sources:
  - name: {{ delta_scd2._yaml_text(draft.table.relation.schema) }}
    tables:
      - name: {{ delta_scd2._yaml_text(draft.table.relation.identifier) }}
        description: What {{ draft.name }} is made from.
{% endif %}
models:
  - name: {{ delta_scd2._yaml_text(draft.name) }}
    description: Every version of the rows of {{ draft.table.relation.schema }}.{{ draft.table.relation.identifier }}.
    data_tests:
      - delta_scd2.one_current_row_per_key
      - delta_scd2.no_overlapping_validity
      - delta_scd2.valid_intervals
      - delta_scd2.versions_differ
      - delta_scd2.deleted_rows_closed
    columns:
      - {{ delta_scd2._added_column_yaml(
            names.surrogate_key, 'string', 'Identifies a version.', 'unique, not_null'
        ) }}
      - {{ delta_scd2._added_column_yaml(names.durable_key, 'string', 'Identifies a key.') }}
      {%- for column in draft.columns if column.name not in unstored %}
      - name: {{ delta_scd2._yaml_text(column.name) }}
        {%- if delta_scd2._quoted_where_needed(column.name) != column.name %}
        quote: true
        {%- endif %}
        data_type: {{ delta_scd2._yaml_text(column.data_type) }}
        description: {{ 'Business key.' if column.name in draft.options.unique_key else 'As in the source.' }}
        {%- if column.name in draft.options.unique_key %}
        data_tests: [not_null]
        {%- endif %}
      {%- endfor %}
      - {{ delta_scd2._added_column_yaml(names.hash_diff, 'string', 'Hash of the tracked columns.') }}
      {%- if names.state_hash %}
      - {{ delta_scd2._added_column_yaml(
            names.state_hash, 'bigint', 'Hash that a load compares to find changed rows.', tests=none
        ) }}
      {%- endif %}
      - {{ delta_scd2._added_column_yaml(
            names.effective_from, 'timestamp', 'Beginning of the version.'
        ) }}
      - {{ delta_scd2._added_column_yaml(names.effective_to, 'timestamp', 'End of the version.') }}
      - {{ delta_scd2._added_column_yaml(
            names.is_current, 'boolean', 'Marks the last version of a key.'
        ) }}
      - {{ delta_scd2._added_column_yaml(
            names.is_deleted, 'boolean', 'Marks a version that a deletion ended.'
        ) }}
{%- endmacro %}


{% macro _added_column_yaml(name, data_type, description, tests='not_null') -%}
{name: {{ delta_scd2._yaml_text(name) }}
    {{- ', quote: true' if delta_scd2._quoted_where_needed(name) != name }}, data_type: {{ data_type }}
    {{- ', description: ' ~ description }}
    {{- ', data_tests: [' ~ tests ~ ']' if tests }}}
{%- endmacro %}


{# A YAML string; quoted if YAML would read it as another type, such as `no`. #}
{% macro _yaml_text(text) %}
    {%- set is_plain = modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_(),]*', text)
        and text | lower not in ['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'] -%}
    {{- return(text if is_plain else delta_scd2._in_double_quotes(text)) -}}
{% endmacro %}
