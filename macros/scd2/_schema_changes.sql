{# How a dimension follows the columns of its model. #}

{% macro _wrong_target(existing) %}
    {%- if existing.is_view -%}
        {{- return(['a view named ' ~ existing ~ ' is in the way: drop or rename it']) -}}
    {%- elif not existing.is_delta -%}
        {{- return(['the table ' ~ existing ~ ' is not a Delta table: convert it (`convert to delta`) or drop it']) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}


{# Compares the columns of the model with those of the table, lets the dimension follow where `on_schema_change` allows
   it, and returns the mistakes where it does not. #}
{% macro _follow_columns(dimension, target_columns, recorded) %}
    {%- set policy = dimension.settings.on_schema_change -%}
    {%- set stored = {} -%}
    {%- for column in target_columns -%}
        {%- do stored.update({column.name | lower: column}) -%}
    {%- endfor -%}
    {%- set state_hash = dimension.settings.columns.state_hash -%}
    {%- set mistakes = _wrong_added_columns(dimension, stored) -%}
    {%- set known = fromjson(recorded.get('scd2.columns', tojson(stored.keys() | list))) -%}
    {%- set compared = _names(dimension.overwrite_columns + dimension.sequence_columns)
        + _as_list(dimension.settings.inferred_member) | map('lower') | list -%}
    {%- set kept = [] -%}
    {%- set added = [] -%}
    {%- set missing = [] -%}
    {%- set widened = [] -%}
    {%- for column in dimension.kept_columns -%}
        {%- set target_column = stored.get(column.name | lower) -%}
        {%- set is_new = target_column is none or column.name | lower not in known -%}
        {%- if is_new and policy == 'fail' -%}
            {%- do mistakes.append('the model returns the column `' ~ column.name ~ '`, which ' ~ dimension.target
                ~ ' lacks, and `on_schema_change` is `fail`: drop it from the model, or choose `append_new_columns`') -%}
        {%- elif is_new and policy == 'ignore' and column.name | lower in compared -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is not stored, as `on_schema_change` is `ignore`, so it cannot stand '
                ~ 'in `overwrite_columns`, `sequence_by` or `inferred_member`: take it out there, or choose `append_new_columns`') -%}
        {%- elif is_new and policy == 'ignore' -%}
            {%- do exceptions.warn(model.name ~ ': the column `' ~ column.name ~ '` is not stored, as `on_schema_change` is `ignore`') -%}
        {%- else -%}
            {%- do kept.append(column) -%}
            {%- do added.append(column) if is_new -%}
            {%- do missing.append(column) if target_column is none -%}
        {%- endif -%}
        {%- if target_column is not none and target_column.data_type != column.data_type -%}
            {%- if policy == 'append_new_columns' and _widens(target_column.data_type, column.data_type) -%}
                {%- do widened.append(column) -%}
            {%- else -%}
                {%- do mistakes.append(
                    _differing_types(column.name, column.data_type, target_column.data_type, dimension.target)
                ) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set names = dimension.columns | map('lower') | list -%}
    {%- set vanished = [] -%}
    {%- for column in target_columns if column.name | lower not in names -%}
        {%- if policy == 'fail' -%}
            {%- do mistakes.append(dimension.target ~ ' holds the column `' ~ column.name ~ '`, which the model does not '
                ~ 'return, and `on_schema_change` is `fail`: return it, or choose `append_new_columns`') -%}
        {%- else -%}
            {%- do vanished.append(column) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set left_out = dimension.kept_columns | reject('in', kept) | list -%}
    {%- set tracked = dimension.tracked_columns | reject('in', left_out) | list -%}
    {%- do mistakes.extend(_changed_tracking(dimension, tracked, recorded, added, vanished)) -%}
    {%- do missing.append({'name': state_hash, 'data_type': 'bigint'}) if state_hash and state_hash | lower not in stored -%}
    {%- if not mistakes -%}
        {%- for column in vanished if column.name | lower in known -%}
            {%- do exceptions.warn(model.name ~ ': the model no longer returns the column `' ~ column.name ~ '`, which is null from now on') -%}
        {%- endfor -%}
        {%- set common = tracked | reject('in', added) | list -%}
        {%- set tracking_changed = fromjson(recorded.get('scd2.track_columns', tojson(_names(tracked)))) != _names(tracked) -%}
        {%- do dimension.update({
            'kept_columns': kept + vanished,
            'columns': _dimension_columns(dimension.settings.columns, kept + vanished),
            'tracked_columns': tracked,
            'common_columns': common,
            'stored_common_columns': _columns_by_name(common | map(attribute='name'), stored),
            'tracking_changed': tracking_changed,
            'missing': missing,
            'filled': added | select('in', tracked) | list,
            'refilled': added | select('in', dimension.overwrite_columns) | list,
            'vanished': vanished,
            'widened': widened,
            'is_amended': tracking_changed or added != [] or widened != [],
            'knows_state_hash': state_hash and state_hash | lower in stored and recorded.get('scd2.state_hash') == state_hash,
        }) -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The added columns are there from the first load on, but for the state hash, which may be added later. #}
{% macro _wrong_added_columns(dimension, stored) %}
    {%- set mistakes = [] -%}
    {%- set state_hash = dimension.settings.columns.state_hash -%}
    {%- set kept = dimension.kept_columns | map(attribute='name') | list -%}
    {%- for column in dimension.columns if column not in kept + [state_hash] and column | lower not in stored -%}
        {%- do mistakes.append(dimension.target ~ ' lacks the column `' ~ column
            ~ '`, which the materialization keeps: rename its old column, or name that one in `scd2_columns`') -%}
    {%- endfor -%}
    {%- set type = stored[state_hash | lower].data_type if state_hash and state_hash | lower in stored -%}
    {%- if type and type != 'bigint' -%}
        {%- do mistakes.append('the column `' ~ state_hash ~ '` of ' ~ dimension.target ~ ' is ' ~ type
            ~ ', and a state hash is bigint: give it another name in `scd2_columns`') -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# A column may come to be tracked as it is added, and cease to be as it vanishes; any other change would make versions
   that were never compared. #}
{% macro _changed_tracking(dimension, tracked, recorded, added, vanished) %}
    {%- set now = _names(tracked) -%}
    {%- set before = fromjson(recorded.get('scd2.track_columns', tojson(now))) -%}
    {%- set unexplained = now | reject('in', before + _names(added)) | list
        + before | reject('in', now + _names(vanished)) | list -%}
    {%- if unexplained -%}
        {{- return(['`track_columns` was `' ~ _listed(before, separator=',') ~ '` when ' ~ dimension.target ~ ' was built and is `'
            ~ _listed(now, separator=',') ~ '` now, which its history cannot follow (it differs in '
            ~ _listed(unexplained) ~ '): go back, or rebuild it']) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}


{% macro _names(columns) %}
    {{- return(columns | map(attribute='name') | map('lower') | sort | list) -}}
{% endmacro %}


{# Delta widens more, such as int to double; these keep every value and every hash as they are. #}
{% macro _widens(from_type, to_type) %}
    {%- set whole = ['tinyint', 'smallint', 'int', 'bigint'] -%}
    {%- if from_type == 'void' -%}
        {#- What earlier versions of this project took for an ignored or overwritten column holds no value. -#}
        {{- return(true) -}}
    {%- elif from_type in whole and to_type in whole -%}
        {{- return(whole.index(from_type) < whole.index(to_type)) -}}
    {%- elif [from_type, to_type] == ['float', 'double'] -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set before = modules.re.fullmatch('decimal\\((\\d+),(\\d+)\\)', from_type) -%}
    {%- set after = modules.re.fullmatch('decimal\\((\\d+),(\\d+)\\)', to_type) -%}
    {%- if not before or not after -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set more_scale = after.group(2) | int - before.group(2) | int -%}
    {%- set more_digits = after.group(1) | int - before.group(1) | int -%}
    {{- return(more_scale >= 0 and more_digits >= more_scale) -}}
{% endmacro %}


{# The statements that give the table its new columns and types. #}
{% macro _alter_statements(dimension) %}
    {%- set statements = _add_columns_statements(dimension.target, dimension.missing)
        + _lengthen_statements(dimension.target, dimension.bound_in_target) -%}
    {%- if dimension.widened -%}
        {%- do statements.append('alter table ' ~ dimension.target ~ " set tblproperties ('delta.enableTypeWidening' = 'true')") -%}
    {%- endif -%}
    {%- for column in dimension.widened -%}
        {%- do statements.append('alter table ' ~ dimension.target ~ ' alter column ' ~ _backticked(column.name) ~ ' type '
            ~ column.data_type) -%}
    {%- endfor -%}
    {{- return(statements) -}}
{% endmacro %}
