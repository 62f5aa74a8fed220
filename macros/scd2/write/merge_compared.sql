{# Writes a comparison in one MERGE: each row of it ends the current version of its key, opens a
   version, or both. #}
{% macro merge_compared_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set effective_to = delta_scd2.backticked(names.effective_to) -%}
    {%- set is_current = delta_scd2.backticked(names.is_current) -%}
    {%- set is_deleted = delta_scd2.backticked(names.is_deleted) -%}
merge into {{ load.target }} as target
using (
    {{ delta_scd2._compared_changes_sql(load) | trim | indent(4) }}
) as changes
on
    {{- delta_scd2._same_business_key_sql(load) }}
    and target.{{ delta_scd2.is_current_sql(settings) }}
    and changes._scd2_action = 'end'
when matched then update set
    {{ effective_to }} = changes.{{ effective_to }},
    {{ is_current }} = changes.{{ is_current }},
    {{ is_deleted }} = changes.{{ is_deleted }}
{{ delta_scd2._insert_changes_sql(load) }}
{% endmacro %}


{% macro _compared_changes_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set at = delta_scd2.timestamp_literal(load.pending_extracts | first) -%}
    {%- set closing = delta_scd2.closing_sql(settings, at) -%}
    {%- set yes = delta_scd2.flag_literal(settings, true) -%}
    {%- set no = delta_scd2.flag_literal(settings, false) -%}
select
    compared._scd2_action,
    {%- if names.surrogate_key %}
    {%- set new_key = delta_scd2.new_key_sql(load, partition_by='compared._scd2_action') %}
    {{ new_key | indent(4) }} as {{ delta_scd2.backticked(names.surrogate_key) }},
    {%- endif %}
    compared.{{ delta_scd2.backticked(names.durable_key) }},
    {%- for column in load.kept_columns %}
    compared.{{ delta_scd2.backticked(column.name) }},
    {%- endfor %}
    compared.{{ delta_scd2.backticked(names.hash_diff) }},
    {%- for column in delta_scd2.derived_columns(load) %}
    {{ column.sql }} as {{ delta_scd2.backticked(column.name) }},
    {%- endfor %}
    compared.{{ delta_scd2.backticked(names.effective_from) }},
    case
        when compared._scd2_action = 'open' then {{ delta_scd2.open_end_literal(settings) }}
        -- a version that ended with a deletion keeps its end
        when compared._scd2_effect = 'returned' then compared._scd2_stored_to
        -- from an array, so that Spark can reuse the generated code of the last load
        else if(compared._scd2_action = 'end', array({{ closing }}), null)[0]
    end as {{ delta_scd2.backticked(names.effective_to) }},
    {%- set is_current = "compared._scd2_action = 'open' or compared._scd2_effect = 'deleted'" %}
    if({{ is_current }}, {{ yes }}, {{ no }}) as {{ delta_scd2.backticked(names.is_current) }},
    {%- set is_deleted = "compared._scd2_action = 'end' and compared._scd2_effect <> 'changed'" %}
    if({{ is_deleted }}, {{ yes }}, {{ no }}) as {{ delta_scd2.backticked(names.is_deleted) }}
from (
    select *
    from {{ load.changes }}
    lateral view explode(
        case _scd2_effect
            when 'new' then array('open')
            when 'deleted' then array('end')
            else array('end', 'open')
        end
    ) as _scd2_action
    where _scd2_effect <> 'unchanged'
) as compared
    {%- if settings.has_sequence_keys %}
cross join ({{ delta_scd2.last_key_sql(load) }}) as last_key
    {%- endif %}
-- a semi join lets Spark still see that few rows change
left semi join (
    {{ delta_scd2.assert_target_unchanged_sql(load) | trim | indent(4) }}
) as standing
{% endmacro %}
