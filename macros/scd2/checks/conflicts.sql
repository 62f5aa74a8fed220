{% macro check_conflicts(load) %}
    {%- set keys = delta_scd2.query_keys(delta_scd2._conflicts_sql(load)) -%}
    {%- if keys -%}
        {%- set settings = load.settings -%}
        {%- do delta_scd2.raise_refusal(
            'different rows of one key have the same `' ~ (settings.effective_at or settings.columns.effective_from)
                ~ '`: ' ~ keys ~ delta_scd2._differing_columns_text(load, load.hashed_rows),
            'keep one of them in the model, or name the column that orders them in `sequence_by`'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# The keys with two different rows, new or stored, at the same time, if nothing orders them. #}
{% macro _conflicts_sql(load) %}
    {%- set names = load.settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set effective_from = delta_scd2.backticked(names.effective_from) -%}
    {%- set order = delta_scd2.columns_in_line(load.sequence_columns) -%}
    {%- set claim -%}
        {{ key }},
        {{ effective_from }},
        {{ delta_scd2.key_text_sql(load) }} as _scd2_business_key,
        {%- if order %}
        {{ order }},
        {%- endif %}
    {%- endset -%}
    {%- set ignored = delta_scd2._ignored_values_sql(load) -%}
with claims as (
    {{- delta_scd2._claims_of_rows_sql(load, claim, ignored) }}
    {%- if load.has_event_log %}
    union all
    {{- delta_scd2._claims_of_events_sql(load, claim, ignored) }}
    {%- endif %}
    {%- if load.exists and not load.sequence_columns | select('in', load.added_columns) | list %}
    union all
    {{- delta_scd2._claims_of_versions_sql(load, claim, ignored) }}
    {%- endif %}
)

select distinct _scd2_business_key as business_key
from claims
group by {{ key }}, {{ effective_from }}, _scd2_business_key{{ ', ' ~ order if order }}
having
    not min(_scd2_is_stored)
    and (
        count(distinct _scd2_state) filter (where not _scd2_is_gone) > 1
        {%- if load.schema_changed %}
        or count(distinct _scd2_source_state) filter (where not _scd2_is_gone) > 1
        {%- endif %}
        or count(distinct _scd2_overwritten) filter (where not _scd2_is_gone) > 1
        {%- for _ in load.unavailable_columns %}
        or count(distinct _scd2_known_{{ loop.index }}) filter (where not _scd2_is_gone) > 1
        {%- endfor %}
        {%- if ignored %}
        or count(distinct _scd2_ignored) filter (where not _scd2_is_gone) > 1
        {%- endif %}
        -- a new deletion is an update in two parts beside a row of the same batch, and else says
        {{- ' that a version never began' }}
        or (
            max(_scd2_is_gone and not _scd2_is_stored)
            and max(_scd2_is_stored and not _scd2_is_gone)
            and not max(not _scd2_is_gone and not _scd2_is_stored)
            and not max(_scd2_is_gone and _scd2_is_stored)
        )
    )
order by business_key
limit 10
{% endmacro %}


{% macro _claims_of_rows_sql(load, claim, ignored) %}
    {%- set settings = load.settings -%}
    {%- set hash_diff = delta_scd2.backticked(settings.columns.hash_diff) %}
    select
        {{ claim }}
        {{ delta_scd2._claimed_state_sql(load, load.common_columns if load.schema_changed else none) | indent(8) }}
        {{- ' as _scd2_state' }},
        {{- delta_scd2._known_values_sql(load) }}
        {{ delta_scd2._overwritten_hash_sql(load) | indent(8) }} as _scd2_overwritten,
        {%- if ignored %}
        {{ ignored | indent(8) }} as _scd2_ignored,
        {%- endif %}
        {{ '_scd2_is_gone' if settings.change_type else 'false as _scd2_is_gone' }},
        {%- if load.schema_changed %}
        {{ delta_scd2._claimed_state_sql(load) | indent(8) }} as _scd2_source_state,
        {%- endif %}
        false as _scd2_is_stored
    from {{ load.hashed_rows }}
    where
        true
        {{- delta_scd2._claim_filters(load.settings) }}
{%- endmacro %}


{% macro _claims_of_events_sql(load, claim, ignored) %}
    {%- set hash_diff = delta_scd2.backticked(load.settings.columns.hash_diff) %}
    select
        {{ claim }}
        {{ delta_scd2._claimed_state_sql(load) | indent(8) }} as _scd2_state,
        {{- delta_scd2._known_values_sql(load) }}
        {{ delta_scd2._overwritten_hash_sql(load) | indent(8) }} as _scd2_overwritten,
        {%- if ignored %}
        -- an event may come again with another value there, such as the time at which it was read
        null as _scd2_ignored,
        {%- endif %}
        _scd2_is_gone,
        true as _scd2_is_stored
    from {{ load.stored_events_of_batch }}
    where
        true
        {{- delta_scd2._claim_filters(load.settings) }}
{%- endmacro %}


{% macro _claims_of_versions_sql(load, claim, ignored) %}
    {%- set settings = load.settings %}
    select
        {{ claim }}
        -- not the hash that is stored, which may be one of columns that are gone
        {{ delta_scd2._claimed_state_sql(load, load.stored_common_columns if load.schema_changed
            else load.tracked_columns) | indent(8) }} as _scd2_state,
        {%- for _ in load.unavailable_columns %}
        -- what is stored there may have been filled in
        null as _scd2_known_{{ loop.index }},
        {%- endfor %}
        -- what is stored there is the newest value of all, not the one of this time
        null as _scd2_overwritten,
        {%- if ignored %}
        null as _scd2_ignored,
        {%- endif %}
        {{ delta_scd2.is_deleted_sql(settings) if settings.keeps_tombstones else 'false' }} as _scd2_is_gone,
        {%- if load.schema_changed %}
        -- what the table says of its new columns is no claim yet
        null as _scd2_source_state,
        {%- endif %}
        true as _scd2_is_stored
    from {{ load.stored_of_batch }}
        {%- if delta_scd2.stores_placeholders(load) %}
    where not {{ delta_scd2.is_inferred_sql(settings) }}
        {%- endif %}
{%- endmacro %}


{# The hash of columns, by default of all tracked ones, but for those that may have a placeholder. #}
{% macro _claimed_state_sql(load, columns=none) %}
    {%- if columns is none and not load.unavailable_columns -%}
        {{- return(delta_scd2.backticked(load.settings.columns.hash_diff)) -}}
    {%- endif -%}
    {%- set unavailable = delta_scd2.lower_names(load.unavailable_columns) -%}
    {%- set claimed = [] -%}
    {%- for column in columns or load.tracked_columns if column.name | lower not in unavailable -%}
        {%- do claimed.append(column) -%}
    {%- endfor -%}
    {{- return(delta_scd2.hash_of(claimed) if claimed else "''") -}}
{% endmacro %}


{# The values of columns that may have a placeholder, which contradicts no value. #}
{% macro _known_values_sql(load) %}
    {%- for column in load.unavailable_columns %}
        if(
            {{ delta_scd2.is_unavailable_sql(
                delta_scd2.backticked(column.name), load.settings.unavailable_value
            ) | indent(12) }},
            null,
            {{ delta_scd2.hash_of([column]) | indent(12) }}
        ) as _scd2_known_{{ loop.index }},
    {%- endfor %}
{%- endmacro %}


{# The values of overwritten columns, which are not part of the hash. #}
{% macro _overwritten_hash_sql(load) %}
    {{- return(delta_scd2.hash_of(load.overwrite_columns) if load.overwrite_columns else 'null') -}}
{% endmacro %}


{# The values of columns that are not compared with other versions, or none if there are none. #}
{% macro _ignored_values_sql(load) %}
    {%- set columns = delta_scd2.comparable_columns_but(
        load, load.tracked_columns + load.overwrite_columns + load.sequence_columns
    ) -%}
    {%- set values = [delta_scd2.hash_of(columns)] if columns else [] -%}
    {%- for column in delta_scd2.variant_columns(load.kept_columns) -%}
        {%- do values.append('to_json(struct(' ~ delta_scd2.backticked(column.name) ~ '))') -%}
    {%- endfor -%}
    {{- return('struct(' ~ values | join(', ') ~ ')' if values | length > 1 else values | first) -}}
{% endmacro %}


{# Placeholders cannot conflict, nor can deletions that have no effect. #}
{% macro _claim_filters(settings) %}
        {%- if settings.inferred_member %}
        and not {{ delta_scd2.is_inferred_sql(settings) }}
        {%- endif %}
        {%- if settings.ignores_deletes and settings.change_type %}
        and not _scd2_is_gone
        {%- endif %}
{%- endmacro %}
