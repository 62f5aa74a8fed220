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
    {%- set ignored = delta_scd2.ignored_values_sql(load) if delta_scd2.has_ignored_columns(load) else none -%}
with claims as (
    {{- delta_scd2._claims_of_states_sql(load, claim, ignored, load.hashed_rows, is_stored=false) }}
    {%- if load.has_usable_events %}
    union all
    {{- delta_scd2._claims_of_states_sql(load, claim, ignored, load.stored_events_of_batch, is_stored=true) }}
    {%- endif %}
    {%- if load.exists and not load.sequence_columns | select('in', load.missing_columns) | list %}
    union all
    {{- delta_scd2._claims_of_versions_sql(load, claim, ignored) }}
    {%- endif %}
)

select distinct min(_scd2_business_key) as business_key
from claims
group by {{ key }}, {{ effective_from }}{{ ', ' ~ order if order }}
having
    not min(_scd2_is_stored)
    and (
        count(distinct _scd2_state) filter (where not _scd2_is_gone) > 1
        {%- if load.schema_changed %}
        or count(distinct _scd2_source_state) filter (where not _scd2_is_gone) > 1
        {%- endif %}
        or count(distinct _scd2_overwritten) filter (where not _scd2_is_gone) > 1
        {%- for _ in delta_scd2._columns_that_returned(load) %}
        or count(distinct _scd2_returned_{{ loop.index }}) filter (where not _scd2_is_gone) > 1
        {%- endfor %}
        {%- for _ in load.unavailable_columns %}
        {{- delta_scd2._has_rival_values_sql('_scd2_known_' ~ loop.index) }}
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
