{% macro scd1_config(node) %}
    {%- set config = node.config -%}
    {{- return(dict({
        'unique_key': delta_scd2.as_list(config.get('unique_key')),
        'change_type': delta_scd2.option_or_default(config, 'change_type', '_change_type'),
        'change_ordinal': delta_scd2.option_or_default(config, 'change_ordinal', '_change_ordinal'),
    }, **delta_scd2.unavailable_options(config))) -}}
{% endmacro %}


{% macro validate_copy_config(node, copy) %}
    {%- set mistakes = delta_scd2.validate_written_options(node, [
        'unique_key', 'change_type', 'change_ordinal', 'unavailable_columns', 'unavailable_value',
    ]) -%}
    {%- do mistakes.extend(delta_scd2.validate_tblproperties(node.config)) -%}
    {%- set misnamed = delta_scd2.validate_single_columns(node.config, ['change_type', 'change_ordinal']) -%}
    {%- if misnamed -%}
        {{- return(mistakes + misnamed) -}}
    {%- endif -%}
    {%- if node.config.get('file_format') != 'delta' -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'file_format', node.config.get('file_format'), 'delta'
        )) -%}
    {%- endif -%}
    {{- return(mistakes + delta_scd2.validate_changelog(copy)
        + delta_scd2._validate_change_ordinal(node, copy)) -}}
{% endmacro %}


{# Without an ordinal a copy would take older changes for newer ones, so that one that was named must
   be there. #}
{% macro _validate_change_ordinal(node, copy) %}
    {%- set name = node.config.get('change_ordinal') -%}
    {%- if name is none or copy.ordinal is not none -%}
        {{- return([]) -}}
    {%- endif -%}
    {%- set near = delta_scd2.closest_match(name, copy.kept_columns | map(attribute='name') | map('lower') | list) -%}
    {{- return([
        '`change_ordinal` names the column `' ~ name ~ '`, which the changelog does not hold: '
            ~ ('did you mean `' ~ near ~ '`?' if near else 'add it to the model, or leave the option out')
    ]) -}}
{% endmacro %}
