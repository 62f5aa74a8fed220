{# The changes of a Delta table since the version up to which this model has read it; at first, the table itself. #}
{% macro changes_since_last_run(relation) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set feed = _feed(relation, []) -%}
    {%- set newest = run_query('describe history ' ~ feed.name ~ ' limit 1').rows[0] -%}
    {%- set consumed = _consumed_version() -%}
    {%- if consumed is none -%}
        {{- return(_table_as_changes_sql(feed, newest)) -}}
    {%- elif newest['version'] < consumed -%}
        {%- do _refuse(
            feed.name ~ ' is at version ' ~ newest['version'] ~ ', but ' ~ this ~ ' has read it up to version ' ~ consumed
                ~ ': the table was made anew',
            'bring the dimension to the new table by a full extract, or rebuild it with `--full-refresh`'
        ) -%}
    {%- endif -%}
    {%- do feed.update({'first': [consumed + 1, newest['version'] | int] | min, 'last': newest['version'] | int}) -%}
    {%- do _refuse_unplanned_read(feed) -%}
    {%- do _refuse_unreadable_feed(feed) -%}
    {{- return(_changes_sql(feed, consumed)) -}}
{% endmacro %}


{% macro _consumed_version() %}
    {%- set existing = load_relation(this) -%}
    {%- if existing is none or flags.FULL_REFRESH -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set version = _recorded(existing).get('scd2.consumed_version') -%}
    {{- return(none if version is none else version | int) -}}
{% endmacro %}


{% macro _table_as_changes_sql(feed, newest) %}
    {%- set moment = newest['timestamp'].astimezone(modules.pytz.utc).replace(tzinfo=none) -%}
select
    {{ _column_list(feed.columns) }},
    'insert' as _change_type,
    {{ newest['version'] }}L as _commit_version,
    {{ _timestamp_literal(_micros(moment.isoformat())) }} as _commit_timestamp
from {{ feed.name }} version as of {{ newest['version'] }}
{% endmacro %}


{# The row before an update is a deletion where the update took the key away. #}
{% macro _changes_sql(feed, consumed) %}
    {%- set keys = _quoted(_as_list(config.get('unique_key'))) | join(', ') -%}
select
    {{ _column_list(feed.columns) }},
    if(_change_type = 'update_preimage', 'delete', _change_type) as _change_type,
    _commit_version,
    _commit_timestamp
from (
    select
        *,
        max(_change_type in ('insert', 'update_postimage')) over (
            partition by {{ keys }}, _commit_version
        ) as _scd2_key_stays
    from {{ _feed_sql(feed) }}
    where _commit_version > {{ consumed }}
)
where
    _change_type <> 'update_preimage'
    or not _scd2_key_stays
{% endmacro %}
