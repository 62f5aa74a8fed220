{# Most rows of a complete extract are as they were. Where it costs little to read the model
   twice, they are not staged: the hashes tell which keys changed, and only their rows are
   fetched. #}

{# The keys that complete extracts change, by a short hash: neither live and the same in all
   extracts, nor gone before. Keys that share a hash are laid out without need, but not left out:
   the state of a row has its key in it. #}
{% macro changed_keys_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set extract_times = load.pending_extracts -%}
    {%- set first = timestamp_literal(extract_times | first) -%}
    {%- set is_one = extract_times | length == 1 -%}
with live as (
    select
        {{ short_hash(load.key_columns) }} as key_hash,
        {{ stored_state_hash(load) if settings.columns.state_hash else state_hash_sql(load) }} as state_hash
        {%- if not is_one %},
        _scd2_extract_time as extract_time
        {%- endif %}
    from {{ load.target_as_read }}
    {%- if not is_one %}
    lateral view explode(array(
        {%- for extract_time in extract_times %}
        {{ timestamp_literal(extract_time) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )) as _scd2_extract_time
    {%- endif %}
    where {{ is_live_sql(load) }}
),

source_rows as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash
        {%- if not is_one %},
        {{ backticked(settings.columns.effective_from) }} as extract_time
        {%- endif %}
    from {{ load.staged_rows }}
    where {{ backticked(settings.columns.effective_from) }} {{ '=' if is_one else '>=' }} {{ first }}
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
where not (source_rows.state_hash <=> live.state_hash)
{% endmacro %}


{# Whether that may do, and is worth its two statements more: every row is accounted for, and the
   keys are many. #}
{% macro _should_prune_before_staging(load) %}
    {%- set settings = load.settings -%}
    {{- return(load.exists and changes_current_versions_only(load) and not settings.ignores_deletes
        and not settings.merges_by_three_clauses and load.target_state['live'] >= var('scd2_read_twice_from', 1000000) | int(1000000)) -}}
{% endmacro %}


{% macro stage_changed_keys(load) %}
    {%- do stage_table(load.changed_keys, changed_keys_sql(load)) -%}
    {{- return(dict(load, changed_key_counts=run_query(_changed_key_counts_sql(load)).rows[0])) -}}
{% endmacro %}


{# How many keys changed, and how. #}
{% macro _changed_key_counts_sql(load) %}
select
    count(*) as changed,
    count_if(is_new) as new_rows,
    count_if(is_gone) as gone,
    {%- set row = 'extract_time, key_hash' if load.pending_extracts | length > 1 else 'key_hash' %}
    count_if(is_new) - count(distinct {{ row }}) filter (where is_new) as new_twice,
    {{ sum_of_rows('state_hash') }} as source_checksum
from {{ load.changed_keys }}
{% endmacro %}


{# What tells rows apart from others, in whatever order they come. #}
{% macro sum_of_rows(state_hash) -%}
concat(count({{ state_hash }}), ' rows, hashes ', coalesce(sum(cast({{ state_hash }} as decimal(20, 0))), 0))
{%- endmacro %}
