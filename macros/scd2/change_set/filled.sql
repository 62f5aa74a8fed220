{# A placeholder of Debezium takes the value that the events of its key before it have. So does the
   version that such an event opened: a late event may change the value that it was given. #}
{% macro _filled_sql(load, history) %}
    {%- set hash_diff = delta_scd2.backticked(load.settings.columns.hash_diff) -%}
    {%- set names = delta_scd2.backticked_names(load.unavailable_columns | map(attribute='name')) -%}
    {%- set order = ['_scd2_at'] + delta_scd2.backticked_names(load.sequence_columns | map(attribute='name')) -%}
    {%- set lacking = [] -%}
    {%- for _ in names -%}
        {%- do lacking.append('_scd2_known_' ~ loop.index) -%}
    {%- endfor -%}
known_values as (
    select
        *,
        {%- for column in load.unavailable_columns %}
        if(
            {{ delta_scd2._is_unknown_sql(load, column) | indent(12) }},
            null,
            struct({{ delta_scd2.backticked(column.name) }} as value)
        ) as _scd2_known_{{ loop.index }}{{ ',' if not loop.last }}
        {%- endfor %}
    from states
    {%- if load.has_event_log %}
    window same_moment as (partition by {{ history }}, _scd2_at)
    {%- endif %}
),

filled_values as (
    select
        * except ({{ (names + lacking) | join(', ') }}),
        {%- for name in names %}
        coalesce(
            last_value(_scd2_known_{{ loop.index }}) ignore nulls over so_far,
            struct({{ name }} as value)
        ).value as {{ name }},
        {%- endfor %}
        {{ lacking | join(' is null or ') }} is null as _scd2_is_filled_in
    from known_values
    window so_far as (partition by {{ history }} order by {{ order | join(', ') }})
),

filled as (
    select
        * except ({{ hash_diff }}, _scd2_is_filled_in),
        if(
            _scd2_is_filled_in,
            {{ delta_scd2.hash_of(load.tracked_columns) | indent(12) }},
            {{ hash_diff }}
        ) as {{ hash_diff }}
    from filled_values
),

{% endmacro %}


{# Whether a state does not know the value of a column. What a version has in a new column is no
   value of its time. #}
{% macro _is_unknown_sql(load, column) %}
    {%- set settings = load.settings -%}
    {%- set is_placeholder = delta_scd2.is_unavailable_sql(
        delta_scd2.backticked(column.name), settings.unavailable_value
    ) -%}
    {%- set reasons = ['_scd2_is_gone', is_placeholder] -%}
    {%- do reasons.insert(1, delta_scd2.is_inferred_sql(settings)) if settings.inferred_member -%}
    {%- if column in load.added_columns -%}
        {%- do reasons.append('_scd2_stored is not null') -%}
    {%- elif load.has_event_log -%}
        {%- do reasons.append('(\n    _scd2_stored is not null\n    and max('
            ~ is_placeholder | indent(4) ~ ') over same_moment\n)') -%}
    {%- endif -%}
    {{- return(reasons | join('\nor ')) -}}
{% endmacro %}
