{# Compares the model's columns with the table's. Returns `columns`, the changed fields of the load
   record, and `mistakes`, the changes that `on_schema_change` does not allow. #}
{% macro follow_columns(load) %}
    {%- set target_columns, recorded = load.stored_columns, load.properties -%}
    {%- set stored = delta_scd2.columns_by_lower_name(target_columns) -%}
    {%- set known = fromjson(recorded.get('scd2.columns', tojson(stored.keys() | list))) -%}
    {%- set found = delta_scd2._columns_beside_the_table(load, stored, known) -%}
    {%- set kept, added = found.kept, found.added -%}
    {%- set mistakes = delta_scd2._validate_stored_columns(load, stored) + found.mistakes
        + delta_scd2.columns_named_as_state_hashes(load, found.kept) -%}
    {%- set dropped = delta_scd2._columns_but(
        target_columns, delta_scd2.dimension_columns(load.settings.columns, kept)
    ) -%}
    {%- for column in delta_scd2._columns_but(
        target_columns, load.columns + delta_scd2.former_state_hashes(load)
    ) if load.settings.refuses_new_columns -%}
        {%- do mistakes.append(load.target ~ ' holds the column `' ~ column.name
            ~ '`, which the model does not return, and `on_schema_change` is `fail`: return it, or '
            ~ 'choose `append_new_columns`') -%}
    {%- endfor -%}
    {%- set left_out = load.kept_columns | reject('in', kept) | list -%}
    {%- set tracked = load.tracked_columns | reject('in', left_out) | list -%}
    {%- do mistakes.extend(delta_scd2._changed_tracking(load, tracked, recorded, added, stored)) -%}
    {%- if mistakes -%}
        {{- return({'mistakes': mistakes, 'columns': {}}) -}}
    {%- endif -%}
    {%- for column in dropped if column.name | lower in known -%}
        {%- do delta_scd2._warn_of_dropped_column(column, added) -%}
    {%- endfor -%}
    {%- set common = tracked | reject('in', added) | list -%}
    {%- set tracking_changed = fromjson(recorded.get('scd2.track_columns',
        tojson(delta_scd2.lower_names(tracked)))) != delta_scd2.lower_names(tracked) -%}
    {%- set state_hash = load.settings.columns.state_hash -%}
    {%- set lacks_state_hash = state_hash and state_hash | lower not in stored -%}
    {{- return({'mistakes': [], 'columns': {
        'kept_columns': kept + dropped,
        'columns': delta_scd2.dimension_columns(load.settings.columns, kept + dropped),
        'tracked_columns': tracked,
        'unavailable_columns': load.unavailable_columns | reject('in', left_out) | list,
        'common_columns': common,
        'stored_common_columns': delta_scd2.columns_by_name(common | map(attribute='name'), stored),
        'tracking_changed': tracking_changed,
        'missing_columns': found.missing
            + ([{'name': state_hash, 'data_type': 'bigint'}] if lacks_state_hash else []),
        'backfilled_columns': added | select('in', tracked) | list,
        'overwritten_new_columns': added | select('in', load.overwrite_columns) | list,
        'dropped_columns': dropped,
        'widened_columns': found.widened,
        'schema_changed': tracking_changed or added != [] or found.widened != [],
        'has_state_hash': delta_scd2.has_state_hash(load.settings, stored, recorded),
    }}) -}}
{% endmacro %}


{# A new column of the same type may be the dropped one under another name. Its values fill current
   versions and open none, so that what changed in this load is lost. #}
{% macro _warn_of_dropped_column(column, added) %}
    {%- set names = added | selectattr('data_type', 'equalto', column.data_type)
        | map(attribute='name') | list -%}
    {%- set rename = ', and returns the new column(s) `' ~ delta_scd2.listed(names, separator='`, `')
        ~ '`. If `' ~ column.name ~ '` was renamed, its history breaks here: undo this load with '
        ~ "`dbt run-operation undo_load --args '{model: " ~ delta_scd2.node_address(model)
        ~ ", apply: true}'`, and keep the old name in the model, as in `" ~ names | first | default('')
        ~ ' as ' ~ column.name ~ '`' -%}
    {%- do exceptions.warn(model.name ~ ': the model no longer returns the column `' ~ column.name
        ~ '`, which is null from now on' ~ (rename if names else '')) -%}
{% endmacro %}


{# Classifies the columns of the model: those to keep, those new to the dimension, those missing in
   the table, those whose type widens, and the changes that `on_schema_change` does not allow. #}
{% macro _columns_beside_the_table(load, stored, known) %}
    {%- set settings = load.settings -%}
    {%- set compared = delta_scd2.lower_names(load.overwrite_columns + load.sequence_columns)
        + delta_scd2.as_list(load.settings.inferred_member) | map('lower') | list -%}
    {%- set kept, added, missing, widened, mistakes = [], [], [], [], [] -%}
    {%- for column in load.kept_columns -%}
        {%- set target_column = stored.get(column.name | lower) -%}
        {%- set is_new = target_column is none or column.name | lower not in known -%}
        {%- if is_new and settings.refuses_new_columns -%}
            {%- do mistakes.append('the model returns the column `' ~ column.name ~ '`, which '
                ~ load.target ~ ' lacks, and `on_schema_change` is `fail`: drop it from the model, '
                ~ 'or choose `append_new_columns`') -%}
        {%- elif is_new and settings.ignores_new_columns and column.name | lower in compared -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is not stored, as '
                ~ '`on_schema_change` is `ignore`, so it cannot stand in `overwrite_columns`, '
                ~ '`sequence_by` or `inferred_member`: take it out there, or choose '
                ~ '`append_new_columns`') -%}
        {%- elif is_new and settings.ignores_new_columns -%}
            {%- do exceptions.warn(model.name ~ ': the column `' ~ column.name
                ~ '` is not stored, as `on_schema_change` is `ignore`') -%}
        {%- else -%}
            {%- do kept.append(column) -%}
            {%- do added.append(column) if is_new -%}
            {%- do missing.append(column) if target_column is none -%}
        {%- endif -%}
        {%- if column in kept and target_column is not none
            and target_column.data_type != column.data_type -%}
            {%- if settings.appends_new_columns
                and delta_scd2.widens(target_column.data_type, column.data_type) -%}
                {%- do widened.append(column) -%}
            {%- else -%}
                {%- do mistakes.append(delta_scd2.differing_types(
                    column.name, column.data_type, target_column.data_type, load.target,
                    remedy='cast it in the model, or return new fields as columns of their own'
                        if 'struct<' in column.data_type else 'cast it in the model'
                )) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({
        'kept': kept,
        'added': added,
        'missing': missing,
        'widened': widened,
        'mistakes': mistakes,
    }) -}}
{% endmacro %}


{# The columns whose names are not among others. #}
{% macro _columns_but(columns, names) %}
    {%- set names = names | map('lower') | list -%}
    {%- set left = [] -%}
    {%- for column in columns if column.name | lower not in names -%}
        {%- do left.append(column) -%}
    {%- endfor -%}
    {{- return(left) -}}
{% endmacro %}


{# The added columns exist from the first load; only a state hash can be added later. #}
{% macro _validate_stored_columns(load, stored) %}
    {%- set mistakes = [] -%}
    {%- set state_hash = load.settings.columns.state_hash -%}
    {%- set may_lack = load.kept_columns | map(attribute='name') | list + [state_hash] -%}
    {%- for column in load.columns if column not in may_lack and column | lower not in stored -%}
        {%- do mistakes.append(load.target ~ ' lacks the column `' ~ column
            ~ '`, which the materialization keeps: rename its old column, or name that one in '
            ~ '`scd2_columns`') -%}
    {%- endfor -%}
    {%- set type = stored.get((state_hash or '') | lower, {}).data_type -%}
    {%- do mistakes.append('the column `' ~ state_hash ~ '` of ' ~ load.target ~ ' is ' ~ type
        ~ ', and a state hash is bigint: give it another name in `scd2_columns`')
        if type and type != 'bigint' -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# Tracking may start when a column is added and stop when it leaves the model, and maybe the table,
   too. Any other change would leave versions that were never compared. A column that joins or leaves
   the key is reported with `unique_key`. #}
{% macro _changed_tracking(load, tracked, recorded, added, stored) %}
    {%- set now = delta_scd2.lower_names(tracked) -%}
    {%- set before = fromjson(recorded.get('scd2.track_columns', tojson(now))) -%}
    {%- set of_keys = load.settings.unique_key | map('lower') | list
        + fromjson(recorded.get('scd2.unique_key', '[]')) -%}
    {%- set kept = delta_scd2.lower_names(load.kept_columns) | select('in', stored) | list -%}
    {%- set unexplained = now | reject('in', before + delta_scd2.lower_names(added)) | list
        + before | select('in', kept) | reject('in', now) | list -%}
    {%- set unexplained = unexplained | reject('in', of_keys) | list -%}
    {%- if unexplained -%}
        {{- return([
            '`track_columns` was `' ~ delta_scd2.listed(before, separator=',') ~ '` when '
                ~ load.target ~ ' was built and is `' ~ delta_scd2.listed(now, separator=',')
                ~ '` now, which its history cannot follow (it differs in '
                ~ delta_scd2.listed(unexplained) ~ '): restore the option, or '
                ~ delta_scd2.how_to_discard_history()
        ]) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}


{% macro alter_statements(load) %}
    {%- set statements = delta_scd2.add_columns_statements(load.target, load.missing_columns)
        + delta_scd2.lengthen_statements(load.target, load.bound_in_target) -%}
    {%- if load.widened_columns -%}
        {%- do statements.append('alter table ' ~ load.target
            ~ " set tblproperties ('delta.enableTypeWidening' = 'true')") -%}
    {%- endif -%}
    {%- for column in load.widened_columns -%}
        {%- do statements.append('alter table ' ~ load.target ~ ' alter column '
            ~ delta_scd2.backticked(column.name) ~ ' type ' ~ column.data_type) -%}
    {%- endfor -%}
    {%- set filled = delta_scd2.filled_columns_property(load) -%}
    {%- do statements.append(delta_scd2.set_properties_sql(load.target, filled)) if filled -%}
    {{- return(statements) -}}
{% endmacro %}
