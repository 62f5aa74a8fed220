{% macro _profiled_table(name) %}
    {%- set relation = delta_scd2.existing_relation(name) -%}
    {%- set columns = [] -%}
    {%- for column in delta_scd2.columns_of(relation) -%}
        {%- do columns.append(dict(
            column,
            position=loop.index0,
            is_time=column.data_type in ['date', 'timestamp', 'timestamp_ntz'],
            may_identify=modules.re.match(
                'string|(tiny|small|big)?int$|decimal', column.data_type
            ) is not none,
        )) -%}
    {%- endfor -%}
    {%- set profile = run_query(delta_scd2._profile_sql(relation, columns)).rows[0] -%}
    {%- if not profile['row_count'] -%}
        {%- do delta_scd2.raise_refusal(
            relation ~ ' is empty, so that no key can be found', 'fill it first'
        ) -%}
    {%- endif -%}
    {{- return({
        'relation': relation,
        'columns': delta_scd2._profiled_columns(columns, profile),
        'row_count': profile['row_count'] | int,
        'has_feed': delta_scd2._query_feed_is_on(relation),
    }) -}}
{% endmacro %}


{# The columns with what was counted of those that may be times or keys. #}
{% macro _profiled_columns(columns, profile) %}
    {%- set profiled = [] -%}
    {%- for column in columns -%}
        {%- do profiled.append(dict(
            column,
            is_filled=profile['filled_' ~ column.position] == profile['row_count'],
            distinct=profile['distinct_' ~ column.position] | int,
            has_blanks=profile['blank_' ~ column.position] | default(0, true) | int > 0,
        ) if column.is_time or column.may_identify else column) -%}
    {%- endfor -%}
    {{- return(profiled) -}}
{% endmacro %}


{% macro _profile_sql(relation, columns) %}
select
    {%- for column in columns if column.is_time or column.may_identify %}
    count({{ delta_scd2.backticked(column.name) }}) as filled_{{ column.position }},
    approx_count_distinct({{ delta_scd2.backticked(column.name) }}) as distinct_{{ column.position }},
    {%- if column.data_type == 'string' %}
    max(instr(trim({{ delta_scd2.backticked(column.name) }}), ' ')) as blank_{{ column.position }},
    {%- endif %}
    {%- endfor %}
    count(*) as row_count
from {{ relation }}
{% endmacro %}


{% macro _query_feed_is_on(relation) %}
    {%- if relation.is_delta -%}
        {%- for row in run_query('show tblproperties ' ~ relation)
            if row['key'] == 'delta.enableChangeDataFeed' -%}
            {{- return(row['value'] == 'true') -}}
        {%- endfor -%}
    {%- endif -%}
    {{- return(false) -}}
{% endmacro %}


{# With one value it must be named so clearly that it is not a date of the business, such as
   `released_on` of a film. #}
{% macro _looks_like_extract_time(column) %}
    {%- set words = 'load|extract|ingest|import|snapshot|batch'
        ~ ('|releas|deliver|receiv' if column.is_time and column.distinct > 1) -%}
    {{- return(column.is_time and column.is_filled
        and modules.re.search(
            '(^|_)(as_of|(' ~ words ~ ')[a-z]*)(_|$)', column.name | lower
        ) is not none) -}}
{% endmacro %}


{# A last-updated time, which may change without any other change of the row. #}
{% macro _looks_like_touch_time(column) %}
    {{- return(column.is_time and modules.re.search(
        '(^|_)(updat|modif|chang|touch|sync|refresh)[a-z]*(_|$)', column.name | lower
    ) is not none) -}}
{% endmacro %}
