{% macro as_of_join(fact, dimension, at_column, keys=none, alias=none, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set settings = delta_scd2._dimension_settings(dimension, options) -%}
    {%- set surrogate_key = settings.columns.surrogate_key -%}
    {%- if not surrogate_key -%}
        {%- do exceptions.raise_compiler_error('as_of_join: ' ~ dimension
            ~ ' has no surrogate key to look up, because of `surrogate_key: none`') -%}
    {%- endif -%}
    {%- set conditions = [] -%}
    {%- for fact_column, key in delta_scd2._joined_keys(dimension, settings, keys).items() -%}
        {%- do conditions.append('fact.' ~ delta_scd2.backticked(fact_column) ~ ' = dimension.'
            ~ delta_scd2.backticked(key)) -%}
    {%- endfor -%}
    {%- do conditions.extend(delta_scd2._valid_at(
        settings, 'fact.' ~ delta_scd2.backticked(at_column), 'dimension'
    )) -%}
    {%- set found = 'dimension.' ~ delta_scd2.backticked(surrogate_key) -%}
select
    fact.*,
    {{ 'coalesce(' ~ found ~ ', ' ~ delta_scd2.unknown_member_key(settings) ~ ')'
        if settings.unknown_member else found -}}
    {{ ' as ' ~ delta_scd2.backticked(alias or surrogate_key) }}
from {{ fact }} as fact
left join {{ delta_scd2._all_versions(dimension) }} as dimension
    on
        {{ conditions | join('\n        and ') }}
{%- endmacro %}


{# Maps fact columns to key columns. The whole business key is required: a join on part of it would
   multiply facts. #}
{% macro _joined_keys(dimension, settings, keys) %}
    {%- set joined = {} -%}
    {%- if keys is mapping -%}
        {%- do joined.update(keys) -%}
    {%- else -%}
        {%- for key in delta_scd2.as_list(keys) or settings.unique_key -%}
            {%- do joined.update({key: key}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set named = joined.values() | map('lower') | sort | list -%}
    {%- if not named or named != settings.unique_key | map('lower') | sort | list -%}
        {%- do exceptions.raise_compiler_error('as_of_join: the columns joined must be the whole '
            ~ 'business key of ' ~ dimension ~ ', `unique_key` (' ~ settings.unique_key | join(', ')
            ~ '), but are (' ~ joined.values() | join(', ')
            ~ '): give `keys` as a mapping of fact column to key column') -%}
    {%- endif -%}
    {{- return(joined) -}}
{% endmacro %}
