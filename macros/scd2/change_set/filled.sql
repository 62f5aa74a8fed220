{# A placeholder of Debezium takes the value that the events of its key before it have. So does the
   version that such an event opened: a late event may change the value that it was given. #}
{% macro _filled_sql(load, history) %}
    {%- set hash_diff = delta_scd2.backticked(load.settings.columns.hash_diff) -%}
    {%- set names = delta_scd2.backticked_columns(load.unavailable_columns) -%}
    {%- set moment = ['_scd2_at'] + delta_scd2.backticked_columns(load.sequence_columns) -%}
    {%- set anew = delta_scd2._completes_anew(load) -%}
    {%- set lacking = [] -%}
    {%- for _ in names -%}
        {%- do lacking.append('_scd2_lacks_' ~ loop.index) -%}
    {%- endfor -%}
lacking_states as (
    select
        *,
        {%- for name in names %}
        {{ delta_scd2._lacks_value_sql(load, name) | indent(8) }} as _scd2_lacks_{{ loop.index }}
        {{- ',' if not loop.last or anew }}
        {%- endfor %}
        {%- if anew %}
        -- a completed inferred row has the values of a later event
        {{ delta_scd2._is_completed_sql(load, history) | indent(8) }} as _scd2_is_completed
        {%- endif %}
    from states
    {%- if load.has_usable_events %}
    window
        same_moment as (partition by {{ ([history] + moment) | join(', ') }})
        {%- if anew %},
        in_order as (
            {{ delta_scd2._in_order_sql(load, history) | indent(12) }}
        )
        {%- endif %}
    {%- endif %}
),

filled_states as (
    select
        * except ({{ (names + lacking) | join(', ') }}),
        {%- for name in names %}
        {%- set lacks = '_scd2_lacks_' ~ loop.index %}
        {{ delta_scd2.last_known_value_sql(
            name, lacks, delta_scd2._is_no_source_sql(load, name, lacks)
        ) | indent(8) }},
        {%- endfor %}
        {{ lacking | join(' or ') }} as _scd2_is_filled_in
    from lacking_states
    window so_far as (partition by {{ history }} order by {{ moment | join(', ') }})
),

filled as (
    select
        * except ({{ hash_diff }}, _scd2_is_filled_in),
        if(
            _scd2_is_filled_in,
            {{ delta_scd2.hash_of(load.tracked_columns) | indent(12) }},
            {{ hash_diff }}
        ) as {{ hash_diff }}
    from filled_states
),

{% endmacro %}


{# Whether a state is, or was opened by, an event with a placeholder. #}
{% macro _lacks_value_sql(load, name) %}
    {%- set is_placeholder = delta_scd2.is_unavailable_sql(name, load.settings.unavailable_value) -%}
    {%- if not load.has_usable_events -%}
        {{- return('coalesce(' ~ is_placeholder ~ ', false)') -}}
    {%- endif -%}
    {{- return('coalesce(\n    ' ~ is_placeholder | indent(4)
        ~ '\n    or (_scd2_stored is not null and max(' ~ is_placeholder | indent(4)
        ~ ') over same_moment),\n    false\n)') -}}
{% endmacro %}


{# Whether later events cannot take the value of a state. A version without its event may have a null
   because its column came later. #}
{% macro _is_no_source_sql(load, name, lacks) %}
    {%- set conditions = [lacks, '_scd2_is_gone'] -%}
    {%- do conditions.append(delta_scd2.is_inferred_sql(load.settings)) if load.settings.inferred_member -%}
    {%- do conditions.append('_scd2_is_completed') if delta_scd2._completes_anew(load) -%}
    {%- do conditions.append('(_scd2_stored is not null and ' ~ name ~ ' is null)') if load.exists -%}
    {{- return(conditions | join('\nor ')) -}}
{% endmacro %}
