{# The record of the change data feed of a table. Who reads a range adds its `first` and `last`
   version; `later_columns` are those that the feed lacks because they came after the range, and
   `remedy` is what helps where the feed cannot be read, if it is not that of a copy. #}
{% macro cdf_source(relation, key_names) %}
    {#- Under --empty dbt prints a relation as a subquery, which has no feed. -#}
    {%- set name = relation if relation is string else relation.render() -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2.unsafe_session_settings()) -%}
    {%- do delta_scd2._check_view(relation, name) -%}
    {%- set detail = run_query('describe detail ' ~ name).rows[0] -%}
    {%- if detail['format'] != 'delta' -%}
        {%- do delta_scd2.raise_refusal(name ~ ' is not a Delta table, so it has no change data feed',
            'convert it with `convert to delta`, or read a table that is one') -%}
    {%- endif -%}
    {%- set columns = delta_scd2.columns_of(name) -%}
    {%- set names = columns | map(attribute='name') | map('lower') | list -%}
    {%- for key in key_names if key | lower not in names -%}
        {%- set near = delta_scd2.closest_match(key, names) -%}
        {%- do delta_scd2.raise_refusal(
            'the changelog of ' ~ name ~ ' has the key `' ~ key
                ~ '`, which is not a column of the table',
            'did you mean `' ~ near ~ '`?' if near else 'name one of its columns; a model that follows '
                ~ 'the table returns its key under the same name'
        ) -%}
    {%- endfor -%}
    {%- for column in delta_scd2.columns_by_key(columns, key_names).key_columns
        if 'map<' in column.data_type -%}
        {%- do delta_scd2.raise_refusal(
            'the changelog of ' ~ name ~ ' has the key `' ~ column.name ~ '` of type '
                ~ delta_scd2.shown_text(column.data_type) ~ ', and maps cannot be compared',
            'name other columns'
        ) -%}
    {%- endfor -%}
    {%- for column in delta_scd2._reserved(columns) -%}
        {%- do delta_scd2.raise_refusal(
            name ~ ' has a column `' ~ column.name
                ~ '`; names that begin with `_change_` are reserved for the changelog',
            'rename the column'
        ) -%}
    {%- endfor -%}
    {%- for column in delta_scd2.variant_columns(columns) -%}
        {%- do delta_scd2.raise_refusal(
            name ~ ' has the column ' ~ delta_scd2.incomparable_column(column),
            'keep it in the table as a string'
        ) -%}
    {%- endfor -%}
    {{- return({
        'name': name,
        'path': detail['location'],
        'is_mapped': 'delta.columnMapping.mode' in detail['properties'] | string,
        'columns': columns,
        'later_columns': [],
        'key_names': key_names,
        'key_columns': delta_scd2.columns_named(key_names),
        'remedy': none,
    }) -}}
{% endmacro %}


{# Whether the table is not there yet. To compile or lint a project needs no tables, so that a
   plain select stands for the feed, which names the missing table when it is run. In a unit test the
   rows that it is given stand for the table. dbt-spark takes a schema for empty if a table is
   dropped while it lists them. #}
{% macro _query_is_absent(relation) %}
    {%- if relation is string -%}
        {{- return(false) -}}
    {%- elif relation.is_cte -%}
        {%- do delta_scd2.raise_refusal(
            modules.re.sub('^__dbt__cte__', '', relation.identifier)
                ~ ' is an ephemeral model, so it has no change data feed',
            'read the table behind it'
        ) if model.resource_type != 'unit_test' -%}
        {{- return(true) -}}
    {%- endif -%}
    {{- return(load_relation(relation) is none
        and not (adapter.check_schema_exists(relation.database, relation.schema)
            and delta_scd2.query_exists(relation))) -}}
{% endmacro %}


{# By path, because of two ranges that one statement reads by the table's name Delta 4.4 reads
   the first one twice. #}
{% macro _feed_sql(feed) -%}
    {%- set changes = 'table_changes_by_path(' ~ delta_scd2.sql_string(feed.path) ~ ', ' ~ feed.first ~ ', '
        ~ feed.last ~ ')' -%}
    {%- if not feed.later_columns -%}
{{ changes }}
    {%- else -%}
(
    select
        *,
        {%- for column in feed.later_columns %}
        cast(null as {{ column.data_type }}) as {{ delta_scd2.backticked(column.name) }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ changes }}
)
    {%- endif -%}
{%- endmacro %}


{# The feed of a table with column mapping has the columns of the last version that is read, where
   other feeds have null for those that came later. #}
{% macro _with_later_columns(feed) %}
    {%- if not feed.is_mapped -%}
        {{- return(feed) -}}
    {%- endif -%}
    {%- set names = delta_scd2.lower_names(feed.columns) -%}
    {%- set found = delta_scd2.lower_names(delta_scd2.columns_of(delta_scd2._feed_sql(feed))) -%}
    {%- do delta_scd2._raise_other_columns(feed)
        if found | reject('in', names + ['_change_type', '_commit_version', '_commit_timestamp']) | list -%}
    {%- set later = [] -%}
    {%- for column in feed.columns if column.name | lower not in found -%}
        {%- do later.append(column) -%}
    {%- endfor -%}
    {{- return(dict(feed, later_columns=later)) -}}
{% endmacro %}


{# The first and the last version to read. The version from which a range starts is not part of
   it. #}
{% macro _feed_range(name, from_version, to_version, from_timestamp, to_timestamp) %}
    {%- set which = 'the changelog of ' ~ name -%}
    {%- if (from_version is not none and from_timestamp is not none)
        or (to_version is not none and to_timestamp is not none) -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' begins or ends with both a version and a timestamp',
            'leave one of them out'
        ) -%}
    {%- endif -%}
    {%- for version in [from_version, to_version]
        if version is not none and (version is not integer or version < 0) -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' is asked for version `' ~ version ~ '`',
            'give a whole number from 0'
        ) -%}
    {%- endfor -%}
    {%- set by_time = from_timestamp is not none or to_timestamp is not none -%}
    {%- set history = run_query('describe history ' ~ name ~ ('' if by_time else ' limit 1')).rows -%}
    {%- set newest = history[0]['version'] | int -%}
    {%- set start = from_version if from_timestamp is none
        else delta_scd2._version_at(name, history, from_timestamp) -%}
    {%- set end = to_version if to_timestamp is none
        else delta_scd2._version_at(name, history, to_timestamp) -%}
    {%- set start = -1 if start is none else start -%}
    {%- set end = newest if end is none else end -%}
    {%- if end < 0 -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' would end at ' ~ to_timestamp ~ ', before the table existed',
            'choose a later end'
        ) -%}
    {%- elif [start, end] | max > newest -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' is asked for version ' ~ [start, end] | max ~ ', but the newest is ' ~ newest,
            'end the range at ' ~ newest ~ ', or leave `to_version` out'
        ) -%}
    {%- elif start > end -%}
        {%- do delta_scd2.raise_refusal(
            which ~ ' would start from version ' ~ start ~ ', after its end ' ~ end,
            'swap the two'
        ) -%}
    {%- endif -%}
    {{- return({'first': start + 1, 'last': end}) -}}
{% endmacro %}


