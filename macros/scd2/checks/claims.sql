{# What rows, remembered events and stored versions say of a key at a time. #}

{% macro _claims_of_states_sql(load, claim, ignored, relation, is_stored) %}
    select
        {{ claim }}
        {{ delta_scd2._claimed_state_sql(load, load.common_columns if load.schema_changed else none) | indent(8) }}
        {{- ' as _scd2_state' }},
        {{- delta_scd2._known_values_sql(load) }}
        {%- for column in delta_scd2._columns_that_returned(load) %}
        {{ delta_scd2.hash_of([column]) | indent(8) }} as _scd2_returned_{{ loop.index }},
        {%- endfor %}
        {{ delta_scd2._overwritten_hash_sql(load) | indent(8) }} as _scd2_overwritten,
        {%- if ignored and is_stored %}
        -- an event may come again with another value there, such as the time at which it was read
        null as _scd2_ignored,
        {%- elif ignored %}
        {{ ignored | indent(8) }} as _scd2_ignored,
        {%- endif %}
        {{ '_scd2_is_gone' if load.settings.change_type else 'false as _scd2_is_gone' }},
        {%- if load.schema_changed %}
        {{ delta_scd2._claimed_state_sql(load) | indent(8) }} as _scd2_source_state,
        {%- endif %}
        {{ is_stored | lower }} as _scd2_is_stored
    from {{ relation }}
        {%- set filters = delta_scd2._claim_filters(load.settings) %}
        {%- if filters %}
    where {{ filters | join('\n        and ') }}
        {%- endif %}
{%- endmacro %}


{% macro _claims_of_versions_sql(load, claim, ignored) %}
    {%- set settings = load.settings %}
    select
        {{ claim }}
        -- not the hash that is stored, which may be one of columns that are gone
        {{ delta_scd2._claimed_state_sql(load, load.stored_common_columns if load.schema_changed
            else load.tracked_columns) | indent(8) }} as _scd2_state,
        {%- for column in load.unavailable_columns %}
        {%- set value = 'null' if load.schema_changed else delta_scd2.hash_of([column]) %}
        named_struct('event', cast(null as string), 'version', {{ value | indent(8) }}) as _scd2_known_{{ loop.index }},
        {%- endfor %}
        {%- set stored = delta_scd2.columns_by_lower_name(load.stored_columns) %}
        {%- for column in delta_scd2._columns_that_returned(load) %}
        if(
            {{ delta_scd2.backticked(column.name) }} is null,
            null,
            {{ delta_scd2.hash_of([stored[column.name | lower]]) | indent(12) }}
        ) as _scd2_returned_{{ loop.index }},
        {%- endfor %}
        -- what is stored there is the newest value of all, not the one of this time
        null as _scd2_overwritten,
        {%- if ignored %}
        null as _scd2_ignored,
        {%- endif %}
        {{ delta_scd2.is_deleted_sql(settings) if settings.keeps_tombstones else 'false' }} as _scd2_is_gone,
        {%- if load.schema_changed %}
        -- what the table says of its new columns is no claim yet
        null as _scd2_source_state,
        {%- endif %}
        true as _scd2_is_stored
    from {{ load.stored_of_batch }}
        {%- if delta_scd2.stores_inferred_members(load) %}
    where not {{ delta_scd2.is_inferred_sql(settings) }}
        {%- endif %}
{%- endmacro %}


{# The hash of columns, by default of all tracked ones. Without those that may have a placeholder. #}
{% macro _claimed_state_sql(load, columns=none) %}
    {%- if columns is none and not load.unavailable_columns -%}
        {{- return(delta_scd2.backticked(load.settings.columns.hash_diff)) -}}
    {%- endif -%}
    {%- set unavailable = delta_scd2.lower_names(load.unavailable_columns) -%}
    {%- set claimed = [] -%}
    {%- set columns = load.tracked_columns if columns is none else columns -%}
    {%- for column in columns if column.name | lower not in unavailable -%}
        {%- do claimed.append(column) -%}
    {%- endfor -%}
    {{- return(delta_scd2.hash_of(claimed) if claimed else "''") -}}
{% endmacro %}


{# The values of columns that may have a placeholder, which contradicts no value. #}
{% macro _known_values_sql(load) %}
    {%- for column in load.unavailable_columns %}
        named_struct(
            'event', if(
                {{ delta_scd2.is_unavailable_sql(
                    delta_scd2.backticked(column.name), load.settings.unavailable_value
                ) | indent(16) }},
                null,
                {{ delta_scd2.hash_of([column]) | indent(16) }}
            ),
            'version', cast(null as string)
        ) as _scd2_known_{{ loop.index }},
    {%- endfor %}
{%- endmacro %}


{# The tracked columns that were stored and left the model, and come back with this load. A null in
   them may be filled. #}
{% macro _columns_that_returned(load) %}
    {%- set unavailable = delta_scd2.lower_names(load.unavailable_columns) -%}
    {%- set returned = [] -%}
    {%- for column in load.backfilled_columns
        if column not in load.missing_columns and column.name | lower not in unavailable -%}
        {%- do returned.append(column) -%}
    {%- endfor -%}
    {{- return(returned) -}}
{% endmacro %}


{# Whether claims know different values. What is stored beside a placeholder was filled in. #}
{% macro _has_rival_values_sql(known) %}
        or count(distinct {{ known }}.event) filter (where not _scd2_is_gone) > 1
        or (
            count(distinct coalesce({{ known }}.event, {{ known }}.version)) filter (where not _scd2_is_gone) > 1
            and min(coalesce({{ known }}.event, {{ known }}.version) is not null)
        )
{%- endmacro %}


{# The values of overwritten columns, which are not part of the hash. #}
{% macro _overwritten_hash_sql(load) %}
    {{- return(delta_scd2.hash_of(load.overwrite_columns) if load.overwrite_columns else 'null') -}}
{% endmacro %}


{# Inferred rows cannot conflict, nor can deletions that have no effect. #}
{% macro _claim_filters(settings) %}
    {%- set filters = [] -%}
    {%- do filters.append('not ' ~ delta_scd2.is_inferred_sql(settings)) if settings.inferred_member -%}
    {%- do filters.append('not _scd2_is_gone') if settings.ignores_deletes and settings.change_type -%}
    {{- return(filters) -}}
{% endmacro %}
