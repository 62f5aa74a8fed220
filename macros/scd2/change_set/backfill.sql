{# The values that the rows of the model have in columns new to the table, by key and time. #}
{% macro _backfill_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set key = delta_scd2.backticked(settings.columns.durable_key) -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set columns = delta_scd2.columns_in_line(load.backfilled_columns + load.overwritten_new_columns) -%}
    {%- set hash = delta_scd2.hash_of(load.common_columns) | indent(12) -%}
    {%- set new_and_unavailable = load.unavailable_columns | select('in', load.backfilled_columns) | list -%}
    {%- set backfill_row = 'struct(' ~ columns ~ ', ' ~ hash ~ ' as _scd2_common_hash)' -%}
backfill as (
    select
        {{ key }},
        {{ effective_from }} as backfill_at,
        {{ 'max_by' if load.sequence_columns else 'any_value' }}(
            {{ backfill_row }}
            {%- if load.sequence_columns %},
            {{ delta_scd2._struct(load.sequence_columns) }}
            {%- endif %}
        ) as backfill_row
    from {{ load.hashed_rows }}
        {%- if settings.inferred_member or settings.change_type %}
    where {{ delta_scd2._is_real_row_sql(settings) }}
        {%- endif %}
        {%- if new_and_unavailable %}
        and not {{ delta_scd2.has_unavailable_value_sql(load, new_and_unavailable) | indent(8) }}
        {%- endif %}
    group by {{ key }}, {{ effective_from }}
),

{% endmacro %}


{# For each stored version, the first value of a new tracked column. The values that come after a
   deletion in this load are those of another version: a key that the first of several extracts
   lacks was deleted. #}
{% macro _first_backfill_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set has_deletions = settings.change_type and not settings.ignores_deletes -%}
    {%- set names = settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set effective_from = delta_scd2.backticked(names.effective_from) -%}
    {%- set effective_to = 'target.' ~ delta_scd2.backticked(names.effective_to) -%}
first_backfill as (
    select
        target.{{ key }},
        target.{{ effective_from }},
        min_by(backfill.backfill_row, backfill.backfill_at) as backfill_row
    from {{ load.target_as_read }} as target
    inner join backfill
        on
            target.{{ key }} = backfill.{{ key }}
            and target.{{ effective_from }} <= backfill.backfill_at
        {%- if has_deletions %}
    left join {{ load.hashed_rows }} as deletion
        on
            target.{{ key }} = deletion.{{ key }}
            and target.{{ effective_from }} <= deletion.{{ effective_from }}
            and backfill.backfill_at > deletion.{{ effective_from }}
            and deletion._scd2_is_gone
        {%- endif %}
    where
        {%- if settings.reads_extracts %}
        target.{{ delta_scd2.is_current_sql(settings) }}
        {%- if load.pending_extracts | length > 1 %}
        and backfill.backfill_at <= {{ delta_scd2.timestamp_literal(load.pending_extracts | first) }}
        {%- endif %}
        {%- else %}
        (
            target.{{ delta_scd2.is_open_sql(settings) }}
            or backfill.backfill_at < {{ delta_scd2.end_of_sql(settings, effective_to) }}
        )
        {%- endif %}
        {%- if settings.reads_extracts or settings.keeps_tombstones %}
        and target.{{ delta_scd2.is_not_deleted_sql(settings) }}
        {%- endif %}
        {%- if has_deletions %}
        and deletion.{{ key }} is null
        {%- endif %}
    group by target.{{ key }}, target.{{ effective_from }}
),

{% endmacro %}


{# For each key, the newest value of a new overwritten (type 1) column. #}
{% macro _newest_backfill_sql(load) %}
    {%- set key = delta_scd2.backticked(load.settings.columns.durable_key) -%}
newest_backfill as (
    select
        {{ key }},
        max_by(backfill_row, backfill_at) as backfill_row
    from backfill
    group by {{ key }}
),

{% endmacro %}
