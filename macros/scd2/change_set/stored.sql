{# The versions that the run may touch. #}
{% macro _stored_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- if dimension.exists -%}
        {%- set scope = _scope(dimension) -%}
        {%- set conditions = [] -%}
        {%- if dimension.is_amended -%}
            {{- _evolved_versions_sql(dimension) -}}
        {%- endif -%}
        {%- if scope and dimension.overwrite_columns and settings.source_kind == 'snapshot' -%}
            {{- _overwritten_sql(dimension) -}}
        {%- endif -%}
        {%- do conditions.append(scope | join(' or ') if scope | length == 1 else '(' ~ scope | join(' or ') ~ ')') if scope -%}
        {%- if settings.unknown_member -%}
            {%- do conditions.append(is_not_unknown_member_sql(dimension)) -%}
        {%- endif -%}
stored as (
    select *
    from {{ 'amended' if dimension.is_amended else dimension.as_read if settings.source_kind == 'snapshot' else dimension.known }}
        {%- if conditions %}
    where {{ conditions | join('\n        and ') }}
        {%- endif %}
),

{% endif -%}
{% endmacro %}


{% macro _scope(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set key = backticked(settings.columns.durable_key) -%}
    {%- set is_refilled = settings.source_kind == 'snapshot' and dimension.refilled != [] -%}
    {%- if dimension.rebuild_from or is_refilled or (dimension.tracking_changed and not dimension.vanished) -%}
        {{- return([]) -}}
    {%- endif -%}
    {%- set scope = [] -%}
    {%- if settings.source_kind == 'snapshot' or dimension.tracking_changed -%}
        {%- do scope.append(backticked(settings.columns.is_current) ~ ' = ' ~ flag_literal(settings, true)) -%}
    {%- endif -%}
    {%- if settings.source_kind != 'snapshot' and dimension.is_amended -%}
        {%- do scope.append(key ~ ' in (select ' ~ key ~ ' from ' ~ dimension.extract ~ ')') -%}
    {%- elif settings.source_kind == 'snapshot' and settings.inferred_member -%}
        {%- do scope.append(key ~ ' in (select ' ~ key ~ ' from ' ~ dimension.extract ~ ' where '
            ~ backticked(settings.inferred_member) ~ ')') -%}
    {%- endif -%}
    {%- if settings.source_kind == 'snapshot' and dimension.overwrite_columns -%}
        {%- do scope.append(key ~ ' in (select ' ~ key ~ ' from overwritten)') -%}
    {%- endif -%}
    {{- return(scope) -}}
{% endmacro %}
