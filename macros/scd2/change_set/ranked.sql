{% macro _ranked_sql(load) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.durable_key) -%}
    {%- set overwritten = delta_scd2._struct(load.overwrite_columns) -%}
    {%- set tells_newest = delta_scd2._tells_newest(load) -%}
    {%- set departed = (['_scd2_departed'] if delta_scd2._keeps_apart(load) else [])
        + delta_scd2.backticked_columns(load.dropped_columns) %}

-- one event per key and time: the last one, which replaces a version that started then
ranked as (
    select
        {%- if load.exists %}
        * except ({{ (['_scd2_stored'] + departed) | join(', ') }}),
        {%- for name in departed %}
        {{ '-- a row that replaces a version says nothing of columns that left the model\n        ' if loop.first }}
        {{- 'first_value(' ~ name ~ ') ignore nulls over same_state as ' ~ name }},
        {%- endfor %}
        max(_scd2_stored) over same_time as _scd2_stored,
        count(_scd2_stored) over same_time as _scd2_copies,
        {%- if tells_newest %}
        -- a stored version has the newest values; its event has those of its time
        coalesce(
            first_value(if(_scd2_stored is null, {{ overwritten }}, null)) ignore nulls over same_event,
            {{ overwritten }}
        ) as _scd2_overwritten,
        {%- endif %}
        {%- else %}
        *,
        {%- endif %}
        row_number() over (
            partition by {{ key }}, _scd2_at
            order by
                {{ delta_scd2._last_first_sql(load) | indent(16) }}
        ) as _scd2_rank
    from events
    {%- if load.exists %}
    window
        same_time as (partition by {{ key }}, _scd2_at)
        {%- if departed %},
        same_state as (partition by {{ key }}, _scd2_at, _scd2_is_gone)
        {%- endif %}
        {%- if tells_newest %},
        same_event as (
            partition by {{ ([key, '_scd2_at', '_scd2_is_gone']
                + delta_scd2.backticked_columns(load.sequence_columns)) | join(', ') }}
            rows between unbounded preceding and unbounded following
        )
        {%- endif %}
    {%- endif %}
),
{%- endmacro %}


{# The order of the events of a key at one time. #}
{% macro _last_first_sql(load) %}
    {%- set order = (['_scd2_is_replaced'] if load.rebuild_from else [])
        + delta_scd2._descending(load.sequence_columns) + ['_scd2_is_gone', '_scd2_stored is null'] -%}
    {%- do order.append('_scd2_is_remembered desc') if delta_scd2._tells_remembered(load) -%}
    {%- do order.append('-- of different inferred rows of a key, the same one in every run\n'
        ~ delta_scd2.backticked(load.settings.columns.hash_diff)) if load.settings.inferred_member -%}
    {{- return(order | join(',\n')) -}}
{% endmacro %}


{# Whether a key can have several events at one time. #}
{% macro _is_ranked(load) %}
    {{- return(delta_scd2.may_change_history(load) or load.settings.inferred_member is not none) -}}
{% endmacro %}


{# Whether the values of overwritten columns at a time can differ from those in its stored version,
   which are the newest. #}
{% macro _tells_newest(load) %}
    {{- return(delta_scd2._is_ranked(load) and load.exists and load.overwrite_columns != []) -}}
{% endmacro %}


{% macro _descending(columns) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append(delta_scd2.backticked(column.name) ~ ' desc') -%}
    {%- endfor -%}
    {{- return(quoted) -}}
{% endmacro %}
