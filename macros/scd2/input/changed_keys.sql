{# Most rows of a full extract are unchanged. If reading the model twice is cheap, its rows are
   not staged: their hashes find the changed keys, and only the rows of these keys are fetched. #}

{# The keys that full extracts change, as short hashes. A hash collision can add an unchanged
   key but never hide a changed one, because the state hash includes the key. #}
{% macro changed_keys_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set extract_times = load.pending_extracts -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set first = delta_scd2.timestamp_literal(extract_times | first) -%}
    {%- set is_one = extract_times | length == 1 -%}
with live as (
    select
        {{ delta_scd2.short_hash(load.key_columns) }} as key_hash,
        {{ delta_scd2.stored_state_hash(load) }} as state_hash
        {%- if not is_one %},
        _scd2_extract_time as extract_time
        {%- endif %}
    from {{ load.target_as_read }}
    {%- if not is_one %}
    lateral view explode(array(
        {%- for extract_time in extract_times %}
        {{ delta_scd2.timestamp_literal(extract_time) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )) as _scd2_extract_time
    {%- endif %}
    where {{ delta_scd2.is_live_sql(load) }}
),

source_rows as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash
        {%- if not is_one %},
        {{ effective_from }} as extract_time
        {%- endif %}
    from {{ load.staged_rows }}
    where {{ effective_from }} {{ '=' if is_one else '>=' }} {{ first }}
)

select
    coalesce(source_rows.key_hash, live.key_hash) as key_hash,
    {%- if not is_one %}
    coalesce(source_rows.extract_time, live.extract_time) as extract_time,
    {%- endif %}
    live.key_hash is null as is_new,
    source_rows.key_hash is null as is_gone,
    source_rows.state_hash
from source_rows
{{ 'left' if settings.ignores_deletes else 'full' }} join live
    on
        source_rows.key_hash = live.key_hash
        {%- if not is_one %}
        and source_rows.extract_time = live.extract_time
        {%- endif %}
where
    not (source_rows.state_hash <=> live.state_hash)
    -- of a key that is gone, both may be null
    or source_rows.key_hash is null
{% endmacro %}


{# Whether finding the changed keys first is possible and worth two more statements: every row can
   be accounted for, and there are many keys. #}
{% macro _may_be_read_twice(load) %}
    {%- set settings = load.settings -%}
    {%- set fewest = delta_scd2.read_twice_from() -%}
    {{- return(load.exists and delta_scd2.changes_current_versions_only(load)
        and not settings.ignores_deletes and not settings.merges_by_three_clauses
        and load.target_state['live'] >= fewest) -}}
{% endmacro %}


{% macro stage_changed_keys(load) %}
    {%- do delta_scd2.stage_table(load.changed_keys, delta_scd2.changed_keys_sql(load)) -%}
    {%- set counts = run_query(delta_scd2._changed_key_counts_sql(load)).rows[0] -%}
    {{- return(dict(load, changed_key_counts=delta_scd2.numbers_of(counts))) -}}
{% endmacro %}


{% macro _changed_key_counts_sql(load) %}
select
    count(*) as changed,
    count_if(is_new) as new_rows,
    count_if(is_gone) as gone,
    {%- set row = 'extract_time, key_hash' if load.pending_extracts | length > 1 else 'key_hash' %}
    count_if(is_new) - count(distinct {{ row }}) filter (where is_new) as new_twice,
    {{ delta_scd2.sum_of_rows('state_hash') }} as source_checksum
from {{ load.changed_keys }}
{% endmacro %}


{# A checksum of rows, independent of their order. #}
{% macro sum_of_rows(state_hash) -%}
concat(count({{ state_hash }}), ' rows, hashes ', coalesce(sum(cast({{ state_hash }} as decimal(20, 0))), 0))
{%- endmacro %}
