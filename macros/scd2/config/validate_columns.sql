{% macro _validate_columns(settings, source_columns) %}
    {%- set mistakes = [] -%}
    {%- set names = source_columns | map(attribute='name') | map('lower') | list -%}
    {%- set times = delta_scd2.as_list(settings.effective_at) | map('lower') | list -%}
    {%- set options = [
        'unique_key', 'effective_at', 'sequence_by', 'change_type', 'track_columns',
        'overwrite_columns', 'ignore_columns', 'inferred_member',
    ] -%}
    {%- set roles_of = {} -%}
    {%- for option in options -%}
        {%- for column in delta_scd2.as_list(settings[option]) -%}
            {%- do roles_of.setdefault(column | lower, []).append('`' ~ option ~ '`') -%}
            {%- do mistakes.append('`' ~ option ~ '` names the column `' ~ column
                ~ '`, which the model does not return: '
                ~ delta_scd2._column_that_was_meant(column, names))
                if column | lower not in names -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for column, roles in roles_of.items() if roles | length > 1 -%}
        {%- do mistakes.append('the column `' ~ column ~ '` stands in ' ~ roles | join(' and in ')
            ~ ': keep it in one') -%}
    {%- endfor -%}
    {%- set added = (settings.columns.values() | select | list) | map('lower') | list -%}
    {%- for option in options if option != 'effective_at' -%}
        {%- for column in delta_scd2.as_list(settings[option]) if column | lower in added -%}
            {%- do mistakes.append('`' ~ option ~ '` names the column `' ~ column
                ~ '`, which the materialization fills: name columns of your own') -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for column in source_columns
        if column.name | lower in delta_scd2.as_list(settings.inferred_member) | map('lower')
            and column.data_type != 'boolean' -%}
        {%- do mistakes.append('`inferred_member` names the column `' ~ column.name ~ '` of type '
            ~ delta_scd2.shown_text(column.data_type) ~ ', expected a boolean') -%}
    {%- endfor -%}
    {%- do mistakes.extend(delta_scd2._validate_columns_to_fill(settings, names, roles_of)) -%}
    {%- do mistakes.extend(delta_scd2._validate_compared(settings, source_columns, roles_of)) -%}
    {%- for column in source_columns if delta_scd2.is_reserved_name(column.name) -%}
        {%- do mistakes.append('the column `' ~ column.name
            ~ '` has a reserved name (`_scd2_…` or `_metadata`): rename it') -%}
    {%- endfor -%}
    {%- for role, name in settings.columns.items()
        if role not in ['durable_key', 'hash_diff'] and name -%}
        {%- if name | lower in names
            and not (role == 'effective_from' and name | lower in times) -%}
            {%- do mistakes.append('the model returns the column `' ~ name
                ~ '`, which the materialization adds as its ' ~ role
                ~ ': rename or drop it in the model, or choose another name with '
                ~ '`scd2_columns`') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for column in source_columns if column.name | lower in times
        and column.data_type not in ['date', 'timestamp', 'timestamp_ntz'] -%}
        {%- do mistakes.append('`effective_at` names the column `' ~ column.name ~ '` of type '
            ~ delta_scd2.shown_text(column.data_type)
            ~ ', expected a date or timestamp: cast it in the model') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# A placeholder takes the value of an earlier event, which opens another version only in a column
   that is tracked. #}
{% macro _validate_columns_to_fill(settings, names, roles_of) %}
    {%- set mistakes = [] -%}
    {%- for column in settings.unavailable_columns -%}
        {%- set roles = roles_of.get(column | lower, []) | reject('equalto', '`track_columns`') | list -%}
        {%- if column | lower not in names -%}
            {%- do mistakes.append('`unavailable_columns` names the column `' ~ column
                ~ '`, which the model does not return: '
                ~ delta_scd2._column_that_was_meant(column, names)) -%}
        {%- elif roles or (settings.track_columns
            and column | lower not in settings.track_columns | map('lower')) -%}
            {%- do mistakes.append('`unavailable_columns` names the column `' ~ column
                ~ '`, which is not tracked' ~ (' but stands in ' ~ roles | join(' and in ') if roles)
                ~ ': track it, or leave it out') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The columns whose values a load compares must be of a type that can be compared. #}
{% macro _validate_compared(settings, source_columns, roles_of) %}
    {%- set mistakes = [] -%}
    {%- set keys = settings.unique_key | map('lower') | list -%}
    {%- set others = (settings.overwrite_columns + settings.sequence_by) | map('lower') | list -%}
    {%- set variants = delta_scd2.variant_columns(source_columns) -%}
    {%- for column in source_columns
        if column.name | lower in keys + others
            and ('map<' in column.data_type or column in variants) -%}
        {%- set remedy = 'name other columns' if column.name | lower in keys
            else 'ignore it or cast it in the model' if column in variants
            else 'track or ignore it' -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` of type '
            ~ delta_scd2.shown_text(column.data_type) ~ ' stands in '
            ~ roles_of[column.name | lower] | first ~ ', and '
            ~ ('variants' if column in variants else 'maps')
            ~ ' cannot be compared: ' ~ remedy) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _column_that_was_meant(column, names) %}
    {%- set parts = column.split(',') | map('trim') | list -%}
    {%- if parts | map('lower') | reject('in', names) | list == [] -%}
        {{- return("write several columns as a list, `['" ~ parts | join("', '") ~ "']`") -}}
    {%- endif -%}
    {%- set near = delta_scd2.closest_match(column, names) -%}
    {{- return('did you mean `' ~ near ~ '`?' if near
        else 'it returns ' ~ delta_scd2.listed(names)) -}}
{% endmacro %}
