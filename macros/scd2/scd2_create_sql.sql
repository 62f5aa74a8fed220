{# The first version of every key, for the table that the first load creates. #}
{% macro scd2_create_sql(dimension, moment) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
select
    {%- if names.surrogate_key %}
    {{ _surrogate_key_sql(dimension, 'extract') | indent(4) }} as {{ _backticked(names.surrogate_key) }},
    {%- endif %}
    {{ _backticked(names.durable_key) }},
    {{ _column_list(dimension.kept_columns) }},
    {{ _backticked(names.hash_diff) }},
    {{ _backticked(names.effective_from) }},
    {{ _open_end_literal(settings) }} as {{ _backticked(names.effective_to) }},
    {{ _flag_literal(settings, true) }} as {{ _backticked(names.is_current) }},
    {{ _flag_literal(settings, false) }} as {{ _backticked(names.is_deleted) }}
from {{ dimension.extract }} as extract
    {%- if not moment %}
where false
    {%- else %}
where {{ _backticked(names.effective_from) }} = {{ _timestamp_literal(moment) }}
    {%- endif %}
{% endmacro %}
