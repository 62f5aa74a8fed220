{# The versions with the columns and types that the table is about to get. A version takes the first value that it is given of
   a new tracked column, where nothing else about it changed then; every version of a key takes the newest of an overwritten one. #}
{% macro _amended_sql(dimension) %}
    {{- _given_sql(dimension) if dimension.filled or dimension.refilled -}}
    {{- _first_given_sql(dimension) if dimension.filled -}}
    {{- _newest_given_sql(dimension) if dimension.refilled -}}
    {{- _followed_columns_sql(dimension) -}}
    {{- _amended_hashes_sql(dimension) -}}
{% endmacro %}


{# The stored columns, in the types of the model. #}
{% macro _followed_columns_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set key = _backticked(names.durable_key) -%}
    {%- set effective_from = _backticked(names.effective_from) -%}
followed_columns as (
    select
        {%- if names.surrogate_key %}
        target.{{ _backticked(names.surrogate_key) }},
        {%- endif %}
        target.{{ key }},
        {%- for column in dimension.kept_columns %}
        {{ _amended_column(dimension, column) }} as {{ _backticked(column.name) }},
        {%- endfor %}
        {%- for column in dimension.refilled %}
        {{ _stored_column(dimension, column) }} as {{ _backticked('_scd2_stored_' ~ column.name) }},
        {%- endfor %}
        {%- if dimension.filled and dimension.vanished %}
        first_given.given_row is not null as _scd2_is_filled,
        {%- endif %}
        target.{{ _backticked(names.hash_diff) }} as _scd2_stored_hash,
        {%- if dimension.knows_state_hash %}
        target.{{ _backticked(names.state_hash) }},
        {%- endif %}
        target.{{ effective_from }},
        target.{{ _backticked(names.effective_to) }},
        target.{{ _backticked(names.is_current) }},
        target.{{ _backticked(names.is_deleted) }}
    from {{ dimension.as_read }} as target
        {%- if dimension.filled %}
    left join first_given
        on
            target.{{ key }} = first_given.{{ key }}
            and target.{{ effective_from }} = first_given.{{ effective_from }}
            and {{ _hash_of(dimension.stored_common_columns, 'target') | indent(12) }} = first_given.given_row._scd2_common_hash
        {%- endif %}
        {%- if dimension.refilled %}
    left join newest_given
        on target.{{ key }} = newest_given.{{ key }}
        {%- endif %}
),

{% endmacro %}


{# The hashes of the tracked columns, where these are others than before. #}
{% macro _amended_hashes_sql(dimension) %}
    {%- set names = dimension.settings.columns -%}
    {%- set yes = _flag_literal(dimension.settings, true) -%}
amended as (
    select
        *,
        {%- if not dimension.tracking_changed %}
        _scd2_stored_hash as {{ _backticked(names.hash_diff) }}
        {%- elif dimension.vanished %}
        -- a version of the past keeps the hash of all its columns
        if(
            {{ _backticked(names.is_current) }} = {{ yes }}{{ ' or _scd2_is_filled' if dimension.filled }},
            {{ _hash_of(dimension.tracked_columns) | indent(12) }},
            _scd2_stored_hash
        ) as {{ _backticked(names.hash_diff) }}
        {%- else %}
        {{ _hash_of(dimension.tracked_columns) | indent(8) }} as {{ _backticked(names.hash_diff) }}
        {%- endif %}
    from followed_columns
),

{% endmacro %}


{% macro _amended_column(dimension, column) %}
    {%- set name = _backticked(column.name) -%}
    {%- set stored = _stored_column(dimension, column) -%}
    {%- if column in dimension.refilled -%}
        {{- return('if(newest_given.given_row is null, ' ~ stored ~ ', newest_given.given_row.' ~ name ~ ')') -}}
    {%- elif column not in dimension.filled -%}
        {{- return(stored) -}}
    {%- elif column in dimension.missing -%}
        {{- return('first_given.given_row.' ~ name) -}}
    {%- endif -%}
    {{- return('coalesce(' ~ stored ~ ', first_given.given_row.' ~ name ~ ')') -}}
{% endmacro %}


{# What the table holds of a column, in the type that it is about to have. #}
{% macro _stored_column(dimension, column) %}
    {%- set stored = 'target.' ~ _backticked(column.name) -%}
    {%- if column in dimension.widened -%}
        {{- return('cast(' ~ stored ~ ' as ' ~ column.data_type ~ ')') -}}
    {%- elif column in dimension.missing -%}
        {{- return('cast(null as ' ~ column.data_type ~ ')') -}}
    {%- endif -%}
    {{- return(stored) -}}
{% endmacro %}
