{# The record of a copy of the current state, and of the changelog that feeds it, which has the
   columns. `ordinal` is the one that orders the changes, or none; `partitions` are as in the record
   of a load; `new_properties` are those that the load records; `has_rows` says whether the copy has
   rows before the load, `has_copies` whether the changelog has a change twice, and `remembers` and
   `has_ordinals` whether ordinals are to be stored, and are. #}
{% macro changelog_copy(target, changelog, columns, settings) %}
    {%- set key_names = settings.unique_key -%}
    {%- set change_type, change_ordinal = settings.change_type, settings.change_ordinal -%}
    {%- set added = [change_type | lower, change_ordinal | lower] -%}
    {%- set kept_columns = [] -%}
    {%- set by_name = delta_scd2.columns_by_lower_name(columns) -%}
    {%- for column in columns -%}
        {%- do kept_columns.append(column) if column.name | lower not in added -%}
    {%- endfor -%}
    {{- return(delta_scd2.with_kept_columns({
        'target': target,
        'changelog': changelog,
        'key_names': key_names,
        'key_columns': delta_scd2.columns_named(key_names),
        'has_change_type': added[0] in by_name,
        'change_type': delta_scd2.backticked(change_type),
        'change_ordinal': delta_scd2.backticked(change_ordinal),
        'ordinal': by_name.get(added[1]),
        'unavailable_columns': settings.unavailable_columns,
        'unavailable_value': settings.unavailable_value,
        'partitions': [],
        'new_properties': {},
        'has_rows': true,
        'has_copies': false,
        'remembers': false,
        'has_ordinals': false,
    }, kept_columns)) -}}
{% endmacro %}


{# A copy that keeps these columns. #}
{% macro with_kept_columns(copy, columns) %}
    {{- return(dict(
        copy,
        kept_columns=columns,
        other_columns=delta_scd2.columns_by_key(columns, copy.key_names).other_columns
    )) -}}
{% endmacro %}


{# The columns of the key apart from the others. #}
{% macro columns_by_key(columns, key_names) %}
    {%- set names = key_names | map('lower') | list -%}
    {%- set keys, others = [], [] -%}
    {%- for column in columns -%}
        {%- do (keys if column.name | lower in names else others).append(column) -%}
    {%- endfor -%}
    {{- return({'key_columns': keys, 'other_columns': others}) -}}
{% endmacro %}


{# What is wrong with the changelog of a copy; `keys_option` is where its keys are named. #}
{% macro validate_changelog(copy, keys_option='unique_key') %}
    {%- set mistakes = [] -%}
    {%- if not copy.key_names -%}
        {%- do mistakes.append('`' ~ keys_option ~ '` is missing: name the column or the list of '
            ~ 'columns of the key') -%}
    {%- endif -%}
    {%- set names = copy.kept_columns | map(attribute='name') | map('lower') | list -%}
    {%- for key in copy.key_names if key | lower not in names -%}
        {%- set near = delta_scd2.closest_match(key, names) -%}
        {%- do mistakes.append('`' ~ keys_option ~ '` names the column `' ~ key
            ~ '`, which the changelog does not hold'
            ~ (': did you mean `' ~ near ~ '`?' if near else '')) -%}
    {%- endfor -%}
    {%- for column in delta_scd2.variant_columns(copy.kept_columns) -%}
        {%- do mistakes.append('the changelog has the column '
            ~ delta_scd2.incomparable_column(column) ~ ': cast it to string in the model') -%}
    {%- endfor -%}
    {%- for column in delta_scd2.columns_by_key(copy.kept_columns, copy.key_names).key_columns
        if 'map<' in column.data_type -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` of type '
            ~ delta_scd2.shown_text(column.data_type) ~ ' stands in `' ~ keys_option
            ~ '`, and maps cannot be compared: name other columns') -%}
    {%- endfor -%}
    {%- do mistakes.extend(delta_scd2.unstorable_types(copy.kept_columns)) -%}
    {%- for column in delta_scd2._reserved(copy.kept_columns) -%}
        {%- do mistakes.append('the column `' ~ column.name
            ~ '` has a reserved name (`_change_…`): rename it in the model') -%}
    {%- endfor -%}
    {%- if not copy.has_change_type -%}
        {%- do mistakes.append('the changelog has no column ' ~ copy.change_type
            ~ ': add it to the model, or name the column with the kind of change in '
            ~ '`change_type`') -%}
    {%- endif -%}
    {{- return(mistakes + delta_scd2._validate_unavailable_columns(copy)) -}}
{% endmacro %}


{# A copy has the columns of its changelog. #}
{% macro validate_copy_columns(copy, target_columns) %}
    {%- set mistakes = [] -%}
    {%- set target_types = delta_scd2.types_by_name(target_columns) -%}
    {%- for column in copy.kept_columns -%}
        {%- set target_type = target_types.get(column.name | lower) -%}
        {%- if not target_type -%}
            {%- do mistakes.append('the changelog has the column `' ~ column.name ~ '`, which '
                ~ copy.target ~ ' lacks: add it with `'
                ~ delta_scd2.shown_text(
                    delta_scd2.add_columns_statements(copy.target, [column]) | join('; '),
                    most=500
                ) ~ '`, or drop it from the model') -%}
        {%- elif target_type != column.data_type -%}
            {%- do mistakes.append(delta_scd2.differing_types(
                column.name, column.data_type, target_type, copy.target, here='the changelog'
            )) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set kept = copy.kept_columns | map(attribute='name') | map('lower') | list -%}
    {%- for column in target_columns if column.name | lower not in kept -%}
        {%- do mistakes.append(copy.target ~ ' holds the column `' ~ column.name
            ~ '`, which the changelog lacks: return it (null where unknown), or drop it '
            ~ 'from the table') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
