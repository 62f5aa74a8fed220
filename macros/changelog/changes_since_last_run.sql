{# The changes of a Delta table since the version up to which this model has read it; at first,
   the table itself. #}
{% macro changes_since_last_run(relation, latest_by=none) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- elif delta_scd2._query_is_absent(relation) -%}
        {{- return('select * from ' ~ relation.render()) -}}
    {%- endif -%}
    {%- if not delta_scd2.scd2_config(model).follows_feed -%}
        {%- do delta_scd2.raise_refusal(
            'a model that calls `changes_since_last_run` needs `_commit_version` as `sequence_by`, '
                ~ 'which tells up to which version it has read the table',
            "configure `source_kind='changelog'`, `effective_at='_commit_timestamp'` and "
                ~ "`sequence_by='_commit_version'`"
        ) -%}
    {%- endif -%}
    {%- set feed = delta_scd2.cdf_source(relation, delta_scd2.as_list(config.get('unique_key'))) -%}
    {%- set feed = dict(feed, latest_by=delta_scd2._latest_by(feed, delta_scd2.as_list(latest_by))) -%}
    {%- set newest = delta_scd2.newest_commits(feed.name, 1)[0] -%}
    {%- set consumed = delta_scd2._consumed() -%}
    {#- A history that was not read from this feed is brought to the table as it is. -#}
    {%- set is_new_to_feed = consumed is not none and consumed.version is none -%}
    {%- set is_asked_to = consumed is not none and var('scd2_catch_up', false) -%}
    {%- set catches_up = is_new_to_feed or is_asked_to -%}
    {%- set is_other_table = consumed is not none
        and delta_scd2._query_is_other_table(feed, newest, consumed) -%}
    {%- if is_other_table and not delta_scd2.is_partial_run() -%}
        {%- do delta_scd2._check_age_of_other_table(feed, newest, consumed) if catches_up
            else delta_scd2._raise_other_table(feed, consumed) -%}
    {%- endif -%}
    {%- set committed_at = delta_scd2.committed_micros(newest) -%}
    {%- set feed = dict(
        feed,
        catches_up=catches_up,
        stored_names=delta_scd2.lower_names(delta_scd2.columns_of(this)) if catches_up else [],
        is_read_whole=consumed is none or is_other_table,
        first=0 if consumed is none or is_other_table else consumed.version + 1,
        last=newest['version'] | int,
        last_time=delta_scd2.timestamp_literal(committed_at),
        end_marker=delta_scd2.cdf_end_marker(
            newest['version'], delta_scd2.utc_text(committed_at)
        ),
        remedy=delta_scd2._cdf_unavailable_remedy(),
    ) -%}
    {%- if flags.EMPTY or not feed.key_names
        or (feed.first > feed.last and not feed.is_read_whole) -%}
        {{- return(delta_scd2._no_changes_sql(feed)) -}}
    {%- endif -%}
    {%- set feed = dict(feed, is_read_whole=delta_scd2._query_is_unreadable(feed))
        if catches_up and not feed.is_read_whole else feed -%}
    {%- do delta_scd2._check_missing_keys(feed) if is_new_to_feed and not is_asked_to -%}
    {%- do delta_scd2._check_planned_read(feed) if not feed.is_read_whole -%}
    {%- do delta_scd2._check_rows_at_odds(feed) -%}
    {{- return(delta_scd2._changes_sql(feed)) -}}
{% endmacro %}


{# The columns that tell which of several rows of a key counts; what orders the events of one
   version orders its rows too. #}
{% macro _latest_by(feed, given) %}
    {%- set names = feed.columns | map(attribute='name') | map('lower') | list -%}
    {%- for name in given -%}
        {%- set near = delta_scd2.closest_match(name, names) -%}
        {%- if name | lower not in names -%}
            {%- do delta_scd2.raise_refusal(
                '`latest_by` names the column `' ~ name ~ '`, which ' ~ feed.name ~ ' lacks',
                'did you mean `' ~ near ~ '`?' if near else 'name one of its columns'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set ordering = given
        or (delta_scd2.as_list(config.get('sequence_by')) | map('lower') | select('in', names) | list) -%}
    {%- for column in feed.columns
        if column.name | lower in ordering | map('lower') and 'map<' in column.data_type -%}
        {%- do delta_scd2.raise_refusal(
            '`latest_by` names the column `' ~ column.name ~ '` of type ' ~ column.data_type
                ~ ', and maps have no order',
            'name other columns'
        ) -%}
    {%- endfor -%}
    {{- return(ordering) -}}
{% endmacro %}


{% macro _no_changes_sql(feed) %}
{{ feed.end_marker }}
select
    {{ delta_scd2.column_list(feed.columns) }},
    'insert' as _change_type,
    {{ feed.last }}L as _commit_version,
    {{ feed.last_time }} as _commit_timestamp
from {{ feed.name }}
where false
{% endmacro %}


{# What each version made of the keys that it touched: the row that is left of a key, or one that
   is gone where none is left. #}
{% macro _changes_sql(feed) %}
{{ feed.end_marker }}
{{ delta_scd2._states_of_keys_sql(feed) }}

select
    {{ delta_scd2.column_list(feed.columns) }},
    if(_change_rows > 0, 'insert', 'delete') as _change_type,
    _change_version as _commit_version,
    _change_time as _commit_timestamp
from states
where
    _change_rank = 1
    {%- if not feed.is_read_whole %}
    and _change_version >= {{ feed.first }}
    {%- elif feed.catches_up %}
union all
{{ delta_scd2._missing_keys_sql(feed) }}
    {%- endif %}
{% endmacro %}


{# The live keys of the dimension that the table lacks, as deletions of its newest version. #}
{% macro _missing_keys_sql(feed) -%}
    {%- set settings = delta_scd2.scd2_config(model) -%}
    {%- set table = feed.name ~ ' version as of ' ~ feed.last -%}
    {%- set sequence = settings.sequence_by | map('lower') | list -%}
    {%- set told = (settings.unique_key | map('lower') | list + sequence) | select('in', feed.stored_names) | list -%}
select
    {%- for column in feed.columns %}
    {%- set name = delta_scd2.backticked(column.name) %}
    {%- set value = 'live.' ~ name if column.name | lower in told else 'null' %}
    {%- if column.name | lower in sequence -%}
        {#- A version may be older than the column. -#}
        {%- set value = 'coalesce(' ~ value ~ ', (select max(' ~ name ~ ') from ' ~ table ~ '))' %}
    {%- endif %}
    cast({{ value }} as {{ column.data_type }}) as {{ name }},
    {%- endfor %}
    'delete' as _change_type,
    {{ feed.last }}L as _commit_version,
    {{ feed.last_time }} as _commit_timestamp
from {{ this }} as live
left anti join {{ table }} as latest
    on {{ delta_scd2.same_key_sql(feed.key_names, 'live', 'latest') }}
where
    {{ delta_scd2._is_live_key_sql(feed, settings) | indent(4) }}
{%- endmacro %}


{% macro _is_live_key_sql(feed, settings) -%}
live.{{ delta_scd2.is_current_sql(settings) }}
and live.{{ delta_scd2.is_not_deleted_sql(settings) }}
and not ({{ delta_scd2.any_is_null_sql(feed.key_columns) }})
{%- if settings.inferred_member and settings.inferred_member | lower in feed.stored_names %}
and not {{ delta_scd2.is_inferred_sql(settings) }}
{%- endif %}
{%- endmacro %}


{# How many keys are live, and how many of them the table lacks. #}
{% macro _missing_counts_sql(feed) %}
select
    (
        select count(*)
        from {{ this }} as live
        where
            {{ delta_scd2._is_live_key_sql(feed, delta_scd2.scd2_config(model)) | indent(12) }}
    ) as live,
    (
        select count(*)
        from (
            {{ delta_scd2._missing_keys_sql(feed) | indent(12) }}
        )
    ) as missing
{% endmacro %}
