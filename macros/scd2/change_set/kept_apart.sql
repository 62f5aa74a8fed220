{# Keeps versions that differ only in a column that has left the model. `_scd2_departed` is null for
   rows of the model, and empty for a version that has nothing in such a column. A row that opens a
   version leaves nothing there; any other row leaves what was. #}
{% macro _kept_apart_sql(history) %}

-- versions that differ in a column that left the model do not become one
kept_apart as (
    select
        * except (_scd2_starts_version),
        _scd2_starts_version
        or (
            not _scd2_is_gone
            and _scd2_departed is not null
            and not (
                _scd2_departed
                <=> last_value(
                    coalesce(_scd2_departed, if(_scd2_starts_version, '', null))
                ) ignore nulls over earlier_events
            )
        ) as _scd2_starts_version
    from change_points
    window earlier_events as (
        partition by {{ history }}
        order by _scd2_at
        rows between unbounded preceding and 1 preceding
    )
),
{%- endmacro %}


{# The hash of what a stored version has in columns that have left the model; empty if it has only
   nulls there. #}
{% macro _departed_sql(load) -%}
    {%- set columns = delta_scd2._departed_columns(load) -%}
if(
    {%- for name in delta_scd2.backticked_columns(columns) %}
    {{ 'or ' if not loop.first }}{{ name }} is not null
    {%- endfor %},
    {{ delta_scd2.hash_of(columns) | indent(4) }},
    ''
)
{%- endmacro %}


{# Whether stored versions may differ in nothing but columns that have left the model. #}
{% macro _keeps_apart(load) %}
    {{- return(delta_scd2._meets_other_hashes(load) and delta_scd2._departed_columns(load) != []) -}}
{% endmacro %}


{# The columns that left the model and have values of versions. A former state hash has none. #}
{% macro _departed_columns(load) %}
    {%- set hashes = delta_scd2.former_state_hashes(load) -%}
    {%- set columns = [] -%}
    {%- for column in delta_scd2.hashable_columns(load.dropped_columns) if column.name | lower not in hashes -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}


{# Whether a stored version may have the hash of other columns than those of today. #}
{% macro _meets_other_hashes(load) %}
    {{- return(load.exists and not delta_scd2.changes_current_versions_only(load)) -}}
{% endmacro %}
