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
{{ delta_scd2._insert_sql(load, 'changes') }}
{% endmacro %}


{% macro _compared_changes_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set values = delta_scd2._values_after_extract(load) if settings.reads_extracts
        else delta_scd2._values_after_batch(load) -%}
select
    compared._scd2_action,
    {%- if names.surrogate_key %}
    {%- set new_key = delta_scd2.new_key_sql(load, partition_by='compared._scd2_action') %}
    if(
        compared._scd2_action = 'open',
        {{ new_key | indent(8) }},
        null
    ) as {{ delta_scd2.backticked(names.surrogate_key) }},
    {%- endif %}
    compared.{{ delta_scd2.backticked(names.durable_key) }},
    {{ delta_scd2.column_list(load.kept_columns, 'compared') }},
    compared.{{ delta_scd2.backticked(names.hash_diff) }},
    {%- if names.state_hash %}
    {{ delta_scd2.state_hash_sql(load) }} as {{ delta_scd2.backticked(names.state_hash) }},
    {%- endif %}
    compared.{{ delta_scd2.backticked(names.effective_from) }},
    {{ values.effective_to | indent(4) }} as {{ delta_scd2.backticked(names.effective_to) }},
    {{ delta_scd2.flag_sql(settings, values.is_current) | indent(4) }} as {{ delta_scd2.backticked(names.is_current) }},
    {{ delta_scd2.flag_sql(settings, values.is_deleted) | indent(4) }} as {{ delta_scd2.backticked(names.is_deleted) }}
from (
    {{ values.rows | indent(4) }}
) as compared
    {%- if settings.has_sequence_keys %}
cross join ({{ delta_scd2.last_key_sql(load) }}) as last_key
    {%- endif %}
-- a semi join lets Spark still see that few rows change
left semi join (
    {{ delta_scd2.assert_target_unchanged_sql(load) | trim | indent(4) }}
) as target_state
{% endmacro %}


{# A full extract ends versions at its time, and the versions that it opens stay open. #}
{% macro _values_after_extract(load) %}
    {%- set settings = load.settings -%}
    {%- set at = delta_scd2.timestamp_literal(load.pending_extracts | first) -%}
    {%- set effective_to -%}
case
    when compared._scd2_action = 'open' then {{ delta_scd2.open_end_literal(settings) }}
    -- a version that ended with a deletion keeps its end
    when compared._scd2_effect = 'returned' then compared._scd2_stored_to
    -- from an array, so that Spark can reuse the generated code of the last load
    else if(compared._scd2_action = 'end', array({{ delta_scd2.closing_sql(settings, at) }}), null)[0]
end
    {%- endset -%}
    {%- set rows -%}
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
    {%- endset -%}
    {{- return({
        'effective_to': effective_to,
        'is_current': "compared._scd2_action = 'open' or compared._scd2_effect = 'deleted'",
        'is_deleted': "compared._scd2_action = 'end' and compared._scd2_effect <> 'changed'",
        'rows': rows,
    }) -}}
{% endmacro %}


{# Each row of a batch that changes its key ends the version before it, which may be one that the
   batch itself opens. #}
{% macro _values_after_batch(load) %}
    {%- set settings = load.settings -%}
    {%- set effective_from = delta_scd2.backticked(settings.columns.effective_from) -%}
    {%- set effective_to -%}
case
    when compared._scd2_action = 'open'
        then coalesce(
            {{ delta_scd2.closing_sql(settings, 'compared._scd2_next_at') }},
            {{ delta_scd2.open_end_literal(settings) }}
        )
    -- a version that ended with a deletion keeps its end
    when compared._scd2_effect = 'returned' then compared._scd2_stored_to
    else {{ delta_scd2.closing_sql(settings, 'compared.' ~ effective_from) }}
end
    {%- endset -%}
    {%- set keys = delta_scd2.columns_in_line(load.key_columns) -%}
    {%- set rows -%}
select
    changing.*,
    _scd2_action
from (
    select
        *,
        row_number() over following = 1 as _scd2_is_first,
        lead({{ effective_from }}) over following as _scd2_next_at,
        lead(_scd2_effect) over following as _scd2_next_effect,
        max(if({{ delta_scd2.opens_version_sql() }}, {{ effective_from }}, null))
            over (partition by {{ keys }}) as _scd2_last_opened
    from {{ load.changes }}
    where _scd2_effect <> 'unchanged'
    window following as (partition by {{ keys }} order by {{ effective_from }})
) as changing
lateral view explode(array_compact(array(
    if(_scd2_is_first and _scd2_stored_from is not null, 'end', null),
    if({{ delta_scd2.opens_version_sql() }}, 'open', null)
))) as _scd2_action
    {%- endset -%}
    {%- set opened_at = "if(compared._scd2_action = 'open', compared." ~ effective_from ~ ', null)' -%}
    {%- set ended_by = "if(compared._scd2_action = 'open', compared._scd2_next_effect, compared._scd2_effect)" -%}
    {{- return({
        'effective_to': effective_to,
        'is_current': 'compared._scd2_last_opened <=> ' ~ opened_at,
        'is_deleted': ended_by ~ " in ('deleted', 'returned')",
        'rows': rows,
    }) -}}
{% endmacro %}
