{# The record of the table to migrate: its columns as they are `stored`, and how it stores history,
   as `options` and `settings` of a dimension. `columns` has those of its roles that it has;
   `versions` is the view of its rows in the form of the dimension. #}
{% macro _old_table(load, name, given, merges) %}
    {%- set relation = delta_scd2.existing_relation(name) -%}
    {%- set stored = delta_scd2.columns_of(relation) -%}
    {%- set options = {
        'unique_key': load.settings.unique_key,
        'scd2_columns': {},
    } -%}
    {#- Some of these may have other names; `dbt_updated_at` is found in other tables, too. -#}
    {%- if delta_scd2.lower_names(stored) | select('in', [
        'dbt_scd_id', 'dbt_valid_from', 'dbt_valid_to', 'dbt_is_deleted'
    ]) | list -%}
        {%- do options.update(delta_scd2._snapshot_options(delta_scd2.lower_names(stored))) -%}
    {%- endif -%}
    {%- set columns = dict(options.scd2_columns, **delta_scd2.as_mapping(given.scd2_columns)) -%}
    {%- for option, value in given.items() if value is not none -%}
        {%- do options.update({option: value}) -%}
    {%- endfor -%}
    {%- set settings = dict(
        delta_scd2.settings_of(relation.identifier, options, project_name), columns=columns
    ) -%}
    {{- return({
        'relation': relation,
        'stored': stored,
        'versions': delta_scd2.session_view(load.target, 'old_versions'),
        'options': options,
        'settings': settings,
        'columns': columns,
        'given_hard_deletes': given.hard_deletes,
        'merges': merges,
    }) -}}
{% endmacro %}


{# How dbt snapshots store history. Rows added by `hard_deletes: new_record` repeat what the ends
   already say. #}
{% macro _snapshot_options(names) %}
    {%- set columns = {'effective_from': 'dbt_valid_from', 'effective_to': 'dbt_valid_to'} -%}
    {%- do columns.update({'is_deleted': 'dbt_is_deleted'}) if 'dbt_is_deleted' in names -%}
    {{- return({
        'scd2_columns': columns,
        'closing_gap': '0',
        'flag_values': ['True', 'False'],
        'hard_deletes': 'new_record',
    }) -}}
{% endmacro %}


{# Every mistake in the arguments, and in the old table's columns, which must match the model's. #}
{% macro _validate_old_table(load, old) %}
    {%- set mistakes = delta_scd2.validate_values(old.options, old.settings) -%}
    {%- do mistakes.append('`hard_deletes` is `new_record`, and no column of the old table marks its '
        ~ 'tombstones: name it as `is_deleted` in `scd2_columns`')
        if old.given_hard_deletes == 'new_record' and 'is_deleted' not in old.columns -%}
    {%- set types = delta_scd2.types_by_name(old.stored) -%}
    {%- for role, name in old.columns.items() if name | lower not in types -%}
        {%- set near = delta_scd2.closest_match(name, types.keys()) -%}
        {%- do mistakes.append('`scd2_columns` names the column `' ~ name
            ~ '`, which the old table lacks'
            ~ (': did you mean `' ~ near ~ '`?' if near else '')) -%}
    {%- endfor -%}
    {%- for role in ['effective_from', 'effective_to'] -%}
        {%- set type = types.get(old.columns[role] | default('', true) | lower) -%}
        {%- set zone = delta_scd2.zone_beside_utc() if type in ['date', 'timestamp_ntz'] -%}
        {%- if role not in old.columns -%}
            {%- do mistakes.append('`scd2_columns` does not name the column with the ' ~ role
                ~ ' of a version') -%}
        {%- elif type and type not in ['date', 'timestamp', 'timestamp_ntz'] -%}
            {%- do mistakes.append('the column `' ~ old.columns[role] ~ '` is ' ~ type
                ~ ', expected a date or timestamp: ' ~ delta_scd2._in_a_view('cast it')) -%}
        {%- elif zone -%}
            {%- do mistakes.append('the column `' ~ old.columns[role] ~ '` is ' ~ type
                ~ ', which means another moment in ' ~ zone
                ~ ' than in UTC, and days there are not all of one length: set '
                ~ '`spark.sql.session.timeZone` to `UTC` for the migration') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for role in ['durable_key', 'hash_diff', 'state_hash'] if role in old.columns -%}
        {%- do mistakes.append('`scd2_columns` names a ' ~ role
            ~ ', which is not read but computed: leave it out') -%}
    {%- endfor -%}
    {%- for column in load.kept_columns -%}
        {%- set type = types.get(delta_scd2._old_name(load, old, column) | lower) -%}
        {%- if not type -%}
            {%- do mistakes.append('the old table lacks the column `' ~ column.name ~ '` ('
                ~ delta_scd2.shown_text(column.data_type) ~ ') of '
                ~ load.name ~ ': ' ~ delta_scd2._in_a_view('add or rename it')) -%}
        {%- elif type != column.data_type and not delta_scd2.widens(type, column.data_type) -%}
            {%- do mistakes.append(delta_scd2.differing_types(
                column.name,
                type,
                column.data_type,
                load.name,
                here='the old table',
                remedy=delta_scd2._in_a_view('cast it')
            )) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set key_type = types.get(old.columns.surrogate_key | default('', true) | lower) -%}
    {%- if key_type and not delta_scd2._is_key_type(load.settings, key_type) -%}
        {%- do mistakes.append('the surrogate key `' ~ old.columns.surrogate_key ~ '` is '
            ~ key_type ~ ', and `surrogate_key` of ' ~ load.name ~ ' is `'
            ~ load.settings.surrogate_key ~ '`: choose `'
            ~ ('hash' if key_type == 'string' else 'sequence')
            ~ '` there and make ' ~ load.target ~ ' anew, or do not keep the keys') -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The name of a column in the old table: a column of the change data feed may still have its
   original name there. #}
{% macro _old_name(load, old, column) %}
    {%- set given = delta_scd2.name_in_model(load.settings, column.name) -%}
    {{- return(given if given in delta_scd2.lower_names(old.stored)
        and column.name | lower not in delta_scd2.lower_names(old.stored) else column.name) -}}
{% endmacro %}


{% macro _in_a_view(what) %}
    {{- return(what ~ ' in a view, and migrate from that') -}}
{% endmacro %}


{% macro _is_key_type(settings, type) %}
    {%- if settings.has_sequence_keys -%}
        {{- return(modules.re.fullmatch(
            'tinyint|smallint|int|bigint|decimal\\(\\d+,0\\)', type
        ) is not none) -}}
    {%- endif -%}
    {{- return(settings.has_hash_keys and type == 'string') -}}
{% endmacro %}


{% macro _validate_extracts(load, extracts) %}
    {%- set mistakes = [] -%}
    {%- if extracts and not delta_scd2._tells_extracts_apart(load) -%}
        {%- do mistakes.append('`extracts` are told apart by `effective_at` of full extracts, '
            ~ 'which ' ~ load.name ~ ' does not read: leave it out') -%}
    {%- endif -%}
    {%- for text in delta_scd2.as_list(extracts) if not delta_scd2.is_timestamp_text(text) -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'extracts', text, 'UTC timestamps such as 2024-01-31'
        )) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
