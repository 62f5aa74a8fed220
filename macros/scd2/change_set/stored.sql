{# The stored versions that the load may change. #}
{% macro _stored_sql(load) %}
    {%- set settings = load.settings -%}
    {%- if load.exists -%}
        {%- set scope = delta_scd2._scope(load) -%}
        {%- set conditions = [] -%}
        {%- if load.schema_changed -%}
            {{- delta_scd2._evolved_versions_sql(load) -}}
        {%- endif -%}
        {%- if scope and load.overwrite_columns and settings.reads_extracts -%}
            {{- delta_scd2._overwritten_sql(load) -}}
        {%- endif -%}
        {%- set either = scope | join(' or ') -%}
        {%- do conditions.append(either if scope | length == 1 else '(' ~ either ~ ')') if scope -%}
        {%- if settings.unknown_member -%}
            {%- do conditions.append(delta_scd2.is_not_unknown_member_sql(load)) -%}
        {%- endif -%}
stored as (
    select *
    from {{ 'evolved_versions' if load.schema_changed
        else load.target_as_read if settings.reads_extracts
        else load.stored_of_batch }}
        {%- if conditions %}
    where {{ conditions | join('\n        and ') }}
        {%- endif %}
),

{% endif -%}
{% endmacro %}


{# Which stored versions the load may change: conditions, of which one has to hold, or none if it may
   change all. #}
{% macro _scope(load) %}
    {%- set settings = load.settings -%}
    {%- set key = delta_scd2.backticked(settings.columns.durable_key) -%}
    {%- set is_refilled = settings.reads_extracts and load.overwritten_new_columns != [] -%}
    {#- A tracked column that was dropped in the table, too, told versions apart that are equal now. -#}
    {%- set lost = fromjson(load.properties.get('scd2.track_columns', '[]'))
        | reject('in', delta_scd2.lower_names(load.stored_columns)) | list -%}
    {#- These concern past versions of keys without a row, too. -#}
    {%- if load.rebuild_from or is_refilled
        or (load.tracking_changed and (lost or not load.dropped_columns)) -%}
        {{- return([]) -}}
    {%- endif -%}
    {%- set scope = [] -%}
    {%- set in_rows = key ~ ' in (select ' ~ key ~ ' from ' ~ load.hashed_rows -%}
    {%- if settings.reads_extracts -%}
        {%- do scope.append(delta_scd2.is_current_sql(settings)) -%}
        {#- An inferred row begins before all versions of its key. -#}
        {%- do scope.append(in_rows ~ ' where ' ~ delta_scd2.backticked(settings.inferred_member) ~ ')')
            if settings.inferred_member -%}
        {#- A type 1 value is written to every version. -#}
        {%- do scope.append(key ~ ' in (select ' ~ key ~ ' from overwritten)') if load.overwrite_columns -%}
    {%- elif load.schema_changed -%}
        {#- Otherwise, the versions of the batch are staged, which are all those of its keys. -#}
        {%- do scope.append(delta_scd2.is_current_sql(settings)) if load.tracking_changed -%}
        {%- do scope.append(in_rows ~ ')') -%}
    {%- endif -%}
    {{- return(scope) -}}
{% endmacro %}
