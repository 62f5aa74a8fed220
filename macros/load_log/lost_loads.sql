{# Loads that are in the history of a dimension and not in the log, because their run was killed
   between the two. #}
{% macro _lost_loads(log, node) %}
    {%- set limit = 100 -%}
    {%- set logged, oldest = [invocation_id], 0 -%}
    {%- if load_relation(log) is not none -%}
        {%- set name = delta_scd2.sql_string(delta_scd2._logged_name(node)) -%}
        {%- do logged.extend(delta_scd2.run_to_its_end('select invocation_id from ' ~ log
            ~ ' where relation = ' ~ name).columns[0].values()) -%}
        {#- What is older may have been deleted from the log. -#}
        {%- set oldest = delta_scd2.run_to_its_end('select least(unix_micros(min(started_at)), '
            ~ delta_scd2._last_deletion(log, limit) ~ ') from ' ~ log).columns[0].values()[0] | int -%}
    {%- endif -%}
    {%- set rows = [] -%}
    {%- for commit in delta_scd2.newest_commits(node.relation_name, limit) -%}
        {%- set invocation = delta_scd2.invocation_of(commit) -%}
        {%- if invocation and invocation not in logged and delta_scd2._writes_versions(commit)
            and delta_scd2.committed_micros(commit) >= oldest -%}
            {%- do logged.append(invocation) -%}
            {%- do rows.append(dict(
                delta_scd2.load_log_entry(node, 'success', delta_scd2._message_of_found_load()),
                invocation_id=delta_scd2.sql_string(invocation),
                started_at=delta_scd2.timestamp_literal(delta_scd2.committed_micros(commit)),
                delta_version=commit['version'],
            )) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(rows) -}}
{% endmacro %}


{% macro _message_of_found_load() %}
    {{- return('found in the history of the table: its run did not write this log') -}}
{% endmacro %}


{# When rows were deleted from the log for the last time, or may have been; 0 if they never were. #}
{% macro _last_deletion(log, limit) %}
    {%- set commits = delta_scd2.newest_commits(log, limit) -%}
    {%- for commit in commits
        if not commit['isBlindAppend'] and commit['operation'] not in ['OPTIMIZE', 'UPDATE']
            and commit['version'] -%}
        {{- return(delta_scd2.committed_micros(commit)) -}}
    {%- endfor -%}
    {{- return(delta_scd2.committed_micros(commits[-1]) if commits[-1]['version'] else 0) -}}
{% endmacro %}


{# The version that this run wrote, if it did. #}
{% macro _committed_by_this_run(node) %}
    {#- dbt does not know a table that a load created before it failed. -#}
    {%- if delta_scd2.query_exists(delta_scd2.table_of(node), to_its_end=true) -%}
        {%- for commit in delta_scd2.newest_commits(node.relation_name, 10)
            if delta_scd2.invocation_of(commit) == invocation_id
                and delta_scd2._writes_versions(commit) -%}
            {{- return({'delta_version': commit['version']}) -}}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}


{# Whether a commit wrote versions; `--empty` makes a table without any. #}
{% macro _writes_versions(commit) %}
    {%- set makes_table = commit['operation'].endswith('AS SELECT') -%}
    {{- return(commit['operation'] == 'MERGE'
        or (makes_table and 'scd2.sample' not in commit['operationParameters'] | string)) -}}
{% endmacro %}
