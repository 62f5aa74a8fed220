{# The failing rows of several tests, counted in one pass over the dimension: versions and keys are
   looked at as by the tests themselves. What is not asked for, Spark leaves out. #}
{% macro _counts_sql(dimension, relation, tests) %}
    {%- set counted = delta_scd2._counted_tests() -%}
with versions as (
    select
        {{ dimension.key_columns }},
        {{ dimension.effective_from }},
        {{ dimension.effective_to }},
        {{ dimension.is_current }},
        {{ dimension.is_deleted }},
        struct({{ dimension.tracked }}) as _scd2_tracked
    from {{ relation }}
),

neighbours as (
    select
        *,
        {{ delta_scd2.next_from_sql(dimension) }},
        {{ delta_scd2.previous_version_sql(dimension) }}
    from versions
    {{ delta_scd2.key_history_sql(dimension) }}
),

business_keys as (
    select
        {{ delta_scd2.current_rows_sql(dimension) | indent }},
        count_if(
            {{ delta_scd2.overlaps_next_version_sql(dimension) | indent(8) }}
        ) as overlapping,
        count_if(
            {{ delta_scd2.interval_problem_sql(dimension) | indent }} is not null
        ) as invalid,
        count_if(
            {{ delta_scd2.is_not_a_new_version_sql(dimension) | indent(8) }}
        ) as repeated,
        count_if(
            {{ delta_scd2.deleted_but_open_sql(dimension) | indent(8) }}
        ) as deleted_but_open
    from neighbours
    group by {{ dimension.key_columns }}
)

select
    {%- for test in tests %}
    {% if counted[test] -%}
    coalesce(sum({{ counted[test] }}), 0)
    {%- else -%}
    count_if(
        {{ delta_scd2.lacks_its_current_row_sql(dimension) | indent }}
    )
    {%- endif %} as {{ test }}{{ ',' if not loop.last }}
    {%- endfor %}
from business_keys
{% endmacro %}


{# The tests that are counted together, and what their failing rows are called for a key; the first
   counts keys. #}
{% macro _counted_tests() %}
    {{- return({
        'one_current_row_per_key': none,
        'no_overlapping_validity': 'overlapping',
        'valid_intervals': 'invalid',
        'versions_differ': 'repeated',
        'deleted_rows_closed': 'deleted_but_open',
    }) -}}
{% endmacro %}
