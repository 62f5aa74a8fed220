{# The changes of a Delta table since the version up to which this model has read it; at first, the table itself. #}
{% macro changes_since_last_run(relation) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- elif _is_absent(relation) -%}
        {{- return('select * from ' ~ relation.render()) -}}
    {%- endif -%}
    {%- if '_commit_version' not in _as_list(config.get('sequence_by', [])) -%}
        {%- do _refuse(
            '`changes_since_last_run` is read by a model whose `sequence_by` is not `_commit_version`, which tells up to where',
            "configure `source_kind='changelog'`, `effective_at='_commit_timestamp'` and `sequence_by='_commit_version'`"
        ) -%}
    {%- endif -%}
    {%- set feed = _feed(relation, _as_list(config.get('unique_key'))) -%}
    {#- Of a key that one version gives twice the dimension tells by itself. -#}
    {%- do feed.update({'key_names': []}) -%}
    {%- set newest = run_query('describe history ' ~ feed.name ~ ' limit 1').rows[0] -%}
    {%- set consumed = _consumed() -%}
    {%- if consumed is none -%}
        {{- return(_table_as_changes_sql(feed, newest, is_read=not flags.EMPTY)) -}}
    {%- endif -%}
    {%- do _refuse_other_table(feed, newest, consumed) -%}
    {%- if newest['version'] == consumed.version -%}
        {{- return(_table_as_changes_sql(feed, newest, is_read=false)) -}}
    {%- endif -%}
    {%- do feed.update({'way_on': _ways_without_changes(), 'first': consumed.version + 1, 'last': newest['version'] | int}) -%}
    {%- do _refuse_unplanned_read(feed) -%}
    {%- do _refuse_unreadable_feed(feed) -%}
    {{- return(_changes_sql(feed)) -}}
{% endmacro %}


{# The version up to which the dimension has read, and when it did; of a first run that died before it recorded that, the
   rows tell the version. #}
{% macro _consumed() %}
    {%- set existing = load_relation(this) -%}
    {%- if existing is none or _gives_way(existing) or (flags.FULL_REFRESH and config.get('full_refresh') != false) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set recorded = _recorded(existing) -%}
    {%- if 'scd2.consumed_version' in recorded -%}
        {{- return({'version': recorded['scd2.consumed_version'] | int, 'at': recorded['scd2.consumed_at']}) -}}
    {%- elif '_commit_version' in _columns_of(existing) | map(attribute='name') -%}
        {%- set version = run_query('select max(_commit_version) from ' ~ existing).columns[0].values()[0] -%}
        {{- return(none if version is none else {'version': version | int, 'at': none}) -}}
    {%- endif -%}
    {{- return(none) -}}
{% endmacro %}


{# A table made anew lacks the version that was read, or has another one in its place, of a later time. #}
{% macro _refuse_other_table(feed, newest, consumed) %}
    {%- set since = newest['version'] | int - consumed.version -%}
    {%- set history = run_query('describe history ' ~ feed.name ~ ' limit ' ~ (since + 1)).rows if since > 0 else [newest] -%}
    {%- set last_read = history | selectattr('version', 'equalto', consumed.version) | list | first -%}
    {%- set is_later = last_read and consumed.at
        and _committed_at(last_read) > _utc(consumed.at) -%}
    {%- if since < 0 or is_later -%}
        {%- do _refuse(
            feed.name ~ ' is not the table that ' ~ this ~ ' read up to version ' ~ consumed.version
                ~ (' at ' ~ consumed.at ~ ' UTC' if consumed.at else '') ~ ': it was made anew',
            _ways_without_changes()
        ) -%}
    {%- endif -%}
{% endmacro %}


{# What is left where the changes since the last run cannot be had. #}
{% macro _ways_without_changes() %}
    {{- return("rebuild the dimension from the table as it is with `--full-refresh --vars '{scd2_discard_history: true}'`, or keep "
        ~ 'its history and build another one beside it') -}}
{% endmacro %}


{# The table at its newest version, as insertions; no row of it where nothing is to be read. #}
{% macro _table_as_changes_sql(feed, newest, is_read) %}
    {%- set moment = _committed_at(newest).replace(tzinfo=none) -%}
{{ _read_up_to(newest['version']) }}
select
    {{ _column_list(feed.columns) }},
    'insert' as _change_type,
    {{ newest['version'] }}L as _commit_version,
    {{ _timestamp_literal(_micros(moment.isoformat())) }} as _commit_timestamp
from {{ feed.name }} version as of {{ newest['version'] }}
    {%- if not is_read %}
where false
    {%- endif %}
{% endmacro %}


{# The row before an update is a deletion where the update took the key away. #}
{% macro _changes_sql(feed) %}
    {%- set keys = _quoted(_as_list(config.get('unique_key'))) | join(', ') -%}
{{ _read_up_to(feed.last) }}
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
)
where
    _change_type <> 'update_preimage'
    or not _scd2_key_stays
{% endmacro %}


{# The end of what is read, which no row tells where the newest versions hold none; the compiled model carries it to the record. #}
{% macro _read_up_to(version) -%}
-- reads up to version {{ version }}
{%- endmacro %}


{# The record holds one version. #}
{% macro _several_feeds(compiled_code) %}
    {%- if modules.re.findall(_read_up_to('\\d+'), compiled_code) | length > 1 -%}
        {{- return(['the model calls `changes_since_last_run` more than once, and can follow one table: build a dimension of each, '
            ~ 'or read the others as they are']) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}


{# The version up to which the compiled model reads, or none. #}
{% macro _range_end(compiled_code) %}
    {%- set found = modules.re.search(_read_up_to('(\\d+)'), compiled_code) -%}
    {{- return(found.group(1) | int if found else none) -}}
{% endmacro %}
