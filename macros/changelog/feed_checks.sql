{# Raises an error if the source of a changelog is a view; dbt does not know one that is given by its
   name. #}
{% macro _check_view(relation, name) %}
    {%- set known = none if relation is string else load_relation(relation) -%}
    {%- set types = [] -%}
    {%- if known is none -%}
        {%- for row in run_query('describe table extended ' ~ name).rows if row['col_name'] == 'Type' -%}
            {%- do types.append(row['data_type'] | lower) -%}
        {%- endfor -%}
    {%- else -%}
        {%- do types.append(known.type) -%}
    {%- endif -%}
    {%- if 'view' in types -%}
        {%- do delta_scd2.raise_refusal(
            name ~ ' is a view, so it has no change data feed', 'read the table behind it'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _check_planned_read(feed) %}
    {%- set error = delta_scd2._error_of_read(feed) -%}
    {%- if error -%}
        {%- set condition = error.condition -%}
        {%- if condition == 'DELTA_MISSING_CHANGE_DATA' -%}
            {%- set off = modules.re.search('version \\[(\\d+)\\]', error.text) -%}
            {%- set version = off.group(1) if off else feed.first -%}
            {%- do delta_scd2.raise_refusal(
                feed.name ~ ' did not record its changes at version ' ~ version
                    ~ ': its change data feed was off',
                'switch it on with `alter table ' ~ feed.name
                    ~ ' set tblproperties (delta.enableChangeDataFeed = true)`, and '
                    ~ (feed.remedy or delta_scd2._how_to_go_on('a version since then'))
            ) -%}
        {%- elif condition in ['DELTA_LOG_FILE_NOT_FOUND', 'DELTA_TRUNCATED_TRANSACTION_LOG'] -%}
            {%- do delta_scd2._raise_expired_range(feed.name,
                'versions from ' ~ feed.first ~ ' on are no longer in its log', feed.remedy) -%}
        {%- elif condition == delta_scd2.beyond_file_retention() -%}
            {%- do delta_scd2.raise_refusal(
                'the changes of ' ~ feed.name ~ ' since version ' ~ feed.first
                    ~ ' are older than its `delta.deletedFileRetentionDuration`',
                'raise that, as with `alter table ' ~ feed.name ~ " set tblproperties "
                    ~ "('delta.deletedFileRetentionDuration' = 'interval 30 days')`, which makes them "
                    ~ 'readable again if no `VACUUM` has removed their files; otherwise, '
                    ~ (feed.remedy or delta_scd2._how_to_go_on('a version that is retained'))
            ) -%}
        {%- elif condition in [
            'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE',
            'DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA',
        ] -%}
            {%- do delta_scd2._raise_other_columns(feed) -%}
        {%- endif -%}
        {%- do delta_scd2.raise_refusal('the changes of ' ~ feed.name ~ ' cannot be read: '
            ~ (error.text | trim).splitlines()[0] | trim('.'),
            'fix what Spark names') -%}
    {%- endif -%}
{% endmacro %}


{% macro _raise_other_columns(feed) %}
    {%- do delta_scd2.raise_refusal(
        'the columns of ' ~ feed.name ~ ' were renamed, dropped or retyped since version '
            ~ feed.first ~ ', so its changes up to version ' ~ feed.last
            ~ ' cannot be read as one',
        feed.remedy or delta_scd2._how_to_go_on('a version after that change')
    ) -%}
{% endmacro %}


{# Changes that are not known may be deletions, so that adding rows to a copy would not do. #}
{% macro _how_to_go_on(version) %}
    {{- return('replace the rows of the copy with those of the table as of ' ~ version
        ~ ', and go on from it') -}}
{% endmacro %}


{% macro _raise_expired_range(name, problem, remedy=none) %}
    {%- do delta_scd2.raise_refusal(
        'the changes of ' ~ name ~ ' are no longer retained: ' ~ problem,
        (remedy or delta_scd2._how_to_go_on('a version that is retained'))
            ~ '; to keep changes longer, raise `delta.logRetentionDuration` and '
            ~ '`delta.deletedFileRetentionDuration` of the table'
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


{# Up to ten keys that have several rows in a version of the range or in the one from which it
   starts. #}
{% macro _duplicates_sql(feed) -%}
{{ delta_scd2._row_counts_sql(feed, feed.key_columns) }}

select distinct {{ delta_scd2.key_text_sql(feed) }} as business_key
from row_counts
where _change_rows > 1
order by business_key
limit 10
{%- endmacro %}


{% macro _error_of_read(feed) %}
    {%- set probe = dict(feed, first=[feed.first, feed.last] | min) -%}
    {{- return(delta_scd2.planning_error('select * from ' ~ delta_scd2._feed_sql(probe))) -}}
{% endmacro %}


{# The answers of a query that reads the feed once before the model does: VACUUM removes files
   without a trace in the log. #}
{% macro _answers(feed, query) %}
    {%- set answered = delta_scd2.run_script(delta_scd2._answers_if_readable(query)) -%}
    {%- set answers = answered.columns[0].values() -%}
    {%- if 'unreadable' in answers and feed.catches_up -%}
        {{- return(none) -}}
    {%- elif 'unreadable' in answers -%}
        {%- do delta_scd2._raise_expired_range(feed.name,
            'files of versions ' ~ feed.first ~ ' to ' ~ feed.last ~ ' are gone', feed.remedy) -%}
    {%- endif -%}
    {{- return(answers) -}}
{% endmacro %}
