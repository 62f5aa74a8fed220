{# What the generic tests need to know of a dimension, as SQL: the configuration of the tested model, where it is one of
   the scd2 materialization, overlaid with the arguments of the test. #}
{% macro _tested_dimension(model, arguments) %}
    {%- if not execute -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set settings = scd2_settings(scd2_node(model)) -%}
    {%- set names = settings.columns -%}
    {%- for name, value in arguments.items() if value is not none -%}
        {%- if name in names -%}
            {%- do names.update({name: value}) -%}
        {%- else -%}
            {%- do settings.update({name: _as_list(value) if name in ['unique_key', 'track_columns'] else value}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not settings.unique_key -%}
        {%- do exceptions.raise_compiler_error(
            'A test on ' ~ model ~ ' does not know the business key: give it the argument `unique_key`'
        ) -%}
    {%- endif -%}
    {%- set tracked = settings.track_columns -%}
    {%- if 'track_columns' in arguments and not tracked -%}
        {%- set columns = _columns_of(model) -%}
        {%- do _keep_stored_names(settings, _names(columns)) -%}
        {%- set tracked = scd2_columns(settings, columns).tracked_columns | map(attribute='name') | list -%}
    {%- endif -%}
    {{- return({
        'key_columns': _quoted(settings.unique_key) | join(', '),
        'tracked': _quoted(tracked) | join(', '),
        'effective_from': _backticked(names.effective_from),
        'effective_to': _backticked(names.effective_to),
        'is_current': _backticked(names.is_current),
        'is_deleted': _backticked(names.is_deleted),
        'yes': _flag_literal(settings, true),
        'no': _flag_literal(settings, false),
        'is_open': _backticked(names.effective_to) ~ ' is null'
            ~ (' or ' ~ _is_open_sql(settings) if settings.open_end is not none else ''),
        'next_closing': _closing_sql(settings, '_scd2_next_from'),
        'hard_deletes': settings.hard_deletes,
    }) -}}
{% endmacro %}


{# Every version beside the beginning of the next one of its key. #}
{% macro _neighbours_sql(dimension, model) %}
    select
        *,
        lead({{ dimension.effective_from }}) over (
            partition by {{ dimension.key_columns }}
            order by {{ dimension.effective_from }}, {{ dimension.effective_to }} nulls last
        ) as _scd2_next_from
    from {{ model }}
{%- endmacro %}


{% macro _quoted(names) %}
    {%- set quoted = [] -%}
    {%- for name in names -%}
        {%- do quoted.append(_backticked(name)) -%}
    {%- endfor -%}
    {{- return(quoted) -}}
{% endmacro %}
