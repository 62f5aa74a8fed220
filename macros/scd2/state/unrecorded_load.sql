{# What a load notes before it fills new columns, so that the next one knows if it dies before it
   records them. #}
{% macro filled_columns_property(load) %}
    {%- set new_columns = load.backfilled_columns + load.overwritten_new_columns -%}
    {{- return({'scd2.filled_columns': delta_scd2.redaction_safe_json(
        {'run': invocation_id, 'columns': delta_scd2.lower_names(new_columns)}
    )} if new_columns else {}) -}}
{% endmacro %}


{# The changed fields of the load record where the last run filled columns, but died before it recorded
   them: they are not new, and a null in them is a value. #}
{% macro without_columns_of_unrecorded_load(load, merge) %}
    {%- set noted = fromjson(load.properties.get('scd2.filled_columns', '{}')) -%}
    {%- set is_of_merge = merge is not none and noted.run == delta_scd2.invocation_of(merge) -%}
    {%- set filled = [] -%}
    {%- for column in load.backfilled_columns + load.overwritten_new_columns
        if is_of_merge and column.name | lower in noted.columns and column not in load.missing_columns -%}
        {%- do filled.append(column) -%}
    {%- endfor -%}
    {%- if not filled -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set stored = delta_scd2.columns_by_lower_name(load.stored_columns) -%}
    {%- set backfilled = load.backfilled_columns | reject('in', filled) | list -%}
    {%- set common = load.tracked_columns | reject('in', backfilled) | list -%}
    {{- return({
        'backfilled_columns': backfilled,
        'overwritten_new_columns': load.overwritten_new_columns | reject('in', filled) | list,
        'common_columns': common,
        'stored_common_columns': delta_scd2.columns_by_name(common | map(attribute='name'), stored),
    }) -}}
{% endmacro %}


{# The newest MERGE of a run, if no run recorded anything since, or took it back; otherwise none. #}
{% macro unrecorded_merge(commits) %}
    {%- for commit in commits -%}
        {%- if delta_scd2._is_recorded_by(commit) -%}
            {{- return(none) -}}
        {%- elif commit['operation'] == 'MERGE' and delta_scd2.invocation_of(commit) -%}
            {{- return(commit) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(none) -}}
{% endmacro %}


{# Whether a commit records the loads before it, or takes them back. #}
{% macro _is_recorded_by(commit) %}
    {%- set operation, parameters = commit['operation'], commit['operationParameters'] | string -%}
    {{- return(operation == 'RESTORE' or operation.endswith('AS SELECT')
        or 'scd2.columns' in parameters or 'scd2.extracts' in parameters) -}}
{% endmacro %}
