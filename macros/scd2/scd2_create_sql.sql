{# The table that the first load creates: every version of the change set. #}
{% macro scd2_create_sql(dimension) %}
select
    {%- for column in dimension.columns %}
    {{ _backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ dimension.changes }}
{% endmacro %}
