{# A 64-bit hash of a row. Spark's hash ignores nulls, also inside nested values, so null checks and
   full hashes are added. #}
{% macro short_hash(columns, alias=none, first=none) %}
    {%- set parts = [first] | select | list -%}
    {%- for column in columns -%}
        {%- set value = (alias ~ '.' if alias else '') ~ delta_scd2.backticked(column.name) -%}
        {%- if modules.re.match('(array|map|struct|variant)', column.data_type) -%}
            {%- do parts.append(delta_scd2.hash_of([column], alias)) -%}
        {%- else -%}
            {%- do parts.extend([value, value ~ ' is null']) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return('xxhash64(' ~ parts | join(', ') ~ ')') -}}
{% endmacro %}


{# A short hash of the tracked columns and the key. It includes the names and types of the columns,
   so a stored hash never equals one over other columns. #}
{% macro state_hash_sql(load) %}
    {%- set columns = load.tracked_columns + load.key_columns -%}
    {%- set names_and_types = [] -%}
    {%- for column in columns -%}
        {%- do names_and_types.append(column.name | lower ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {{- return(delta_scd2.short_hash(
        columns, first=delta_scd2.sql_string(local_md5(names_and_types | join(','))[:8])
    )) -}}
{% endmacro %}


{# The column that holds the state hashes of the last load, which earlier releases recorded as it
   is, or an empty text. #}
{% macro recorded_state_hash(recorded) %}
    {%- set text = recorded.get('scd2.state_hash', '') -%}
    {{- return(fromjson(text, text)) -}}
{% endmacro %}


{# The columns of the table with state hashes that the dimension kept once, by their lower-case names. #}
{% macro former_state_hashes(load) %}
    {%- set recorded = load.properties -%}
    {%- set former = fromjson(recorded.get('scd2.former_state_hashes', '[]')) + [
        delta_scd2.recorded_state_hash(recorded) | lower
    ] -%}
    {%- set in_use = ['', (load.settings.columns.state_hash or '') | lower] -%}
    {%- set stored = delta_scd2.lower_names(load.stored_columns) -%}
    {{- return(former | unique | reject('in', in_use) | select('in', stored) | list) -}}
{% endmacro %}


{# The mistake of a model column with the name of such a column: its hashes would be taken for values. #}
{% macro columns_named_as_state_hashes(load, kept) %}
    {%- set mistakes = [] -%}
    {%- for column in kept if column.name | lower in delta_scd2.former_state_hashes(load) -%}
        {%- do mistakes.append('the model returns the column `' ~ column.name ~ '`, and the column of that name in '
            ~ load.target ~ ' holds the state hashes of earlier loads: rename the column in the model') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# Whether the last load maintained the state hash. #}
{% macro has_state_hash(settings, stored, recorded) %}
    {%- set name = settings.columns.state_hash -%}
    {{- return(name is not none and name | lower in stored
        and delta_scd2.recorded_state_hash(recorded) | lower == name | lower) -}}
{% endmacro %}


{# The state hash of a stored version: computed, or read from the column that keeps it. It is null if
   the last load did not maintain that column. #}
{% macro stored_state_hash(load) %}
    {%- set name = load.settings.columns.state_hash -%}
    {%- if not name -%}
        {{- return(delta_scd2.state_hash_sql(load)) -}}
    {%- endif -%}
    {{- return(delta_scd2.backticked(name) if load.has_state_hash else 'cast(null as bigint)') -}}
{% endmacro %}
