{# The guards read, before anything is written, and refuse with the model, the rows and the remedy. Moments are whole
   microseconds since the epoch. #}

{% macro _refuse(problem, remedy) %}
    {%- do _drop_staged() if execute and model is defined and model.config.materialized in ['scd1', 'scd2'] -%}
    {%- do exceptions.raise_compiler_error(
        (model.name ~ ': ' if model is defined else '') ~ _ended(problem) ~ '\nNothing was written. Remedy: ' ~ _ended(remedy)
    ) -%}
{% endmacro %}


{% macro _ended(sentence) %}
    {{- return(sentence ~ ('' if sentence.endswith('?') else '.')) -}}
{% endmacro %}


{% macro _refuse_list(problem, mistakes) %}
    {%- if mistakes -%}
        {%- do _refuse(problem ~ ':\n  - ' ~ _listed(mistakes, 20, '\n  - '), 'fix the list above and run again') -%}
    {%- endif -%}
{% endmacro %}


{% macro _refuse_mistakes(mistakes) %}
    {%- do _refuse_list(mistakes | length ~ ' mistake(s) in the configuration', mistakes) -%}
{% endmacro %}


{# The moments among the rows of the model, oldest first, with the number of rows of each; every row has a time, a whole
   key and a kind of change that is known. Of rows of single keys the first and the last moment, and the number of all. #}
{% macro _checked_moments(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set from_column = _backticked(settings.columns.effective_from) -%}
    {%- set is_snapshot = settings.source_kind == 'snapshot' -%}
    {%- set row_counts = {} -%}
    {%- for row in run_query(_moments_sql(dimension)) if row['row_count'] -%}
        {%- if row['null_times'] -%}
            {%- do _refuse(
                row['null_times'] ~ ' row(s) have no `' ~ settings.effective_at ~ '`: '
                    ~ _offenders(dimension, from_column ~ ' is null'),
                'give every row the time ' ~ ('of its extract' if is_snapshot else 'at which it became true')
            ) -%}
        {%- endif -%}
        {%- do _refuse_moments_without_date(dimension, row) -%}
        {%- set moment = row['first_moment'] | int -%}
        {%- set which = 'the extract of ' ~ _utc_text(moment) ~ ' UTC' if is_snapshot else 'the batch' -%}
        {%- set is_this = from_column ~ ' = ' ~ _timestamp_literal(moment) if is_snapshot else 'true' -%}
        {%- if row['null_keys'] -%}
            {%- do _refuse(
                which ~ ' has ' ~ row['null_keys'] ~ ' row(s) with a null in the business key: '
                    ~ _offenders(dimension, is_this ~ ' and (' ~ _any_is_null(dimension.key_columns) ~ ')'),
                'filter these rows in the model, give the null a value there, as `coalesce` does, or fix them at the source'
            ) -%}
        {%- elif row['unknown_changes'] -%}
            {%- do _refuse(
                which ~ ' has ' ~ row['unknown_changes'] ~ ' row(s) whose `' ~ settings.change_type ~ '` is unknown: '
                    ~ _offenders(dimension, is_this ~ ' and _scd2_is_gone is null'),
                'map the column to insert, update or delete in the model'
            ) -%}
        {%- elif row['null_sequences'] -%}
            {%- do _refuse(
                which ~ ' has ' ~ row['null_sequences'] ~ ' row(s) with a null in `sequence_by`: '
                    ~ _offenders(dimension, is_this ~ ' and (' ~ _any_is_null(dimension.sequence_columns) ~ ')'),
                'give every row its place in the order'
            ) -%}
        {%- elif is_snapshot and row['row_count'] < settings.min_rows -%}
            {%- do _refuse_few_rows(which, row['row_count'], settings) -%}
        {%- endif -%}
        {%- do row_counts.update({row['last_moment'] | int: 0}) -%}
        {%- do row_counts.update({moment: row['row_count'] | int}) -%}
    {%- endfor -%}
    {%- do _refuse_empty_partitions(dimension) if row_counts -%}
    {%- set nameless = _offenders(dimension, _is_inferred(settings) ~ ' and (' ~ _any_is_null(dimension.key_columns) ~ ')')
        if settings.inferred_member -%}
    {%- if nameless -%}
        {%- do _refuse(
            'placeholders have a null in the business key: ' ~ nameless,
            'filter these rows in the model, or give the null a value there, as `coalesce` does; `unknown_member` is for facts without '
                ~ 'a key'
        ) -%}
    {%- endif -%}
    {%- set real_rows = dimension.source ~ (' where not ' ~ _is_inferred(settings) if settings.inferred_member else '') -%}
    {%- if is_snapshot and not row_counts and not _holds_rows(real_rows) -%}
        {%- if settings.min_rows > 0 -%}
            {%- do _refuse_few_rows('the extract', 0, settings) -%}
        {%- elif not settings.effective_at -%}
            {%- do row_counts.update({dimension.run_started_at: 0}) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(row_counts) -}}
{% endmacro %}


{# The calendar of dates, and of all that reads them, has the years 1 to 9999, by UTC; and what is open ends after it begins. #}
{% macro _refuse_moments_without_date(dimension, row) %}
    {%- set settings = dimension.settings -%}
    {%- set first, last = _micros('0001-01-01'), _micros('9999-12-31 23:59:59.999999') -%}
    {%- set is_between = _backticked(settings.columns.effective_from) ~ ' between ' ~ _timestamp_literal(first) ~ ' and ' -%}
    {%- if row['first_moment'] | int < first or row['last_moment'] | int > last -%}
        {%- do _refuse(
            'rows have a time in `' ~ settings.effective_at ~ '` that is not in the years 1 to 9999 UTC: '
                ~ _offenders(dimension, 'not (' ~ is_between ~ _timestamp_literal(last) ~ ')'),
            'give them the time at which they became true'
        ) -%}
    {%- elif settings.open_end is not none and row['last_moment'] | int >= _micros(settings.open_end | string) -%}
        {%- do _refuse(
            'rows have a time in `' ~ (settings.effective_at or settings.columns.effective_from) ~ '` that is not before `open_end` ('
                ~ settings.open_end ~ '): ' ~ _offenders(dimension, 'not (' ~ is_between
                    ~ _timestamp_literal(_micros(settings.open_end | string) - 1) ~ ')'),
            'give them the time at which they became true, or choose a later `open_end` for a dimension that is still to be built'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# Delta keeps null for an empty text by which it partitions, so that its version would never be found again. #}
{% macro _refuse_empty_partitions(dimension) %}
    {%- for column in _text_partitions(dimension, config.get('partition_by')) -%}
        {%- set offenders = _offenders(dimension, _backticked(column.name) ~ " = ''"
            ~ (' and not _scd2_is_gone' if dimension.settings.change_type else '')) -%}
        {%- if offenders -%}
            {%- do _refuse(
                'rows have an empty text in `' ~ column.name ~ '`, for which Delta keeps null where it partitions by the column: '
                    ~ offenders,
                'give it another value in the model, or do not partition by it'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{% endmacro %}


{# Delta names a partition by the clock of the session, on which one hour of the year may come twice. #}
{% macro _ambiguous_partitions(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set moments = dimension.kept_columns | selectattr('data_type', 'equalto', 'timestamp') | list
        + _named([names.effective_from, names.effective_to]) -%}
    {%- set partitions = _names(moments) | select('in', _partition_names(config.get('partition_by'))) | list -%}
    {%- set zone = run_query('set spark.sql.session.timeZone').rows[0]['value'] if partitions -%}
    {%- if not partitions or zone in ['UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00'] -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return(['`partition_by` names the timestamp `' ~ partitions | join('`, `') ~ '`, of which Delta keeps what a clock in ' ~ zone
        ~ ' shows, also where two moments show the same: partition by a date, or set `spark.sql.session.timeZone` to `UTC`']) -}}
{% endmacro %}


{% macro _partition_names(partition_by) %}
    {{- return(_as_list(partition_by) | map('replace', '`', '') | map('lower') | list) -}}
{% endmacro %}


{% macro _text_partitions(dimension, partition_by) %}
    {%- set names = _partition_names(partition_by) -%}
    {%- set columns = [] -%}
    {%- for column in dimension.kept_columns
        if column.name | lower in names and modules.re.match('(string|char|varchar)', column.data_type) -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# Rows that share a business key in one extract. Short hashes, which two keys may share, tell whether to look. #}
{% macro _refuse_duplicates(dimension) %}
    {%- set duplicates = run_query(_given_twice_sql(dimension)).rows -%}
    {%- if duplicates -%}
        {%- set moment = duplicates[0]['_scd2_moment'] -%}
        {%- do _refuse(
            'the extract of ' ~ _utc_text(moment | int) ~ ' UTC has ' ~ duplicates[0]['too_many']
                ~ ' row(s) too many for their business keys: '
                ~ duplicates | selectattr('_scd2_moment', 'equalto', moment) | map(attribute='_scd2_key') | join('; ')
                ~ _in_which_columns(dimension, dimension.rows),
            'keep one row a key in the model' ~ (', or add a column to `unique_key`' if not dimension.exists)
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _refuse_uneven(dimension, row_counts) %}
    {%- if not _is_even(dimension, row_counts) -%}
        {%- do _refuse_duplicates(dimension) -%}
        {%- do _refuse_repeated_versions(dimension, _keys(_live_twice_sql(dimension))) -%}
    {%- endif -%}
{% endmacro %}


{# Whether complete extracts give each live key once, but for those that are gone, and no other but those that are new. #}
{% macro _is_even(dimension, row_counts) %}
    {%- set glance = dimension.glance -%}
    {%- set given_rows = [] -%}
    {%- for moment in dimension.moments -%}
        {%- do given_rows.append(row_counts[moment]) -%}
    {%- endfor -%}
    {%- set still_there = dimension.standing['live'] * (dimension.moments | length) - glance['gone'] | int -%}
    {{- return(not glance['new_twice'] and given_rows | sum - glance['new_rows'] | int == still_there) -}}
{% endmacro %}


{% macro _refuse_repeated_versions(dimension, keys) %}
    {%- if keys -%}
        {%- do _refuse(
            dimension.target ~ ' holds a version twice, or two current versions of one key, as no load leaves them: ' ~ keys,
            'find who wrote them with `describe history ' ~ dimension.target ~ '`, and `restore table` to the version before, '
                ~ 'or delete the rows that are too many'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# A dimension keeps points in time, which the type `timestamp` and its literals have to be, and takes every row that it reads for
   all there are. #}
{% macro _wrong_session() %}
    {%- set settings = _session_settings() -%}
    {%- set mistakes = _silenced_errors(settings) -%}
    {%- do mistakes.append('the session takes `timestamp` for one without a time zone: set `spark.sql.timestampType` to '
        ~ '`TIMESTAMP_LTZ` in the profile, and write `timestamp_ntz` where a column is to be without')
        if settings.get('spark.sql.timestampType') == 'TIMESTAMP_NTZ' -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# Delta stores them only with column mapping. #}
{% macro _unstorable_characters() %}
    {{- return('[ ,;{}()\\n\\t=]') -}}
{% endmacro %}


{# The columns that are new to a table, or to one that is still to be made. #}
{% macro _unstorable_columns(columns, existing=none) %}
    {%- set remedy = 'configure `tblproperties: {delta.columnMapping.mode: name}`' -%}
    {%- if existing is not none -%}
        {%- set remedy = '`alter table ' ~ existing ~ " set tblproperties ('delta.columnMapping.mode' = 'name')`" -%}
    {%- endif -%}
    {%- set mistakes = [] -%}
    {%- for column in columns if modules.re.search(_unstorable_characters(), column.name) and not _maps_columns(existing) -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` has a character that Delta stores only with column mapping: '
            ~ 'rename it in the model, or ' ~ remedy) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _maps_columns(existing) %}
    {%- set properties = dict(config.get('tblproperties') or {}) -%}
    {%- if existing is not none -%}
        {%- for row in run_query('show tblproperties ' ~ existing) -%}
            {%- do properties.update({row['key']: row['value']}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(properties.get('delta.columnMapping.mode', 'none') != 'none') -}}
{% endmacro %}


{% macro _holds_rows(relation) %}
    {{- return(run_query('select 1 from ' ~ relation ~ ' limit 1').rows | length > 0) -}}
{% endmacro %}


{% macro _refuse_few_rows(which, row_count, settings) %}
    {%- set remedy = 'if the source may be this small, lower `min_rows`, and mind that a key which is absent is deleted' -%}
    {%- if not row_count and settings.effective_at -%}
        {%- set remedy = 'where none is new, let the model return the last one again, or set `min_rows` to 0: no row then tells the '
            ~ 'time of an extract, and nothing changes' -%}
    {%- endif -%}
    {%- do _refuse(
        which ~ ' has ' ~ row_count ~ ' row(s), fewer than `min_rows` (' ~ settings.min_rows ~ ')',
        'load the whole extract; ' ~ remedy
    ) -%}
{% endmacro %}


{% macro _offenders(dimension, where) %}
    {{- return(_keys(_offenders_sql(dimension, where))) -}}
{% endmacro %}


{% macro _keys(query) %}
    {{- return(run_query(query).columns[0].values() | join('; ')) -}}
{% endmacro %}


{# In which columns rows differ that have their key, their time and their place in the order in common, for a message. #}
{% macro _in_which_columns(dimension, relation) %}
    {%- set columns = _told_apart(dimension, dimension.sequence_columns) -%}
    {%- set names = run_query(_differing_rows_sql(dimension, relation, columns)).columns[0].values() | list if columns else [] -%}
    {{- return('. They differ in `' ~ _listed(names, separator='`, `') ~ '`' if names else '') -}}
{% endmacro %}


{% macro _refuse_conflicts(dimension) %}
    {%- set keys = _keys(_conflicts_sql(dimension)) -%}
    {%- if keys -%}
        {%- set settings = dimension.settings -%}
        {%- do _refuse(
            'different rows of one key claim the same `' ~ (settings.effective_at or 'moment') ~ '`: ' ~ keys
                ~ _in_which_columns(dimension, dimension.extract),
            'keep one of them in the model, or name the column that orders them in `sequence_by`'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# The extracts that are still to be applied. The last one once more is no news, and one that comes late is refused. #}
{% macro _fresh_extracts(dimension, moments) %}
    {%- if dimension.rebuild_from -%}
        {{- return(_extracts_of_rebuild(dimension, moments)) -}}
    {%- endif -%}
    {%- set boundary = dimension.standing['last_boundary'] -%}
    {%- do _refuse_clock_behind(dimension) if not dimension.settings.effective_at -%}
    {%- set last = (dimension.applied + [boundary or 0]) | max if dimension.applied or boundary is not none else none -%}
    {%- set unrecorded = _unrecorded_extracts(dimension, moments, boundary) -%}
    {%- if unrecorded -%}
        {#- A run died between its MERGE and its record: what it applied is laid out once more, and is the same. -#}
        {%- do dimension.update({'rebuild_from': unrecorded | first, 'repeats': true}) -%}
        {{- return(moments | select('ge', unrecorded | first) | list) -}}
    {%- endif -%}
    {%- set fresh = [] -%}
    {%- for moment in moments -%}
        {%- set which = 'the extract of ' ~ _utc_text(moment) ~ ' UTC' -%}
        {%- if last is none or moment > last -%}
            {%- do fresh.append(moment) -%}
        {%- elif moment == last -%}
            {%- do _refuse_differences(dimension, moment) -%}
        {%- elif moment not in dimension.applied -%}
            {%- do _refuse(
                which ~ ' comes too late: the dimension stands at ' ~ _utc_text(last) ~ ' UTC',
                'apply extracts in the order of `' ~ dimension.settings.effective_at
                    ~ '`: leave this one out of the model, or let the model return the extracts since then too, for what it '
                    ~ 'lacks is taken out of the history, and ' ~ _how_to_rebuild(moment)
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(fresh) -}}
{% endmacro %}


{# Without `effective_at` a row became true when its run began: by a clock that went back, before what is stored already. #}
{% macro _refuse_clock_behind(dimension) %}
    {%- set boundary = dimension.standing['last_boundary'] -%}
    {%- if boundary is not none and boundary > dimension.run_started_at -%}
        {%- do _refuse(
            'this run began at ' ~ _utc_text(dimension.run_started_at) ~ ' UTC by the clock of this machine, and the dimension '
                ~ 'stands at ' ~ _utc_text(boundary) ~ ' UTC already',
            'set the clock right, or run again when that moment is past'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _how_to_rebuild(moment) %}
    {{- return('rebuild the history from it on with `dbt run --select ' ~ _address(model)
        ~ " --vars '{scd2_rebuild_from: \"" ~ _utc_text(moment) ~ "\"}'`") -}}
{% endmacro %}


{# The extracts after the last one recorded and up to the newest moment at which the dimension changed, where that is the
   time of one of them: otherwise an extract that is not given changed it. #}
{% macro _unrecorded_extracts(dimension, moments, boundary) %}
    {%- set unrecorded = [] -%}
    {%- for moment in moments if dimension.settings.effective_at and boundary in moments and moment <= boundary -%}
        {%- if not dimension.applied or moment > dimension.applied | max -%}
            {%- do unrecorded.append(moment) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(unrecorded) -}}
{% endmacro %}


{% macro _refuse_differences(dimension, moment) %}
    {%- set differences = run_query(_differences_sql(dimension, moment)).rows -%}
    {%- if differences -%}
        {%- set columns = run_query(_differing_columns_sql(dimension, moment)).columns[0].values() | list
            if dimension.common_columns else [] -%}
        {%- do _refuse(
            'the extract of ' ~ _utc_text(moment) ~ ' UTC was applied before with other rows, '
                ~ differences[0]['new_keys'] ~ ' new, ' ~ differences[0]['changed_keys'] ~ ' changed and '
                ~ differences[0]['gone_keys'] ~ ' gone: ' ~ differences | map(attribute='business_key') | join('; ')
                ~ ('. What changed is `' ~ _listed(columns, separator='`, `') ~ '`' if columns),
            'give a repaired extract a later `effective_at`, or ' ~ _how_to_rebuild(moment)
                ~ ('. A column that has another value in each run belongs to `ignore_columns`' if columns)
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _extracts_of_rebuild(dimension, moments) %}
    {%- set from_text = _utc_text(dimension.rebuild_from) -%}
    {%- if not moments -%}
        {%- do _refuse(
            'the source has no extract from ' ~ from_text ~ ' UTC on, of which `scd2_rebuild_from` speaks',
            'choose the time of an extract that the source still has'
        ) -%}
    {%- endif -%}
    {%- set lost = [] -%}
    {%- for moment in dimension.applied if moment >= dimension.rebuild_from and moment not in moments -%}
        {%- do lost.append(_utc_text(moment)) -%}
    {%- endfor -%}
    {%- if lost -%}
        {%- do exceptions.warn(model.name ~ ': the history from ' ~ from_text ~ ' UTC on is rebuilt without the extract(s) of '
            ~ lost | join(', ') ~ ', which the source no longer has; `undo_load` takes this load back') -%}
    {%- endif -%}
    {%- set earlier = [] -%}
    {%- for moment in dimension.applied if moment < dimension.rebuild_from -%}
        {%- do earlier.append(moment) -%}
    {%- endfor -%}
    {%- do dimension.update({'applied': earlier}) -%}
    {{- return(moments) -}}
{% endmacro %}


{# What the change set would do, and its size; refused where it deletes too much or ends a version before it begins. #}
{% macro _checked_summary(dimension, row_counts) %}
    {%- set settings = dimension.settings -%}
    {%- set parts = run_query(_summary_sql(dimension)) -%}
    {%- set summary = {} -%}
    {%- for name in ['opened', 'closed', 'deleted', 'removed', 'altered', 'too_short', 'repeated'] -%}
        {%- do summary.update({name: parts.columns[name].values() | sum | int}) -%}
    {%- endfor -%}
    {%- if summary.pop('repeated') -%}
        {%- set version = _version_columns(dimension) -%}
        {%- do _refuse_repeated_versions(dimension, _keys(_changed_keys_sql(dimension, '(' ~ version ~ ') in (select ' ~ version
            ~ ' from ' ~ dimension.changes ~ " where _scd2_action <> 'open' group by " ~ version ~ ' having count(*) > 1)'))) -%}
    {%- endif -%}
    {%- set too_short = summary.pop('too_short') -%}
    {%- if too_short -%}
        {%- do _refuse(
            too_short ~ ' version(s) would end before they begin, as `closing_gap` is ' ~ settings.closing_gap ~ ': '
                ~ _keys(_changed_keys_sql(dimension, "_scd2_action <> 'remove' and "
                    ~ _backticked(settings.columns.effective_to) ~ ' <= ' ~ _backticked(settings.columns.effective_from))),
            'leave more time between the rows of a key, or choose a smaller `closing_gap`'
        ) -%}
    {%- endif -%}
    {%- do _refuse_other_past(dimension) if dimension.repeats and not settings.inferred_member -%}
    {%- for part in parts if settings.source_kind == 'snapshot' and part['_scd2_deleted_at'] is not none -%}
        {%- do _refuse_many_deletions(dimension, part['_scd2_deleted_at'] | int, part['deleted'] | int, row_counts) -%}
    {%- endfor -%}
    {{- return(summary) -}}
{% endmacro %}


{# Extracts that a run applied and did not record give the versions that are there. Others, of a time in which increments
   made the history, would take some away. Placeholders alone may come to any time. #}
{% macro _refuse_other_past(dimension) %}
    {%- set boundary = _timestamp_literal(dimension.standing['last_boundary']) -%}
    {%- set keys = _keys(_changed_keys_sql(dimension, "(_scd2_action = 'remove' or (_scd2_action = 'open' and "
        ~ _backticked(dimension.settings.columns.effective_from) ~ ' <= ' ~ boundary
        ~ ') or ((_scd2_is_closed or _scd2_is_deleted) and _scd2_ends_at <= ' ~ boundary ~ ')) and ' ~ _is_known_sql(dimension))) -%}
    {%- if keys -%}
        {%- do _refuse(
            'the extract of ' ~ _utc_text(dimension.rebuild_from) ~ ' UTC comes too late: the dimension stands at '
                ~ _utc_text(dimension.standing['last_boundary']) ~ ' UTC, and has another history since then of ' ~ keys,
            'leave the extracts up to that time out of the model, or ' ~ _how_to_rebuild(dimension.rebuild_from)
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _refuse_many_deletions(dimension, moment, deleted, row_counts) %}
    {%- set fraction = dimension.settings.max_delete_fraction -%}
    {%- set position = dimension.moments.index(moment) -%}
    {%- if position > 0 -%}
        {%- set live = row_counts[dimension.moments[position - 1]] -%}
    {%- elif not dimension.rebuild_from -%}
        {%- set live = dimension.standing['live'] -%}
    {%- else -%}
        {%- set live = run_query('select count(*) as live from (' ~ _live_sql(dimension) ~ ')').rows[0]['live'] | int -%}
    {%- endif -%}
    {%- if deleted > fraction * live -%}
        {%- do _refuse(
            'the extract of ' ~ _utc_text(moment) ~ ' UTC would delete ' ~ deleted ~ ' of ' ~ live ~ ' live keys, more than '
                ~ '`max_delete_fraction` (' ~ fraction ~ ') allows: '
                ~ _keys(_changed_keys_sql(dimension, '_scd2_is_deleted and _scd2_ends_at = ' ~ _timestamp_literal(moment))),
            'load the whole extract; if so many keys are really gone, raise `max_delete_fraction`'
        ) -%}
    {%- endif -%}
{% endmacro %}


{# The moment from which the variable asks to rebuild, in microseconds since the epoch, or none. #}
{% macro _rebuild_from(settings) %}
    {%- set text = var('scd2_rebuild_from', none) -%}
    {%- if text is none -%}
        {{- return(none) -}}
    {%- elif settings.source_kind != 'snapshot' -%}
        {%- do _refuse(
            '`scd2_rebuild_from` rebuilds from complete extracts, and `source_kind` is `' ~ settings.source_kind ~ '`',
            'leave this model out of the run'
        ) -%}
    {%- elif not settings.effective_at -%}
        {%- do _refuse(
            '`scd2_rebuild_from` rebuilds from extracts told apart by `effective_at`, which this model has not',
            'leave this model out of the run'
        ) -%}
    {%- elif not _is_moment(text | string) -%}
        {%- do _refuse('`scd2_rebuild_from` is `' ~ text ~ '`', 'give a date or timestamp such as 2024-01-31 or 2024-01-31T12:00:00Z; it is UTC unless it says otherwise') -%}
    {%- endif -%}
    {{- return(_micros(text | string)) -}}
{% endmacro %}
