{# Sorts the model's columns into keys (in the order of `unique_key`), compared and kept ones, and names all columns of
   the dimension in their order. A column that is stored under another name than the model gives it has that one as `given`. #}
{% macro scd2_columns(settings, source_columns) %}
    {%- set names = settings.columns -%}
    {%- set unstored = (
        names.values() | select | list + _as_list(settings.effective_at) + _as_list(settings.change_type)
    ) | map('lower') | list -%}
    {%- set tracked = settings.track_columns | map('lower') | list -%}
    {%- set untracked = (
        settings.unique_key + settings.ignore_columns + settings.overwrite_columns + settings.sequence_by
        + _as_list(settings.inferred_member)
    ) | map('lower') | list -%}
    {%- set by_name = {} -%}
    {%- set kept_columns = [] -%}
    {%- set tracked_columns = [] -%}
    {%- for source_column in source_columns -%}
        {%- set name = _given_name(settings, source_column.name) | lower -%}
        {%- set column = source_column -%}
        {%- if source_column.name | lower in settings.stored_as -%}
            {%- set column = dict(source_column, name=_stored_name(settings, source_column.name), given=source_column.name) -%}
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
        'key_columns': _columns_by_name(settings.unique_key, by_name),
        'overwrite_columns': _columns_by_name(settings.overwrite_columns, by_name),
        'sequence_columns': _columns_by_name(settings.sequence_by, by_name),
        'tracked_columns': tracked_columns | sort(attribute='name'),
        'kept_columns': kept_columns,
        'columns': _dimension_columns(names, kept_columns),
    }) -}}
{% endmacro %}


{# The columns of the model that have a name under which another one is stored. #}
{% macro _columns_in_the_way(dimension) %}
    {%- set mistakes = [] -%}
    {%- set names = _names(dimension.kept_columns) -%}
    {%- for column in dimension.kept_columns if column.given and names.count(column.name | lower) > 1 -%}
        {%- do mistakes.append('the model returns the column `' ~ column.name ~ '`, the name under which its `' ~ column.given
            ~ '` is stored: rename or drop it in the model') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _columns_by_name(names, by_name) %}
    {%- set columns = [] -%}
    {%- for name in names -%}
        {%- do columns.append(by_name[name | lower]) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{% macro _dimension_columns(names, kept_columns) %}
    {%- set columns = [names.surrogate_key, names.durable_key] + kept_columns | map(attribute='name') | list + [
        names.hash_diff, names.state_hash, names.effective_from, names.effective_to, names.is_current, names.is_deleted,
    ] -%}
    {{- return(columns | select | list) -}}
{% endmacro %}


{% macro _columns_of(relation) %}
    {#- Spark would leave out what a struct has beyond 25 fields. -#}
    {%- do run_query('set spark.sql.debug.maxToStringFields = 10000') -%}
    {%- set columns = [] -%}
    {%- for row in run_query('describe query select * from ' ~ relation) -%}
        {%- do columns.append({'name': row['col_name'], 'data_type': _quoted_fields(row['data_type'])}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# Of a query with two columns of one name Spark makes no view, and says no more than that. #}
{% macro _refuse_repeated_columns(query) %}
    {%- set names = run_query('describe query ' ~ query | trim).columns['col_name'].values() | map('lower') | list -%}
    {%- set repeated = [] -%}
    {%- for name in names | unique if names.count(name) > 1 -%}
        {%- do repeated.append(name) -%}
    {%- endfor -%}
    {%- if repeated -%}
        {%- do _refuse(
            'the model returns more than one column named `' ~ _listed(repeated, separator='`, `') ~ '`',
            'name its columns and leave one of them out, or give it another name; `join … using (id)` returns the key once'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# A type with the names of its fields as SQL reads them: `describe` prints all of them bare. #}
{% macro _quoted_fields(type) %}
    {%- if 'struct<' not in type -%}
        {{- return(type) -}}
    {%- endif -%}
    {%- set parsed = _parsed_type(type) -%}
    {%- set arguments = [] -%}
    {%- for argument in parsed.arguments -%}
        {%- if parsed.name == 'struct' -%}
            {%- set field = _parsed_field(argument) -%}
            {%- set is_plain = modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', field.name) -%}
            {%- do arguments.append((field.name if is_plain else _backticked(field.name)) ~ ':' ~ _quoted_fields(field.type)) -%}
        {%- else -%}
            {%- do arguments.append(_quoted_fields(argument)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(parsed.name ~ '<' ~ arguments | join(',') ~ '>' if parsed.name else type) -}}
{% endmacro %}
