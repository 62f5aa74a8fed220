{# The keys that complete extracts change, by a short hash: neither live and the same in all extracts, nor gone before. Keys
   that share a hash are laid out without need, but not left out: the state of a row has its key in it. #}
{% macro scd2_concerned_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set moments = dimension.moments -%}
    {%- set first = _timestamp_literal(moments | first) -%}
    {%- set is_one = moments | length == 1 -%}
with live as (
    select
        {{ _short_hash(dimension.key_columns) }} as key_hash,
        {{ _stored_state_hash(dimension) if settings.columns.state_hash else _state_hash(dimension) }} as state_hash
        {%- if not is_one %},
        _scd2_moment as moment
        {%- endif %}
    from {{ dimension.as_read }}
    {%- if not is_one %}
    lateral view explode(array(
        {%- for moment in moments %}
        {{ _timestamp_literal(moment) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )) as _scd2_moment
    {%- endif %}
    where {{ _is_live_sql(dimension) }}
),

given as (
    select
        _scd2_key_hash as key_hash,
        _scd2_state_hash as state_hash
        {%- if not is_one %},
        {{ _backticked(settings.columns.effective_from) }} as moment
        {%- endif %}
    from {{ dimension.rows }}
    where {{ _backticked(settings.columns.effective_from) }} {{ '=' if is_one else '>=' }} {{ first }}
)

select
    coalesce(given.key_hash, live.key_hash) as key_hash,
    {%- if not is_one %}
    coalesce(given.moment, live.moment) as moment,
    {%- endif %}
    live.key_hash is null as is_new,
    given.key_hash is null as is_gone,
    given.state_hash
from given
{{ 'left' if settings.hard_deletes == 'ignore' else 'full' }} join live
    on
        given.key_hash = live.key_hash
        {%- if not is_one %}
        and given.moment = live.moment
        {%- endif %}
where not (given.state_hash <=> live.state_hash)
{% endmacro %}


{# 64 bits that tell rows apart at a glance. The hash of Spark passes over nulls, also within a value of several parts. #}
{% macro _short_hash(columns, alias=none, first=none) %}
    {%- set parts = [first] | select | list -%}
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


{# The short hash of what tells whether a row is as it was. It begins with what the columns are, so that one that is stored is equal to
   none over other columns. #}
{% macro _state_hash(dimension) %}
    {%- set columns = dimension.tracked_columns + dimension.key_columns -%}
    {%- set names_and_types = [] -%}
    {%- for column in columns -%}
        {%- do names_and_types.append(column.name | lower ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {{- return(_short_hash(columns, first=_sql_string(local_md5(names_and_types | join(','))[:8]))) -}}
{% endmacro %}


{# The one that the table keeps. What loads without it left there says nothing. #}
{% macro _stored_state_hash(dimension) %}
    {{- return(_backticked(dimension.settings.columns.state_hash) if dimension.knows_state_hash else 'cast(null as bigint)') -}}
{% endmacro %}


{# Whether most keys may be left out at a glance: the rows are complete extracts, and nothing but them changes a version. #}
{% macro _leaves_out_unchanged_keys(dimension) %}
    {{- return(dimension.exists and dimension.moments != [] and _touches_current_only(dimension)) -}}
{% endmacro %}


{# Whether the same glance tells if an extract gives a key twice: every row, and every live version, is accounted for. #}
{% macro _accounts_for_all_rows(dimension) %}
    {{- return(_leaves_out_unchanged_keys(dimension) and dimension.settings.hard_deletes != 'ignore') -}}
{% endmacro %}
