{# One message for each column that Delta cannot store, or whose type (`void`) fits no later
   value. #}
{% macro unstorable_types(columns) %}
    {%- set mistakes = [] -%}
    {%- for column in columns -%}
        {%- set type = column.data_type -%}
        {%- if type == 'void' -%}
            {%- do mistakes.append('the column `' ~ column.name
                ~ '` has no type: cast it in the model, for example to string') -%}
        {%- elif modules.re.search('[<:,]void($|[>,])', type) -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` has a part that has no type ('
                ~ delta_scd2.shown_text(type) ~ '): cast it in the model, for example to '
                ~ delta_scd2.shown_text(modules.re.sub(
                    '([<:,])void\\b(?!:)', '\\1string', type
                ))) -%}
        {%- elif modules.re.search('\\bcollate \\w', type) -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is '
                ~ delta_scd2.shown_text(type) ~ ', and Delta stores no collation: cast '
                ~ 'it in the model to '
                ~ delta_scd2.shown_text(modules.re.sub(' collate \\w+', '', type))) -%}
        {%- elif modules.re.search(
            '(^|[<:,])(interval|geometry|geography|time)($|[ >,(])', type
        ) -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is '
                ~ delta_scd2.shown_text(type) ~ ', which Delta does not store: cast it in the '
                ~ 'model to a type that it stores, such as string') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The table feature that Delta requires for these column types. Delta does not enable it on an
   existing table when a column is added or the table is replaced. #}
{% macro feature_properties(columns) %}
    {%- set features = {} -%}
    {%- for type, feature in delta_scd2.types_with_features().items() -%}
        {%- for column in columns
            if modules.re.search('(^|[<:,])' ~ type ~ '($|[>,])', column.data_type) -%}
            {%- do features.update({'delta.feature.' ~ feature: 'supported'}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(features) -}}
{% endmacro %}


{% macro types_with_features() %}
    {{- return({'timestamp_ntz': 'timestampNtz', 'variant': 'variantType'}) -}}
{% endmacro %}
