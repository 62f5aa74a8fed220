{# The keys with a version whose overwritten columns differ from the newest row. #}
{% macro _overwritten_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set key = delta_scd2.backticked(settings.columns.durable_key) -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) -%}
newest as (
    select
        {{ key }},
        max_by({{ delta_scd2._struct(load.overwrite_columns) }}, {{ effective_from }}) as last_row
    from {{ load.hashed_rows }}
    {%- if settings.inferred_member %}
    where {{ delta_scd2._is_real_row_sql(settings) }}
    {%- endif %}
    group by {{ key }}
),

overwritten as (
    select distinct target.{{ key }}
    from {{ 'evolved_versions' if load.schema_changed else load.target_as_read }} as target
    inner join newest
        on target.{{ key }} = newest.{{ key }}
    where not ({{ delta_scd2._struct(load.overwrite_columns, 'target') }} <=> newest.last_row)
),

{% endmacro %}


{% macro _is_real_row_sql(settings) %}
    {%- set conditions = [] -%}
    {%- if settings.inferred_member -%}
        {%- do conditions.append('not ' ~ delta_scd2.is_inferred_sql(settings)) -%}
    {%- endif -%}
    {%- if settings.change_type -%}
        {%- do conditions.append('not _scd2_is_gone') -%}
    {%- endif -%}
    {{- return(conditions | join(' and ')) -}}
{% endmacro %}
