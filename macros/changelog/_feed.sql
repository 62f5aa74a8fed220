{# The change data feed of a table: what is read, and the errors of reading it, told before a model is built. #}

{% macro _feed(relation, key_names) %}
    {#- Under --empty dbt prints a relation as a subquery, which has no feed. -#}
    {%- set name = relation if relation is string else relation.render() -%}
    {%- do _refuse_mistakes(_silenced_errors(_session_settings())) -%}
    {%- set detail = run_query('describe detail ' ~ name).rows[0] -%}
    {%- if detail['format'] != 'delta' -%}
        {%- do _refuse(name ~ ' is no Delta table, and has no change data feed',
            'convert it with `convert to delta`, or read a table that is one') -%}
    {%- endif -%}
    {%- set columns = _columns_of(name) -%}
    {%- set names = columns | map(attribute='name') | map('lower') | list -%}
    {%- for key in key_names if key | lower not in names -%}
        {%- set near = _closest(key, names) -%}
        {%- do _refuse(
            'the changelog of ' ~ name ~ ' has the key `' ~ key ~ '`, which is no column of the table',
            'did you mean `' ~ near ~ '`?' if near else 'name one of its columns'
        ) -%}
    {%- endfor -%}
    {%- for column in _reserved(columns) -%}
        {%- do _refuse(
            name ~ ' has a column `' ~ column.name ~ '`; names that begin with `_change_` are reserved for the changelog',
            'rename the column'
        ) -%}
    {%- endfor -%}
    {%- for column in _variants(columns) -%}
        {%- do _refuse(name ~ ' has the column ' ~ _incomparable(column), 'keep it in the table as a string') -%}
    {%- endfor -%}
    {{- return({'name': name, 'path': detail['location'], 'columns': columns, 'key_names': key_names, 'way_on': none}) -}}
{% endmacro %}


{# Whether the table is not there yet. To compile or lint a project needs no tables, so that a plain select stands for the feed,
   which names the missing table when it is run. #}
{% macro _is_absent(relation) %}
    {{- return(relation is not string and load_relation(relation) is none) -}}
{% endmacro %}


{# By path, because of two ranges that one statement reads by the table's name Delta 4.4 reads the first one twice. #}
{% macro _feed_sql(feed) -%}
table_changes_by_path({{ _sql_string(feed.path) }}, {{ feed.first }}, {{ feed.last }})
{%- endmacro %}


{# The first and the last version to read. The version from which a range starts is not part of it. #}
{% macro _feed_range(name, from_version, to_version, from_timestamp, to_timestamp) %}
    {%- set which = 'the changelog of ' ~ name -%}
    {%- if (from_version is not none and from_timestamp is not none)
        or (to_version is not none and to_timestamp is not none) -%}
        {%- do _refuse(which ~ ' begins or ends with both a version and a timestamp', 'leave one of them out') -%}
    {%- endif -%}
    {%- for version in [from_version, to_version] if version is not none and (version is not integer or version < 0) -%}
        {%- do _refuse(which ~ ' is asked for version `' ~ version ~ '`', 'give a whole number from 0') -%}
    {%- endfor -%}
    {%- set by_time = from_timestamp is not none or to_timestamp is not none -%}
    {%- set history = run_query('describe history ' ~ name ~ ('' if by_time else ' limit 1')).rows -%}
    {%- set newest = history[0]['version'] | int -%}
    {%- set start = from_version if from_timestamp is none else _version_at(name, history, from_timestamp) -%}
    {%- set end = to_version if to_timestamp is none else _version_at(name, history, to_timestamp) -%}
    {%- set start = -1 if start is none else start -%}
    {%- set end = newest if end is none else end -%}
    {%- if end < 0 -%}
        {%- do _refuse(which ~ ' would end at ' ~ to_timestamp ~ ', before the table existed', 'choose a later end') -%}
    {%- elif [start, end] | max > newest -%}
        {%- do _refuse(
            which ~ ' is asked for version ' ~ [start, end] | max ~ ', but the newest is ' ~ newest,
            'end the range at ' ~ newest ~ ', or leave `to_version` out'
        ) -%}
    {%- elif start > end -%}
        {%- do _refuse(which ~ ' would start from version ' ~ start ~ ', after its end ' ~ end, 'swap the two') -%}
    {%- endif -%}
    {{- return({'first': start + 1, 'last': end}) -}}
{% endmacro %}


{# The version that a table had at a time. #}
{% macro _version_at(name, history, timestamp) %}
    {%- if not _is_moment(timestamp) -%}
        {%- do _refuse('the changelog of ' ~ name ~ ' is asked for the time `' ~ timestamp ~ '`', 'write it like `2024-03-31 02:30:00`') -%}
    {%- endif -%}
    {%- set moment = _utc(timestamp) -%}
    {%- for row in history if _committed_at(row) <= moment -%}
        {{- return(row['version'] | int) -}}
    {%- endfor -%}
    {%- if history[-1]['version'] | int == 0 -%}
        {{- return(-1) -}}
    {%- endif -%}
    {%- do _refuse_expired_range(name, 'the versions of ' ~ timestamp ~ ' are no longer in its log') -%}
{% endmacro %}


{# A text or a moment; without an offset it is UTC. #}
{% macro _utc(timestamp) %}
    {%- set epoch = modules.datetime.datetime(1970, 1, 1, tzinfo=modules.pytz.utc) -%}
    {{- return(epoch + modules.datetime.timedelta(microseconds=_micros(timestamp))) -}}
{% endmacro %}


{# `explain` returns the error of a read that cannot be planned instead of raising it: its condition and its text, or none. #}
{% macro _planning_error(feed) %}
    {%- set probe = dict(feed, first=[feed.first, feed.last] | min) -%}
    {%- set plan = run_query('explain select * from ' ~ _feed_sql(probe)).columns[0].values() | join('\n') -%}
    {%- set error = modules.re.search('(?s)^Error occurred during query planning: *\n(?:\\[([A-Z_.]+)\\] )?(.*)', plan) -%}
    {{- return({'condition': error.group(1), 'text': error.group(2)} if error else none) -}}
{% endmacro %}


{% macro _refuse_unplanned_read(feed) %}
    {%- set error = _planning_error(feed) -%}
    {%- if error -%}
        {%- set condition = error.condition -%}
        {%- if condition == 'DELTA_MISSING_CHANGE_DATA' -%}
            {%- set version = modules.re.search('version \\[(\\d+)\\]', error.text).group(1) -%}
            {%- do _refuse(
                feed.name ~ ' did not record its changes at version ' ~ version ~ ': its change data feed was off',
                'switch it on with `alter table ' ~ feed.name ~ ' set tblproperties (delta.enableChangeDataFeed = true)`, and '
                    ~ (feed.way_on or 'start from a version since which it is on (`describe history`)')
            ) -%}
        {%- elif condition in ['DELTA_LOG_FILE_NOT_FOUND', 'DELTA_TRUNCATED_TRANSACTION_LOG'] -%}
            {%- do _refuse_expired_range(feed.name, 'versions from ' ~ feed.first ~ ' on are no longer in its log', feed.way_on) -%}
        {%- elif condition in [
            'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE', 'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA'
        ] -%}
            {%- do _refuse(
                'the columns of ' ~ feed.name ~ ' were renamed, dropped or retyped since version ' ~ feed.first
                    ~ ', so its changes up to version ' ~ feed.last ~ ' cannot be read as one',
                feed.way_on or 'start from a version after that change, and bring the copy there by a full extract'
            ) -%}
        {%- endif -%}
        {%- do _refuse('the changes of ' ~ feed.name ~ ' cannot be read: ' ~ (error.text | trim).splitlines()[0] | trim('.'),
            'read a Delta table whose change data feed is on') -%}
    {%- endif -%}
{% endmacro %}


{# The answers of a query that reads the feed once before the model does: VACUUM removes files without a trace in the log. #}
{% macro _answers(feed, query) %}
    {%- set answers = _run_script(_answers_if_readable(query)).columns[0].values() -%}
    {%- if 'unreadable' in answers and feed.catches_up -%}
        {{- return(none) -}}
    {%- elif 'unreadable' in answers -%}
        {%- do _refuse_expired_range(feed.name, 'files of versions ' ~ feed.first ~ ' to ' ~ feed.last ~ ' are gone', feed.way_on) -%}
    {%- endif -%}
    {{- return(answers) -}}
{% endmacro %}


{% macro _refuse_expired_range(name, problem, way_on=none) %}
    {%- do _refuse(
        'the changes of ' ~ name ~ ' are no longer retained: ' ~ problem,
        (way_on or 'bring the copy up to date by a full extract and go on from its version') ~ '; to keep changes longer, raise '
            ~ '`delta.logRetentionDuration` and `delta.deletedFileRetentionDuration` of the table'
    ) -%}
{% endmacro %}


{# KD001 is Spark's state for a file that cannot be read. #}
{% macro _answers_if_readable(query) -%}
begin
    declare exit handler for sqlstate 'KD001'
    begin
        values ('unreadable');
    end;
    {{ query | indent(4) }};
end
{%- endmacro %}


{% macro _same_key(key_names, left, right) %}
    {%- set conditions = [] -%}
    {%- for name in _quoted(key_names) -%}
        {%- do conditions.append(left ~ '.' ~ name ~ ' <=> ' ~ right ~ '.' ~ name) -%}
    {%- endfor -%}
    {{- return(conditions | join(' and ')) -}}
{% endmacro %}


{% macro _named(names) %}
    {%- set columns = [] -%}
    {%- for name in names -%}
        {%- do columns.append({'name': name}) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}
