{% macro _stored_struct(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set stored_hash = '_scd2_stored_hash' if dimension.is_amended else backticked(names.hash_diff) -%}
    {%- if dimension.filled and dimension.vanished -%}
        {#- What was stored of other columns may have the same hash. -#}
        {%- set stored_hash = 'if(_scd2_is_filled, null, ' ~ stored_hash ~ ')' -%}
    {%- endif -%}
named_struct(
    {%- if names.surrogate_key %}
    'surrogate_key', {{ backticked(names.surrogate_key) }},
    {%- endif %}
    'hash_diff', {{ stored_hash }},
    {%- if names.state_hash %}
    'state_hash', {{ stored_state_hash(dimension) }},
    {%- endif %}
    'effective_to', {{ backticked(names.effective_to) }},
    'is_current', {{ backticked(names.is_current) }},
    'is_deleted', {{ backticked(names.is_deleted) }}
    {%- for column in _compared_in_place(dimension) %},
    {{ sql_string('in_place_' ~ column.name) }}, {{ backticked(('_scd2_stored_' if column in dimension.refilled else '') ~ column.name) }}
    {%- endfor %}
)
{%- endmacro %}


{# The columns beside the tracked ones in which a stored version may be changed in place. #}
{% macro _compared_in_place(dimension) %}
    {%- set in_place = dimension.overwrite_columns + dimension.sequence_columns -%}
    {%- if dimension.settings.inferred_member -%}
        {%- set in_place = in_place + [{'name': dimension.settings.inferred_member}] -%}
    {%- endif -%}
    {{- return(in_place) -}}
{% endmacro %}


{% macro _differs_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
not (_scd2_stored.hash_diff <=> {{ backticked(names.hash_diff) }})
    {%- if names.state_hash %}
or (
    {{ backticked(names.is_current) }} = {{ flag_literal(dimension.settings, true) }}
    and not (_scd2_stored.state_hash <=> {{ state_hash_sql(dimension) }})
)
    {%- endif %}
or not (_scd2_stored.effective_to <=> {{ backticked(names.effective_to) }})
or not (_scd2_stored.is_current <=> {{ backticked(names.is_current) }})
or not (_scd2_stored.is_deleted <=> {{ backticked(names.is_deleted) }})
    {%- for column in _compared_in_place(dimension) %}
or not (_scd2_stored.{{ backticked('in_place_' ~ column.name) }} <=> {{ backticked(column.name) }})
    {%- endfor %}
{%- endmacro %}