{# The version that a table had at a time. #}
{% macro _version_at(name, history, timestamp) %}
    {%- if not delta_scd2.is_timestamp_text(timestamp) -%}
        {%- do delta_scd2.raise_refusal(
            'the changelog of ' ~ name ~ ' is asked for the time `' ~ timestamp ~ '`',
            'write it like `2024-03-31 02:30:00`'
        ) -%}
    {%- endif -%}
    {%- do delta_scd2.raise_mistakes(delta_scd2.misread_commit_times()) -%}
    {%- set micros = delta_scd2.ts_micros(timestamp) -%}
    {%- for row in history if delta_scd2.committed_micros(row) <= micros -%}
        {{- return(row['version'] | int) -}}
    {%- endfor -%}
    {%- if history[-1]['version'] | int == 0 -%}
        {{- return(-1) -}}
    {%- endif -%}
    {%- do delta_scd2._raise_expired_range(
        name, 'the versions of ' ~ timestamp ~ ' are no longer in its log'
    ) -%}
{% endmacro %}


{# The columns with a name that changelogs keep for themselves. #}
{% macro _reserved(columns) %}
    {%- set reserved = [] -%}
    {%- for column in columns if column.name.lower().startswith('_change_') -%}
        {%- do reserved.append(column) -%}
    {%- endfor -%}
    {{- return(reserved) -}}
{% endmacro %}
