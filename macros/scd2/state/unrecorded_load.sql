{# What a load notes before it fills new columns, so that the next one knows if it dies before it
   records them: the columns by the run that fills them. What a run that died noted stays, because
   this one may fail before its MERGE. #}
{% macro filled_columns_property(load) %}
    {%- set new_columns = load.backfilled_columns + load.overwritten_new_columns -%}
    {%- set filled = load.filled_columns + delta_scd2.lower_names(new_columns) -%}
    {{- return({'scd2.filled_columns': delta_scd2.redaction_safe_json(
        dict(delta_scd2._noted_columns(load), **{invocation_id: filled})
    )} if filled else {}) -}}
{% endmacro %}


{# The record of a load takes back what it and the runs that died before it noted. #}
{% macro no_filled_columns_property(load) %}
    {{- return({'scd2.filled_columns': '{}'}
        if delta_scd2.filled_columns_property(load) or delta_scd2._noted_columns(load) else {}) -}}
{% endmacro %}


{% macro _noted_columns(load) %}
    {{- return(fromjson(load.properties.get('scd2.filled_columns', '{}'))) -}}
{% endmacro %}


{# The changed fields of the load record where the last run filled columns, but died before it recorded
   them: they are not new, and a null in them is a value. #}
{% macro without_columns_of_unrecorded_load(load, merge) %}
    {%- set noted = delta_scd2._noted_columns(load).get(delta_scd2.invocation_of(merge), [])
        if merge is not none else [] -%}
    {%- set filled = [] -%}
    {%- for column in load.backfilled_columns + load.overwritten_new_columns
        if column.name | lower in noted and column not in load.missing_columns -%}
        {%- do filled.append(column) -%}
    {%- endfor -%}
    {%- if not filled -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set stored = delta_scd2.columns_by_lower_name(load.stored_columns) -%}
    {%- set backfilled = load.backfilled_columns | reject('in', filled) | list -%}
    {%- set common = load.tracked_columns | reject('in', backfilled) | list -%}
    {{- return({
        'filled_columns': delta_scd2.lower_names(filled),
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
