{# The stored columns, in the types of the model. #}
{% macro _evolved_columns_sql(load) %}
    {%- set names = load.settings.columns -%}
    {%- set key = delta_scd2.backticked(names.durable_key) -%}
    {%- set effective_from = delta_scd2.backticked(names.effective_from) -%}
    {%- set stored_hash = delta_scd2.hash_of(load.stored_common_columns, 'target')
        if load.backfilled_columns -%}
evolved_versions as (
    select
        {%- if names.surrogate_key %}
        target.{{ delta_scd2.backticked(names.surrogate_key) }},
        {%- endif %}
        target.{{ key }},
        {%- for column in load.kept_columns %}
        {{ delta_scd2._evolved_column(load, column) }} as {{ delta_scd2.backticked(column.name) }},
        {%- endfor %}
        {%- for column in load.overwritten_new_columns %}
        {%- set name = delta_scd2.backticked('_scd2_stored_column_' ~ column.name) %}
        {{ delta_scd2._stored_column(load, column) }} as {{ name }},
        {%- endfor %}
        {%- if load.backfilled_columns %}
        first_backfill.backfill_row is not null as _scd2_is_filled,
        {%- endif %}
        target.{{ delta_scd2.backticked(names.hash_diff) }},
        {%- if load.has_state_hash %}
        target.{{ delta_scd2.backticked(names.state_hash) }},
        {%- endif %}
        target.{{ effective_from }},
        target.{{ delta_scd2.backticked(names.effective_to) }},
        target.{{ delta_scd2.backticked(names.is_current) }},
        target.{{ delta_scd2.backticked(names.is_deleted) }}
    from {{ load.target_as_read }} as target
        {%- if load.backfilled_columns %}
    left join first_backfill
        on
            target.{{ key }} = first_backfill.{{ key }}
            and target.{{ effective_from }} = first_backfill.{{ effective_from }}
            and {{ stored_hash | indent(12) }} = first_backfill.backfill_row._scd2_common_hash
        {%- endif %}
        {%- if load.overwritten_new_columns %}
    left join newest_backfill
        on target.{{ key }} = newest_backfill.{{ key }}
        {%- endif %}
),

{% endmacro %}


{# The stored versions with the future columns and types of the table. A version takes the first
   value of a new tracked column, unless other columns changed at the same time; every version of a
   key takes the newest value of an overwritten one. #}
{% macro _evolved_versions_sql(load) %}
    {{- delta_scd2._backfill_sql(load) if load.backfilled_columns or load.overwritten_new_columns -}}
    {{- delta_scd2._first_backfill_sql(load) if load.backfilled_columns -}}
    {{- delta_scd2._newest_backfill_sql(load) if load.overwritten_new_columns -}}
    {{- delta_scd2._evolved_columns_sql(load) -}}
{% endmacro %}


{% macro _evolved_column(load, column) %}
    {%- set name = delta_scd2.backticked(column.name) -%}
    {%- set stored = delta_scd2._stored_column(load, column) -%}
    {%- if column in load.overwritten_new_columns -%}
        {{- return('if(newest_backfill.backfill_row is null, ' ~ stored
            ~ ', newest_backfill.backfill_row.' ~ name ~ ')') -}}
    {%- elif column not in load.backfilled_columns -%}
        {{- return(stored) -}}
    {%- elif column in load.missing_columns -%}
        {{- return('first_backfill.backfill_row.' ~ name) -}}
    {%- endif -%}
    {{- return('coalesce(' ~ stored ~ ', first_backfill.backfill_row.' ~ name ~ ')') -}}
{% endmacro %}


{# The stored value of a column, in its future type. #}
{% macro _stored_column(load, column) %}
    {%- set stored = 'target.' ~ delta_scd2.backticked(column.name) -%}
    {%- if column in load.widened_columns -%}
        {{- return('cast(' ~ stored ~ ' as ' ~ column.data_type ~ ')') -}}
    {%- elif column in load.missing_columns -%}
        {{- return('cast(null as ' ~ column.data_type ~ ')') -}}
    {%- endif -%}
    {{- return(stored) -}}
{% endmacro %}
