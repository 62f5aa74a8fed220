{# The rows of the model as the MERGE wants them: hashed, dated, and with the columns that the dimension keeps. #}
{% macro scd2_extract_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
select
    {{ _hash_of(dimension.key_columns) | indent(4) }} as {{ _backticked(names.durable_key) }},
    {{ _hash_of(dimension.tracked_columns) | indent(4) }} as {{ _backticked(names.hash_diff) }},
    {%- if settings.effective_at %}
    cast({{ _backticked(settings.effective_at) }} as timestamp) as {{ _backticked(names.effective_from) }},
    {%- else %}
    {{ _timestamp_literal(dimension.run_started_at) }} as {{ _backticked(names.effective_from) }},
    {%- endif %}
    {{ _column_list(dimension.kept_columns) }}
from {{ dimension.source }}
    {%- if dimension.applied | length > 1 %}
-- what was applied before the last extract need not be read again
where
    {{ _backticked(settings.effective_at) }} is null
    or cast({{ _backticked(settings.effective_at) }} as timestamp) not in (
        {%- for moment in (dimension.applied | sort)[:-1] %}
        {{ _timestamp_literal(moment) }}{{ ',' if not loop.last }}
        {%- endfor %}
    )
    {%- endif %}
{% endmacro %}


{% macro _column_list(columns, alias=none, indent=4) %}
    {%- set quoted = [] -%}
    {%- for column in columns -%}
        {%- do quoted.append((alias ~ '.' if alias else '') ~ _backticked(column.name)) -%}
    {%- endfor -%}
    {{- quoted | join(',\n' ~ ' ' * indent) -}}
{% endmacro %}


{% macro _surrogate_key_sql(dimension, alias) %}
    {%- set settings = dimension.settings -%}
    {%- if settings.surrogate_key == 'hash' -%}
        {{- _hash_of([
            {'name': settings.columns.durable_key, 'data_type': 'string'},
            {'name': settings.columns.effective_from, 'data_type': 'timestamp'},
        ], alias) -}}
    {%- else -%}
        row_number() over (order by {{ _column_list(dimension.key_columns, alias, indent=0) | replace('\n', ' ') }})
    {%- endif -%}
{% endmacro %}
