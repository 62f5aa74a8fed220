{# An inferred row (of `inferred_member`) takes the values of the first real row of its key; one for
   a key that already exists is dropped. #}
{% macro _completed_sql(load, history, states) %}
    {%- set inferred = delta_scd2.is_inferred_sql(load.settings) -%}
    {%- set anew = delta_scd2._completes_anew(load) -%}
    {#- No row says anything of a column that left the model. -#}
    {%- set columns = delta_scd2.columns_of_model(load)
        + [{'name': load.settings.columns.hash_diff}] -%}
    {%- set is_real = delta_scd2._is_real_event_sql(load) -%}
    {%- set is_open = '(' ~ inferred ~ ' or _scd2_is_completed)' if anew else inferred -%}
    {#- A tombstone has the values of the version before it, and its own place in the sequence. -#}
    {%- set is_open = is_open ~ ' and not _scd2_is_gone' if load.settings.keeps_tombstones else is_open -%}
    {%- set real_row = 'if(' ~ is_real ~ (' and not _scd2_is_completed' if anew else '') ~ ', '
        ~ delta_scd2._struct(columns) ~ ', null)' -%}
    {#- Where placeholders in events were filled in, this is known. -#}
    {%- set finds_completed = anew and not load.unavailable_columns -%}
    {%- if finds_completed -%}
-- a completed inferred row has the values of the first event after it
marked_completed as (
    select
        *,
        {{ delta_scd2._is_completed_sql(load, history) | indent(8) }} as _scd2_is_completed
    from {{ states }}
    window in_order as (
        {{ delta_scd2._in_order_sql(load, history) | indent(8) }}
    )
),

{% endif -%}
with_real_row as (
    select
        *,
        max(_scd2_stored is not null or ({{ is_real }})) over (partition by {{ history }}) as _scd2_has_real_row,
        first_value({{ real_row }}) ignore nulls over in_order as _scd2_real
    from {{ 'marked_completed' if finds_completed else states }}
    window in_order as (
        {{ delta_scd2._in_order_sql(load, history) | indent(8) }}
    )
),

completed as (
    select
        * except ({{ delta_scd2.columns_in_line(columns) }}),
        {%- for column in columns %}
        {%- set name = delta_scd2.backticked(column.name) %}
        if({{ is_open }} and _scd2_real is not null, _scd2_real.{{ name }}, {{ name }}) as {{ name }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from with_real_row
    where not ({{ inferred }} and _scd2_has_real_row and _scd2_stored is null)
),

{% endmacro %}


{# Whether a stored version is an inferred row that the first remembered event completed. #}
{% macro _is_completed_sql(load, history) -%}
    {%- set hash_diff = delta_scd2.backticked(load.settings.columns.hash_diff) -%}
    {%- set real_hash = 'if(' ~ delta_scd2._is_real_event_sql(load) ~ ' and _scd2_is_remembered, '
        ~ hash_diff ~ ', null)' -%}
coalesce(
    _scd2_stored is not null
    and _scd2_at = {{ delta_scd2.beginning_of_time() }}
    and max({{ delta_scd2.is_inferred_sql(load.settings) }} and _scd2_is_remembered) over (partition by {{ history }})
    and {{ hash_diff }} = first_value({{ real_hash }}) ignore nulls over in_order,
    false
)
{%- endmacro %}


{# Whether a state is that of an event with all its values, and neither inferred nor a deletion. #}
{% macro _is_real_event_sql(load) %}
    {{- return('not ' ~ delta_scd2.is_inferred_sql(load.settings) ~ ' and not _scd2_is_gone'
        ~ (' and not ' ~ delta_scd2.has_unavailable_value_sql(load) if load.unavailable_columns else '')) -}}
{% endmacro %}


{# Whether a completed inferred row may get an earlier first event. #}
{% macro _completes_anew(load) %}
    {{- return(load.has_usable_events and load.settings.inferred_member is not none) -}}
{% endmacro %}


{# Among events with the same time, the last one counts, so it is sorted first. #}
{% macro _in_order_sql(load, history) -%}
partition by {{ history }}
order by {{ (['_scd2_at'] + delta_scd2._descending(load.sequence_columns)
    + (['_scd2_is_remembered desc'] if delta_scd2._tells_remembered(load) else [])) | join(', ') }}
rows between unbounded preceding and unbounded following
{%- endmacro %}
