{% macro _stored_struct(load) %}
    {%- set names = load.settings.columns -%}
    {%- set stored_hash = delta_scd2.backticked(names.hash_diff) -%}
    {%- if load.backfilled_columns -%}
        {#- The hash of former columns may happen to be equal. -#}
        {%- set stored_hash = 'if(_scd2_is_filled, null, ' ~ stored_hash ~ ')' -%}
    {%- endif -%}
named_struct(
    {%- if names.surrogate_key %}
    'surrogate_key', {{ delta_scd2.backticked(names.surrogate_key) }},
    {%- endif %}
    'hash_diff', {{ stored_hash }},
    {%- if load.is_recovery %}
    -- the hash may be one of columns that are gone
    'values_hash', {{ delta_scd2.hash_of(load.tracked_columns) | indent(4) }},
    {%- endif %}
    {%- for column in load.unavailable_columns %}
    'lacked_{{ loop.index }}', {{ delta_scd2.has_unavailable_value_sql(load, [column]) | indent(4) }},
    {%- endfor %}
    {%- if names.state_hash %}
    'state_hash', {{ delta_scd2.stored_state_hash(load) }},
    {%- endif %}
    'effective_to', {{ delta_scd2.backticked(names.effective_to) }},
    'is_current', {{ delta_scd2.backticked(names.is_current) }},
    'is_deleted', {{ delta_scd2.backticked(names.is_deleted) }}
    {%- for column in delta_scd2._compared_in_place(load) %},
    {%- set prefix = '_scd2_stored_column_' if column in load.overwritten_new_columns else '' %}
    {{ delta_scd2.sql_string('in_place_' ~ column.name) }}, {{ delta_scd2.backticked(prefix ~ column.name) }}
    {%- endfor %}
    {%- if delta_scd2._gives_ignored_values(load) %},
    'ignored_values', {{ delta_scd2.ignored_values_sql(load) | indent(4) }}
    {%- endif %}
)
{%- endmacro %}


{# Whether a stored version may get other values of columns that are never compared: from a repaired
   extract, or from the version or event that a late row puts in the place of another. #}
{% macro _gives_ignored_values(load) %}
    {%- set gives = load.rebuild_from or delta_scd2._completes_anew(load)
        or load.settings.keeps_tombstones and delta_scd2.may_change_history(load) -%}
    {{- return(gives and not load.is_recovery and delta_scd2.has_ignored_columns(load)) -}}
{% endmacro %}


{# The columns other than the tracked ones that are updated in place. #}
{% macro _compared_in_place(load) %}
    {%- set in_place = load.overwrite_columns + load.sequence_columns -%}
    {%- if load.settings.inferred_member -%}
        {%- set in_place = in_place + [{'name': load.settings.inferred_member}] -%}
    {%- endif -%}
    {{- return(in_place) -}}
{% endmacro %}


{% macro _differs_sql(load) %}
    {%- set names = load.settings.columns -%}
not (_scd2_stored.hash_diff <=> {{ delta_scd2.backticked(names.hash_diff) }})
    {%- if names.state_hash %}
or (
    {{ delta_scd2.is_current_sql(load.settings) }}
    and not (_scd2_stored.state_hash <=> {{ delta_scd2.state_hash_sql(load) }})
)
    {%- endif %}
    {%- if delta_scd2._keeps_apart(load) and load.settings.keeps_tombstones %}
or (
    _scd2_is_gone
    and _scd2_last is not null
    and not (coalesce(_scd2_last._scd2_departed, '') <=> _scd2_departed)
)
    {%- endif %}
or not (_scd2_stored.effective_to <=> {{ delta_scd2.backticked(names.effective_to) }})
or not (_scd2_stored.is_current <=> {{ delta_scd2.backticked(names.is_current) }})
or not (_scd2_stored.is_deleted <=> {{ delta_scd2.backticked(names.is_deleted) }})
    {%- for column in delta_scd2._compared_in_place(load) %}
    {%- set stored = '_scd2_stored.' ~ delta_scd2.backticked('in_place_' ~ column.name) %}
or not ({{ stored }} <=> {{ delta_scd2.backticked(column.name) }})
    {%- endfor %}
    {%- if delta_scd2._gives_ignored_values(load) %}
or not (_scd2_stored.ignored_values <=> {{ delta_scd2.ignored_values_sql(load) }})
    {%- endif %}
{%- endmacro %}
