{# Each inconsistency of a version with its history: the SQL condition, the description and the
   remedy. #}
{% macro _version_problems(load, old) %}
    {%- set from_column = delta_scd2.backticked(load.settings.columns.effective_from) -%}
    {%- set is_version = 'not _scd2_is_tombstone and ' -%}
    {%- set problems = delta_scd2._problems_of_intervals(load) -%}
    {%- do problems.extend(delta_scd2._gap_problems(load)) if delta_scd2.gap_micros(load.settings) -%}
    {%- for column in delta_scd2.lossy_partitions(load.kept_columns, load.detail.partitions) -%}
        {%- do problems.append({
            'where': is_version ~ delta_scd2.is_lost_partition_sql(column),
            'what': 'have a value in `' ~ column.name ~ '` ' ~ delta_scd2.not_kept_text(),
            'remedy': delta_scd2._in_a_view('give it another value') ~ ', or drop the new table, take the '
                ~ 'column out of `partition_by`, and make it anew by `dbt run --empty`',
        }) -%}
    {%- endfor -%}
    {%- if load.unavailable_columns -%}
        {%- do problems.append({
            'where': is_version ~ delta_scd2.has_unavailable_value_sql(load),
            'what': 'hold `' ~ load.settings.unavailable_value ~ '` in place of a value',
            'remedy': delta_scd2._in_a_view('put the value there, or null'),
        }) -%}
    {%- endif -%}
    {%- if load.settings.reads_extracts -%}
        {%- do problems.append({
            'where': from_column ~ ' > current_timestamp()',
            'what': 'begin in the future, so that every extract would come too late',
            'remedy': delta_scd2._in_a_view('leave them out'),
        }) -%}
    {%- endif -%}
    {%- do problems.extend(delta_scd2._problems_of_added_columns(load, old)) -%}
    {%- if load.settings.ignores_deletes -%}
        {%- do problems.append({
            'where': is_version
                ~ '_scd2_valid_to is not null and not (_scd2_valid_to <=> _scd2_returns_at)',
            'what': 'end by a deletion, and `hard_deletes` of ' ~ load.name ~ ' is `ignore`',
            'remedy': 'choose another value there',
        }) -%}
    {%- endif -%}
    {%- if not old.merges -%}
        {%- do problems.append({
            'where': '_scd2_is_repeat',
            'what': 'repeat the version before them in every tracked column',
            'remedy': 'add `merge_equal_versions: true` to make one version of both, which keeps '
                ~ 'the surrogate key of the earlier, or track the column in which they differ',
        }) -%}
    {%- endif -%}
    {{- return(problems) -}}
{% endmacro %}


{# Versions without a key or a beginning, and intervals that no history has. #}
{% macro _problems_of_intervals(load) %}
    {%- set from_column = delta_scd2.backticked(load.settings.columns.effective_from) -%}
    {%- set is_version = 'not _scd2_is_tombstone and ' -%}
    {{- return([
        {
            'where': delta_scd2.any_is_null_sql(load.key_columns),
            'what': 'have a null in the business key',
            'remedy': delta_scd2._in_a_view('leave them out, or replace the null, for example '
                ~ 'with `coalesce`')
                ~ (' (an unknown member is in ' ~ load.target ~ ' already)'
                    if load.settings.unknown_member else ''),
        },
        {
            'where': from_column ~ ' is null',
            'what': 'have no beginning',
            'remedy': delta_scd2._in_a_view('give them one'),
        },
        {
            'where': is_version ~ '_scd2_valid_to <= ' ~ from_column,
            'what': 'end before they begin, or at that moment',
            'remedy': delta_scd2._in_a_view('leave them out') ~ ', or fix `closing_gap`',
        },
        {
            'where': from_column ~ ' = _scd2_next_at',
            'what': 'begin when another version of their key does',
            'remedy': delta_scd2._in_a_view('keep one of the two'),
        },
        {
            'where': is_version ~ '_scd2_next_at < coalesce(_scd2_valid_to, '
                ~ "timestamp '9999-12-31')",
            'what': 'overlap the next version of their key',
            'remedy': delta_scd2._in_a_view('end them where the next begins'),
        },
        {
            'where': is_version ~ '_scd2_valid_to > current_timestamp()',
            'what': 'end in the future',
            'remedy': 'name the date that stands for an open end as `open_end`',
        },
    ]) -}}
{% endmacro %}


{% macro _validate_versions(load, old) %}
    {%- set problems = delta_scd2._version_problems(load, old) -%}
    {%- set counts = {} -%}
    {%- set versions = {} -%}
    {%- for row in run_query(delta_scd2._violations_sql(load, old, problems)) -%}
        {%- do counts.update({row['problem'] | int: row['version_count']}) -%}
        {%- do versions.setdefault(row['problem'] | int, []).append(row['version']) -%}
    {%- endfor -%}
    {%- set mistakes = [] -%}
    {%- for number in versions | sort -%}
        {%- do mistakes.append(counts[number] ~ ' version(s) ' ~ problems[number].what ~ ': '
            ~ versions[number] | join('; ') ~ '. ' ~ problems[number].remedy[:1] | upper
            ~ problems[number].remedy[1:]) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# Up to ten versions per problem; a version is listed under its first problem. #}
{% macro _violations_sql(load, old, problems) %}
    {%- set from_column = delta_scd2.backticked(load.settings.columns.effective_from) -%}
    {%- set beginning = 'coalesce(cast(' ~ from_column ~ " as string), 'no time')" %}
with checked as (
    select
        case
            {%- for problem in problems %}
            when {{ problem.where }} then {{ loop.index0 }}
            {%- endfor %}
        end as problem,
        concat({{ delta_scd2.key_text_sql(load) }}, ' of ', {{ beginning }}) as version
    from {{ old.versions }}
)

select *
from (
    select
        *,
        count(*) over (partition by problem) as version_count,
        row_number() over (partition by problem order by version) as position
    from checked
    where problem is not null
)
where position <= 10
order by problem, position
{% endmacro %}


{# Contradictions between the intervals and the flags or surrogate keys of the old table. #}
{% macro _problems_of_added_columns(load, old) %}
    {%- set from_column = delta_scd2.backticked(load.settings.columns.effective_from) -%}
    {%- set is_version = 'not _scd2_is_tombstone and ' -%}
    {%- set problems = [] -%}
    {%- for role in ['is_current', 'is_deleted'] if old.columns[role] -%}
        {%- do problems.append({
            'where': '_scd2_marked_' ~ role[3:] ~ ' is null',
            'what': 'have another value in `' ~ old.columns[role] ~ '` than '
                ~ old.settings.flag_values | join(' or '),
            'remedy': 'give the two values as `flag_values`, first the one for true; '
                ~ delta_scd2._in_a_view('replace a null'),
        }) -%}
    {%- endfor -%}
    {%- if old.columns.is_current -%}
        {%- do problems.append({
            'where': is_version ~ '_scd2_marked_current and ' ~ from_column ~ ' < _scd2_last_at',
            'what': 'are marked current, though a later version follows',
            'remedy': delta_scd2._in_a_view('mark the last version alone'),
        }) -%}
        {%- do problems.append({
            'where': is_version ~ 'not _scd2_marked_current and _scd2_valid_to is null',
            'what': 'are open, though not marked current',
            'remedy': delta_scd2._in_a_view('end them, or mark them'),
        }) -%}
    {%- endif -%}
    {%- if old.columns.is_deleted -%}
        {%- do problems.append({
            'where': is_version ~ '_scd2_marked_deleted and (_scd2_valid_to is null or '
                ~ '_scd2_valid_to = _scd2_next_at)',
            'what': 'are marked deleted, though they have no end, or the next version begins there',
            'remedy': 'end them at the deletion in a view; if the marked rows stand for the time '
                ~ 'after it, say `hard_deletes: new_record`',
        }) -%}
        {%- do problems.append({
            'where': 'not _scd2_marked_deleted and _scd2_valid_to is not null '
                ~ 'and not (_scd2_valid_to <=> _scd2_next_at)',
            'what': 'end before another version begins, and are not marked deleted',
            'remedy': 'fix `closing_gap`; ' ~ delta_scd2._in_a_view('mark them')
                ~ '; or do not name `' ~ old.columns.is_deleted ~ '`',
        }) if not old.settings.keeps_tombstones -%}
    {%- endif -%}
    {%- if old.columns.surrogate_key -%}
        {%- do problems.append({
            'where': '_scd2_old_key is null or _scd2_kept_key is null or not (_scd2_old_key <=> '
                ~ '_scd2_kept_key) or _scd2_key_count > 1'
                ~ (" or _scd2_kept_key = -1"
                    if load.settings.unknown_member and load.settings.has_sequence_keys else ''),
            'what': 'have no surrogate key of their own, or one that `'
                ~ load.settings.columns.surrogate_key ~ '` cannot hold',
            'remedy': delta_scd2._in_a_view('fix them') ~ ', or do not keep the keys',
        }) -%}
    {%- endif -%}
    {{- return(problems) -}}
{% endmacro %}
