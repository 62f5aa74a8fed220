{# The version up to which the dimension has read, and when it did; of a first run that died
   before it recorded that, the rows tell the version. A history that was not read from a feed has
   none. #}
{% macro _consumed() %}
    {%- set existing = load_relation(this) -%}
    {%- set recorded = {} if existing is none else delta_scd2.read_properties(existing) -%}
    {%- if existing is none or delta_scd2.query_built_partially(existing, recorded)
        or delta_scd2.is_full_refresh() -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- if 'scd2.consumed_version' in recorded -%}
        {{- return({
            'version': recorded['scd2.consumed_version'] | int,
            'at': recorded['scd2.consumed_at'],
            'commit': recorded.get('scd2.consumed_commit'),
        }) -}}
    {%- endif -%}
    {%- set stored = delta_scd2.lower_names(delta_scd2.columns_of(existing)) -%}
    {%- set settings = delta_scd2.with_stored_names(delta_scd2.scd2_config(model), stored) -%}
    {%- set names = settings.columns -%}
    {#- What is wrong with the options or the table is said by the load. -#}
    {%- if 'scd2.unique_key' not in recorded or delta_scd2.validate_values(model.config, settings)
        or [names.effective_from, names.effective_to, names.is_current, names.is_deleted]
            | map('lower') | reject('in', stored) | list -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set column = delta_scd2.stored_name(settings, '_commit_version') -%}
    {%- set newest = 'select max(' ~ delta_scd2.backticked(column) ~ ') from ' ~ existing -%}
    {%- set version = run_query(newest).columns[0].values()[0] if column | lower in stored else none -%}
    {{- return({'version': none if version is none else version | int, 'at': none, 'commit': none}) -}}
{% endmacro %}


{# Whether the changes since the last run are lost, so that the table as it is has to stand for
   them. #}
{% macro _query_is_unreadable(feed) %}
    {{- return(delta_scd2._error_of_read(feed) is not none
        or delta_scd2._answers(
            feed, 'select count(*) from ' ~ delta_scd2._feed_sql(feed)
        ) is none) -}}
{% endmacro %}


{# Another table, or one made anew, lacks the version that was read, or has another one in its place,
   of another time. Delta's id of the table does not tell: it changes where a table is replaced,
   and the feed goes on. What was never read is another table, too. #}
{% macro _query_is_other_table(feed, newest, consumed) %}
    {%- if consumed.version is none -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set since = newest['version'] | int - consumed.version -%}
    {%- set history = delta_scd2.newest_commits(feed.name, since + 1)
        if since > 0 else [newest] -%}
    {%- set last_read = history
        | selectattr('version', 'equalto', consumed.version) | list | first -%}
    {%- if since < 0 -%}
        {{- return(true) -}}
    {%- elif not last_read or not consumed.at -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set committed_at = delta_scd2.committed_micros(last_read) -%}
    {#- Delta moves a time by milliseconds where two commits have the same. -#}
    {{- return((committed_at - delta_scd2.ts_micros(consumed.commit)) | abs >= 1000000
        if consumed.commit else committed_at > delta_scd2.ts_micros(consumed.at)) -}}
{% endmacro %}


{% macro _raise_other_table(feed, consumed) %}
    {%- do delta_scd2.raise_refusal(
        feed.name ~ ' is not the table that ' ~ this ~ ' read up to version ' ~ consumed.version
            ~ (' at ' ~ consumed.at ~ ' UTC' if consumed.at else '')
            ~ ': it was made anew, or is another table',
        delta_scd2._cdf_unavailable_remedy()
    ) -%}
{% endmacro %}


{# The rows of a table that was last committed before what the dimension holds would become its
   past. #}
{% macro _check_age_of_other_table(feed, newest, consumed) %}
    {%- set newest_change = delta_scd2._query_newest_change(feed) if consumed.version is none
        else consumed.commit and delta_scd2.ts_micros(consumed.commit) -%}
    {%- set committed_at = delta_scd2.committed_micros(newest) -%}
    {#- A run that died before its record may have written changes of this very commit. -#}
    {%- if newest_change and (committed_at < newest_change
        or consumed.version is not none and committed_at == newest_change) -%}
        {%- do delta_scd2.raise_refusal(
            'the last commit of ' ~ feed.name ~ ' is not later than what ' ~ this ~ ' holds, of '
                ~ delta_scd2.utc_text(newest_change) ~ ' UTC',
            'commit to it, for example with `alter table ' ~ feed.name
                ~ " set tblproperties ('note' = 'followed')`, and run again"
        ) -%}
    {%- endif -%}
{% endmacro %}


{# The newest time at which the dimension changed, in microseconds, or none if it is empty. #}
{% macro _query_newest_change(feed) %}
    {%- set load = {'settings': delta_scd2.scd2_config(model), 'key_columns': feed.key_columns} -%}
    {%- set rows = run_query('select\n' ~ delta_scd2.high_water_mark_sql(load) ~ ' as newest_change\nfrom ' ~ this) -%}
    {{- return(delta_scd2.numbers_of(rows.rows[0])['newest_change']) -}}
{% endmacro %}


{# A table of the last rows alone, as increments leave it, would end most keys. #}
{% macro _check_missing_keys(feed) %}
    {%- set settings = delta_scd2.scd2_config(model) -%}
    {%- if settings.ignores_deletes -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set counts = delta_scd2.numbers_of(run_query(delta_scd2._missing_counts_sql(feed)).rows[0]) -%}
    {%- if delta_scd2.deletes_too_many({'settings': settings}, counts['missing'], counts['live']) -%}
        {%- do delta_scd2.raise_refusal(
            feed.name ~ ' lacks ' ~ counts['missing'] ~ ' of the ' ~ counts['live'] ~ ' live keys of ' ~ this
                ~ ', which would be deleted',
            "follow a table that has a row for every live key; if so many are really gone, run once with "
                ~ "`--vars '{scd2_catch_up: true}'`"
        ) -%}
    {%- endif -%}
{% endmacro %}


{# What is left where the changes since the last run cannot be had. #}
{% macro _cdf_unavailable_remedy() %}
    {{- return(delta_scd2.how_to_discard_history() ~ ', or keep its history and let one run bring it '
        ~ "to the table as it is with `--vars '{scd2_catch_up: true}'`: what changed since the "
        ~ 'last run is then dated at the newest version') -}}
{% endmacro %}


{# A key with different rows at one moment has no state that a version could hold. #}
{% macro _check_rows_at_odds(feed) %}
    {%- set keys = delta_scd2._answers(feed, delta_scd2._rows_at_odds_sql(feed)) -%}
    {%- if keys -%}
        {%- set when = 'holds' if feed.is_read_whole
            else 'held, between versions ' ~ (feed.first - 1) ~ ' and ' ~ feed.last ~ ',' -%}
        {%- do delta_scd2.raise_refusal(
            feed.name ~ ' ' ~ when ~ ' different rows of one key'
                ~ (' with the same `' ~ feed.latest_by | join('`, `') ~ '`'
                    if feed.latest_by) ~ ': ' ~ keys | join('; '),
            'name a column of the table whose greatest value tells which of them counts, '
                ~ 'as in ' ~ "`delta_scd2.changes_since_last_run(…, "
                ~ "latest_by='loaded_at')`, or a list of such columns"
        ) -%}
    {%- endif -%}
{% endmacro %}
