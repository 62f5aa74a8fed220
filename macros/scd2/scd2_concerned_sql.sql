{# The keys that complete extracts change, by a short hash: neither live and the same in all extracts, nor gone before. Keys
   that share a hash are laid out without need, but never left out: the state of a row has its key in it, hashed otherwise. #}
{% macro scd2_concerned_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set watches = settings.hard_deletes != 'ignore' -%}
with {{ _stored_sql(dimension) -}}
compared as (
    select
        {{ _short_hash(dimension.key_columns) }} as key_hash,
        {{ _short_hash(dimension.tracked_columns + dimension.key_columns) }} as state_hash,
        if({{ _backticked(names.is_deleted) }} = {{ _flag_literal(settings, true) }}, 0, 1) as live_versions,
        0 as given_rows
    from stored
    union all
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash,
        0 as live_versions,
        1 as given_rows
    from {{ dimension.rows }}
    where {{ _backticked(names.effective_from) }} >= {{ _timestamp_literal(dimension.moments | first) }}
)

select key_hash
from compared
group by key_hash
having
    not (
        sum(live_versions) = 1
        {%- if watches %}
        and sum(given_rows) = {{ dimension.moments | length }}
        {%- endif %}
        and min(state_hash) = max(state_hash)
    )
    and not (
        sum(given_rows) = 0
        {%- if watches %}
        and sum(live_versions) = 0
        {%- endif %}
    )
{% endmacro %}


{# 64 bits that tell rows apart at a glance. The hash of Spark passes over nulls, also within a value of several parts. #}
{% macro _short_hash(columns, alias=none) %}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- set value = (alias ~ '.' if alias else '') ~ _backticked(column.name) -%}
        {%- if modules.re.match('(array|map|struct|variant)', column.data_type) -%}
            {%- do parts.append(_hash_of([column], alias)) -%}
        {%- else -%}
            {%- do parts.extend([value, value ~ ' is null']) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return('xxhash64(' ~ parts | join(', ') ~ ')') -}}
{% endmacro %}


{# Whether most keys may be left out at a glance: the rows are complete extracts, and nothing but them changes a version. #}
{% macro _leaves_out_unchanged_keys(dimension) %}
    {{- return(dimension.exists and dimension.moments != [] and _touches_current_only(dimension)) -}}
{% endmacro %}
