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
      - {name: {{ names.surrogate_key }}, data_type: string, description: Identifies a version., data_tests: [unique, not_null]}
      - {name: {{ names.durable_key }}, data_type: string, description: Identifies a key., data_tests: [not_null]}
      {%- for column in draft.columns if column.name not in unstored %}
      - name: {{ delta_scd2._yaml_text(column.name) }}
        data_type: {{ delta_scd2._yaml_text(column.data_type) }}
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


{# A YAML string; quoted if YAML would read it as another type, such as `no`. #}
{% macro _yaml_text(text) %}
    {%- set is_plain = modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_(),]*', text)
        and text | lower not in ['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'] -%}
    {{- return(text if is_plain else delta_scd2._in_double_quotes(text)) -}}
{% endmacro %}
