{% macro scd1_mistakes(node, settings, copy) %}
    {%- set mistakes = _option_mistakes(node, ['unique_key', 'change_type', 'change_ordinal']) -%}
    {%- if node.config.get('file_format') != 'delta' -%}
        {%- do mistakes.append(_wrong_value('file_format', node.config.get('file_format'), 'delta')) -%}
    {%- endif -%}
    {%- do mistakes.extend(_wrong_changelog(copy)) -%}
    {%- do mistakes.extend(_wrong_event_time(node, copy.kept_columns | map(attribute='name') | list)) -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _wrong_changelog(copy) %}
    {%- set mistakes = [] -%}
    {%- if not copy.key_names -%}
        {%- do mistakes.append('`unique_key` is missing: name the column or the list of columns of the key') -%}
    {%- endif -%}
    {%- set names = copy.kept_columns | map(attribute='name') | map('lower') | list -%}
    {%- for key in copy.key_names if key | lower not in names -%}
        {%- set near = _closest(key, names) -%}
        {%- do mistakes.append('`unique_key` names the column `' ~ key ~ '`, which the changelog does not hold'
            ~ (': did you mean `' ~ near ~ '`?' if near else '')) -%}
    {%- endfor -%}
    {%- for column in _variants(copy.kept_columns) -%}
        {%- do mistakes.append('the changelog has the column ' ~ _incomparable(column) ~ ': cast it to string in the model') -%}
    {%- endfor -%}
    {%- do mistakes.extend(_unstorable_types(copy.kept_columns)) -%}
    {%- for column in _reserved(copy.kept_columns) -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` has a reserved name (`_change_…`): rename it in the model') -%}
    {%- endfor -%}
    {%- if not copy.has_change_type -%}
        {%- do mistakes.append('the changelog has no column ' ~ copy.change_type
            ~ ': add it to the model, or name the column with the kind of change in `change_type`') -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# A copy has the columns of its changelog. #}
{% macro _changed_copy(copy, target_columns) %}
    {%- set mistakes = [] -%}
    {%- set target_types = {} -%}
    {%- for column in target_columns -%}
        {%- do target_types.update({column.name | lower: column.data_type}) -%}
    {%- endfor -%}
    {%- for column in copy.kept_columns -%}
        {%- set target_type = target_types.get(column.name | lower) -%}
        {%- if not target_type -%}
            {%- do mistakes.append('the changelog has the column `' ~ column.name ~ '`, which ' ~ copy.target ~ ' lacks: add it with `'
                ~ _shown_type(_add_columns_statements(copy.target, [column]) | join('; '), most=500) ~ '`, or drop it from the model') -%}
        {%- elif target_type != column.data_type -%}
            {%- do mistakes.append(_differing_types(column.name, column.data_type, target_type, copy.target, here='the changelog')) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set kept = copy.kept_columns | map(attribute='name') | map('lower') | list -%}
    {%- for column in target_columns if column.name | lower not in kept -%}
        {%- do mistakes.append(copy.target ~ ' holds the column `' ~ column.name ~ '`, which the changelog lacks: '
            ~ 'return it (null where unknown), or drop it from the table') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}
