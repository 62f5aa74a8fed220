{# Sorts the model's columns into keys (in the order of `unique_key`), compared and kept ones, and names all columns of
   the dimension in their order. #}
{% macro scd2_columns(settings, source_columns) %}
    {%- set names = settings.columns -%}
    {%- set added = (names.values() | select | list + _as_list(settings.effective_at)) | map('lower') | list -%}
    {%- set tracked = settings.track_columns | map('lower') | list -%}
    {%- set untracked = (settings.unique_key + settings.ignore_columns) | map('lower') | list -%}
    {%- set by_name = {} -%}
    {%- set kept_columns = [] -%}
    {%- set tracked_columns = [] -%}
    {%- for column in source_columns -%}
        {%- set name = column.name | lower -%}
        {%- do by_name.update({name: column}) -%}
        {%- if name not in added -%}
            {%- do kept_columns.append(column) -%}
            {%- if name not in untracked and (not tracked or name in tracked) -%}
                {%- do tracked_columns.append(column) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set key_columns = [] -%}
    {%- for key in settings.unique_key -%}
        {%- do key_columns.append(by_name[key | lower]) -%}
    {%- endfor -%}
    {%- set columns = [names.surrogate_key, names.durable_key] + kept_columns | map(attribute='name') | list + [
        names.hash_diff, names.effective_from, names.effective_to, names.is_current, names.is_deleted,
    ] -%}
    {{- return({
        'key_columns': key_columns,
        'tracked_columns': tracked_columns | sort(attribute='name'),
        'kept_columns': kept_columns,
        'columns': columns | select | list,
    }) -}}
{% endmacro %}


{% macro _columns_of(relation) %}
    {%- set columns = [] -%}
    {%- for row in run_query('describe query select * from ' ~ relation) -%}
        {%- do columns.append({'name': row['col_name'], 'data_type': row['data_type']}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{% macro _wrong_target(existing) %}
    {%- if existing.is_view -%}
        {{- return(['a view named ' ~ existing ~ ' is in the way: drop or rename it']) -}}
    {%- elif not existing.is_delta -%}
        {{- return(['the table ' ~ existing ~ ' is not a Delta table: convert it (`convert to delta`) or drop it']) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}


{% macro _changed_columns(dimension, target_columns) %}
    {%- set mistakes = [] -%}
    {%- set target_types = {} -%}
    {%- for column in target_columns -%}
        {%- do target_types.update({column.name | lower: column.data_type}) -%}
    {%- endfor -%}
    {%- set kept = dimension.kept_columns | map(attribute='name') | map('lower') | list -%}
    {%- for column in dimension.columns if column | lower not in target_types -%}
        {%- if column | lower in kept -%}
            {%- do mistakes.append('the model returns the column `' ~ column ~ '`, which ' ~ dimension.target
                ~ ' lacks: drop it from the model, or name it in `ignore_columns` and add it with `alter table '
                ~ dimension.target ~ ' add columns`') -%}
        {%- else -%}
            {%- do mistakes.append(dimension.target ~ ' lacks the column `' ~ column
                ~ '`, which the materialization keeps: rename its old column, or name that one in `scd2_columns`') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for column in target_columns if column.name | lower not in dimension.columns | map('lower') -%}
        {%- do mistakes.append(dimension.target ~ ' holds the column `' ~ column.name
            ~ '`, which the model does not return: return it (null where unknown), or drop it from the table') -%}
    {%- endfor -%}
    {%- for column in dimension.kept_columns -%}
        {%- set target_type = target_types.get(column.name | lower, column.data_type) -%}
        {%- if target_type != column.data_type -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is ' ~ column.data_type ~ ' in the model and '
                ~ target_type ~ ' in ' ~ dimension.target ~ ': cast it in the model') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
