{% macro as_list(value) %}
    {%- if value is none -%}
        {{- return([]) -}}
    {%- elif value is string or value is not iterable -%}
        {{- return([value | string]) -}}
    {%- endif -%}
    {{- return(value | map('string') | list) -}}
{% endmacro %}


{# Any other value becomes an empty mapping; validation reports it together with all other
   mistakes. #}
{% macro as_mapping(value) %}
    {{- return(value if value is mapping else {}) -}}
{% endmacro %}


{# dbt does not distinguish an option that is missing from one that is null. #}
{% macro option_or_default(config, option, default) %}
    {%- set value = config.get(option) -%}
    {{- return(default if value is none else value) -}}
{% endmacro %}


{# The candidate of the same letters, or else the most similar one by Dice's coefficient on letter
   pairs; none if none is similar enough. #}
{% macro closest_match(word, candidates) %}
    {%- set best = namespace(candidate=none, score=0.35) -%}
    {%- set pairs = delta_scd2._letter_pairs(word) -%}
    {%- for candidate in candidates -%}
        {%- set others = delta_scd2._letter_pairs(candidate) -%}
        {%- set shared = pairs | select('in', others) | list | length -%}
        {%- set score = 1 if word | lower | sort == candidate | lower | sort
            else 2 * shared / ([pairs | length + others | length, 1] | max) -%}
        {%- if score > best.score -%}
            {%- set best.candidate = candidate -%}
            {%- set best.score = score -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(best.candidate) -}}
{% endmacro %}


{% macro _letter_pairs(word) %}
    {%- set letters = word | lower -%}
    {%- set pairs = [] -%}
    {%- for i in range(letters | length - 1) -%}
        {%- do pairs.append(letters[i:i + 2]) -%}
    {%- endfor -%}
    {{- return(pairs) -}}
{% endmacro %}


{% macro any_is_null_sql(columns) %}
    {%- for column in columns -%}
        {{ delta_scd2.backticked(column.name) }} is null{{ ' or ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}


{# Whether a column has no value: of a struct, when no field has one. #}
{% macro any_has_no_value_sql(columns) %}
    {%- set conditions = [] -%}
    {%- for column in columns -%}
        {%- do conditions.append(delta_scd2._has_no_value_sql(
            delta_scd2.backticked(column.name), column.data_type
        )) -%}
    {%- endfor -%}
    {{- return(conditions | join(' or ')) -}}
{% endmacro %}


{% macro _has_no_value_sql(value, data_type) %}
    {%- set parsed = delta_scd2.parsed_type(data_type) -%}
    {%- if parsed.name != 'struct' -%}
        {{- return(value ~ ' is null') -}}
    {%- endif -%}
    {%- set conditions = [] -%}
    {%- for argument in parsed.arguments -%}
        {%- set field = delta_scd2.parsed_field(argument) -%}
        {%- do conditions.append(delta_scd2._has_no_value_sql(
            value ~ '.' ~ delta_scd2.backticked(field.name), field.type
        )) -%}
    {%- endfor -%}
    {{- return('(' ~ conditions | join(' and ') ~ ')') -}}
{% endmacro %}


{# Joins the first `most` items and appends the number of the rest. #}
{% macro listed(items, most=10, separator=', ') %}
    {%- set more = items | length - most -%}
    {{- return(items[:most] | join(separator)
        ~ (separator ~ 'and ' ~ more ~ ' more' if more > 0 else '')) -}}
{% endmacro %}
