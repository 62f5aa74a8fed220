{# The guards read, before anything is written, and refuse with the model, the rows and the remedy. Moments are whole
   microseconds since the epoch. #}

{% macro _refuse(problem, remedy) %}
    {%- do exceptions.raise_compiler_error(
        (model.name ~ ': ' if model is defined else '') ~ problem ~ '.\nNothing was written. Remedy: ' ~ remedy ~ '.'
    ) -%}
{% endmacro %}


{% macro _refuse_mistakes(mistakes) %}
    {%- if mistakes -%}
        {%- do _refuse(mistakes | length ~ ' mistake(s) in the configuration:\n  - ' ~ mistakes | join('\n  - '),
            'mend the list above and run again') -%}
    {%- endif -%}
{% endmacro %}


{# The extracts among the rows of the model, oldest first: each large enough, each with one row a key. #}
{% macro _checked_extracts(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set from_column = _backticked(settings.columns.effective_from) -%}
    {%- set moments = [] -%}
    {%- for row in run_query(_extracts_sql(dimension)) -%}
        {%- if row['effective_from'] is none -%}
            {%- do _refuse(
                row['row_count'] ~ ' row(s) have no `' ~ settings.effective_at ~ '`: '
                    ~ _offenders(dimension, from_column ~ ' is null', 'true'),
                'give every row the time of its extract'
            ) -%}
        {%- endif -%}
        {%- set moment = row['effective_from'] | int -%}
        {%- set which = 'the extract of ' ~ _utc_text(moment) ~ ' UTC' -%}
        {%- set is_this = from_column ~ ' = ' ~ _timestamp_literal(moment) -%}
        {%- if row['null_keys'] -%}
            {%- do _refuse(
                which ~ ' has ' ~ row['null_keys'] ~ ' row(s) with a null in the business key: '
                    ~ _offenders(dimension, is_this ~ ' and (' ~ _any_key_is_null(dimension) ~ ')', 'true'),
                'filter these rows in the model, or mend them at the source'
            ) -%}
        {%- elif row['duplicates'] -%}
            {%- do _refuse(
                which ~ ' has ' ~ row['duplicates'] ~ ' row(s) too many for their business keys: '
                    ~ _offenders(dimension, is_this, 'count(*) > 1'),
                'keep one row a key in the model, or add a column to `unique_key`'
            ) -%}
        {%- elif row['row_count'] < settings.min_rows -%}
            {%- do _refuse_few_rows(which, row['row_count'], settings) -%}
        {%- endif -%}
        {%- do moments.append(moment) -%}
    {%- endfor -%}
    {%- if not moments and not _holds_rows(dimension.source) -%}
        {%- if settings.min_rows > 0 -%}
            {%- do _refuse_few_rows('the extract', 0, settings) -%}
        {%- elif not settings.effective_at -%}
            {%- do moments.append(dimension.run_started_at) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(moments) -}}
{% endmacro %}


{% macro _holds_rows(relation) %}
    {{- return(run_query('select 1 from ' ~ relation ~ ' limit 1').rows | length > 0) -}}
{% endmacro %}


{% macro _refuse_few_rows(which, row_count, settings) %}
    {%- do _refuse(
        which ~ ' has ' ~ row_count ~ ' row(s), fewer than `min_rows` (' ~ settings.min_rows ~ ')',
        'load the whole extract; if the source may be this small, lower `min_rows`'
    ) -%}
{% endmacro %}


{% macro _offenders(dimension, where, having) %}
    {{- return(_keys(_offenders_sql(dimension, where, having))) -}}
{% endmacro %}


{% macro _keys(query) %}
    {{- return(run_query(query).columns[0].values() | join('; ')) -}}
{% endmacro %}


{# The extracts that are still to be applied. The last one once more is no news, and one that comes late is refused. #}
{% macro _fresh_extracts(dimension, moments) %}
    {%- set boundary = run_query(_last_boundary_sql(dimension)).rows[0]['last_boundary'] -%}
    {%- set seen = dimension.applied + ([] if boundary is none else [boundary | int]) -%}
    {%- set last = seen | max if seen else none -%}
    {%- do dimension.update({'last': last}) -%}
    {%- set fresh = [] -%}
    {%- for moment in moments -%}
        {%- set which = 'the extract of ' ~ _utc_text(moment) ~ ' UTC' -%}
        {%- if last is none or moment > last -%}
            {%- do fresh.append(moment) -%}
        {%- elif moment == last -%}
            {%- set change = _changes(dimension, [moment])[0] -%}
            {%- if change.opened or change.deleted -%}
                {%- do _refuse(
                    which ~ ' was applied before with other rows, ' ~ change.appeared ~ ' new, ' ~ change.closed
                        ~ ' changed and ' ~ change.deleted ~ ' gone: '
                        ~ _keys(_touched_sql(dimension, [moment], 1, 'all')),
                    'give a repaired extract a later `effective_at`'
                ) -%}
            {%- endif -%}
            {#- Without a record, a run died between its MERGE and its record. -#}
            {%- do dimension.unrecorded.append(moment) if moment not in dimension.applied -%}
        {%- elif moment not in dimension.applied -%}
            {%- do _refuse(
                which ~ ' comes too late: the dimension stands at ' ~ _utc_text(last) ~ ' UTC',
                'apply extracts in the order of `' ~ (dimension.settings.effective_at or 'the run start, by the clock')
                    ~ '`, and leave this one out of the model'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(fresh) -}}
{% endmacro %}


{# What each extract would do, refusing one that would delete too much or end a version before it begins. #}
{% macro _checked_changes(dimension, moments) %}
    {%- set settings = dimension.settings -%}
    {%- set changes = _changes(dimension, moments) -%}
    {%- for change in changes -%}
        {%- set which = 'the extract of ' ~ _utc_text(change.moment) ~ ' UTC' -%}
        {%- set before = dimension.last if loop.first else moments[loop.index0 - 1] -%}
        {%- if change.deleted > settings.max_delete_fraction * change.live_before -%}
            {%- do _refuse(
                which ~ ' would delete ' ~ change.deleted ~ ' of ' ~ change.live_before ~ ' live keys, more than '
                    ~ '`max_delete_fraction` (' ~ settings.max_delete_fraction ~ ') allows: '
                    ~ _keys(_touched_sql(dimension, moments, loop.index, 'gone')),
                'load the whole extract; if so many keys are really gone, raise `max_delete_fraction`'
            ) -%}
        {%- elif (change.closed or change.deleted) and change.moment - before <= _gap_micros(settings) -%}
            {%- do _refuse(
                which ~ ' lies within `closing_gap` (' ~ settings.closing_gap ~ ') of the one of '
                    ~ _utc_text(before) ~ ' UTC',
                'leave more time between extracts, or choose a smaller `closing_gap`'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(changes) -}}
{% endmacro %}


{% macro _changes(dimension, moments) %}
    {%- set changes = [] -%}
    {%- if not moments -%}
        {{- return(changes) -}}
    {%- endif -%}
    {%- set steps = {} -%}
    {%- for row in run_query(_changes_sql(dimension, moments)) -%}
        {%- do steps.update({row['ordinal'] | int: row}) -%}
    {%- endfor -%}
    {%- set hard_deletes = dimension.settings.hard_deletes -%}
    {%- for moment in moments -%}
        {%- set step = steps.get(loop.index, {'appeared': 0, 'changed': 0}) -%}
        {%- set before = steps.get(loop.index0, {'live': 0, 'gone_after': 0}) -%}
        {%- set deleted = 0 if hard_deletes == 'ignore' else before['gone_after'] | int -%}
        {%- do changes.append({
            'moment': moment,
            'appeared': step['appeared'] | int,
            'opened': step['appeared'] | int + step['changed'] | int + (deleted if hard_deletes == 'new_record' else 0),
            'closed': step['changed'] | int,
            'deleted': deleted,
            'live_before': before['live'] | int,
        }) -%}
    {%- endfor -%}
    {{- return(changes) -}}
{% endmacro %}
