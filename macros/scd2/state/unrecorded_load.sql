{# The changed fields of the load record where a run added and filled columns, but died before it
   recorded them: they are not new, and a null in them is a value. #}
{% macro without_columns_of_unrecorded_load(load, commits) %}
    {%- set added = delta_scd2._added_by_unrecorded_load(commits) -%}
    {%- set backfilled = [] -%}
    {%- for column in load.backfilled_columns if column.name | lower not in added -%}
        {%- do backfilled.append(column) -%}
    {%- endfor -%}
    {%- if backfilled == load.backfilled_columns -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set stored = {} -%}
    {%- for column in load.stored_columns -%}
        {%- do stored.update({column.name | lower: column}) -%}
    {%- endfor -%}
    {%- set common = load.tracked_columns | reject('in', backfilled) | list -%}
    {{- return({
        'backfilled_columns': backfilled,
        'common_columns': common,
        'stored_common_columns': delta_scd2.columns_by_name(common | map(attribute='name'), stored),
    }) -}}
{% endmacro %}


{# The columns that were added before the newest MERGE, and since a run recorded which columns there
   are, by their lower-case names. #}
{% macro _added_by_unrecorded_load(commits) %}
    {%- set names, has_merge = [], [] -%}
    {%- for commit in commits -%}
        {%- if 'scd2.columns' in commit['operationParameters'] | string -%}
            {{- return(names) -}}
        {%- endif -%}
        {%- do has_merge.append(true) if commit['operation'] == 'MERGE' -%}
        {%- if commit['operation'] == 'ADD COLUMNS' and has_merge -%}
            {%- for added in fromjson(fromjson(commit['operationParameters'])['columns']) -%}
                {%- do names.append(added['column']['name'] | lower) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(names) -}}
{% endmacro %}
