{# Sorts columns by role and names all columns of the dimension in order. They are those of the
   model, or, if `are_stored`, those of the table. A column that is stored under another name has
   its `name_in_model`. #}
{% macro resolve_columns(settings, source_columns, are_stored=false) %}
    {%- set names = settings.columns -%}
    {%- set unstored = (names.values() | select | list + delta_scd2.as_list(settings.effective_at)
        + delta_scd2.as_list(settings.change_type)) | map('lower') | list -%}
    {%- set tracked = settings.track_columns | map('lower') | list -%}
    {%- set untracked = (settings.unique_key + settings.ignore_columns + settings.overwrite_columns
        + settings.sequence_by
        + delta_scd2.as_list(settings.inferred_member)) | map('lower') | list -%}
    {%- set by_name = {} -%}
    {%- set kept_columns = [] -%}
    {%- set tracked_columns = [] -%}
    {%- for source_column in source_columns -%}
        {%- set name = source_column.name | lower -%}
        {%- set name_of_feed = delta_scd2.name_in_model(settings, name) -%}
        {#- A name of the model's own is in an option, or stands where that of the feed is not stored. -#}
        {%- set name = name_of_feed
            if are_stored and name not in tracked + untracked and name_of_feed not in unstored else name -%}
        {%- set column = source_column -%}
        {%- if name != source_column.name | lower -%}
            {%- set column = dict(source_column, name_in_model=name) -%}
        {%- elif source_column.name | lower in settings.stored_as -%}
            {%- set column = dict(
                source_column,
                name=delta_scd2.stored_name(settings, source_column.name),
                name_in_model=source_column.name
            ) -%}
        {%- endif -%}
        {%- do by_name.update({name: column}) -%}
        {%- if name not in unstored -%}
            {%- do kept_columns.append(column) -%}
            {%- if name not in untracked and (not tracked or name in tracked) -%}
                {%- do tracked_columns.append(column) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({
        'key_columns': delta_scd2.columns_by_name(settings.unique_key, by_name),
        'overwrite_columns': delta_scd2.columns_by_name(settings.overwrite_columns, by_name),
        'sequence_columns': delta_scd2.columns_by_name(settings.sequence_by, by_name),
        'unavailable_columns': delta_scd2.columns_by_name(settings.unavailable_columns, by_name),
        'tracked_columns': tracked_columns | sort(attribute='name'),
        'kept_columns': kept_columns,
        'columns': delta_scd2.dimension_columns(names, kept_columns),
    }) -}}
{% endmacro %}


{# The names of all columns of a dimension: its keys, what the model returns, and the rest. #}
{% macro dimension_columns(names, kept_columns) %}
    {%- set added = [] -%}
    {%- for role in delta_scd2.default_column_names() -%}
        {%- do added.append(names[role]) -%}
    {%- endfor -%}
    {{- return((added[:2] + kept_columns | map(attribute='name') | list
        + added[2:]) | select | list) -}}
{% endmacro %}


{# Reports columns of the model whose name is already used to store a renamed column. #}
{% macro columns_in_the_way(load) %}
    {%- set mistakes = [] -%}
    {%- set names = delta_scd2.lower_names(load.kept_columns) -%}
    {%- for column in load.kept_columns if column.name_in_model and names.count(column.name | lower) > 1 -%}
        {%- do mistakes.append('the model returns the column `' ~ column.name
            ~ '`, the name under which its `' ~ column.name_in_model
            ~ '` is stored: rename or drop it in the model') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
