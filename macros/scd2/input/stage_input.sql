{# One evaluation of the model for all that follows: what was checked is what is written. Of a complete extract few rows need
   more than their short hashes, of other rows all, and often. #}
{% macro stage_input(dimension) %}
    {%- do drop_leftovers() -%}
    {%- if dimension.settings.source_kind == 'snapshot' -%}
        {%- do run_query(create_temporary_view(dimension.given, source_rows_sql(dimension))) -%}
        {%- if _is_worth_a_look(dimension) -%}
            {%- do read_rows_from(dimension, dimension.given) -%}
        {%- else -%}
            {%- do stage_all_rows(dimension) -%}
        {%- endif -%}
    {%- else -%}
        {%- set rows = '(\n    ' ~ source_rows_sql(dimension) | indent(4) ~ ')' -%}
        {%- do stage(dimension.rows, hashed_rows_sql(dimension, rows)) -%}
        {%- do dimension.update({'extract': dimension.rows}) -%}
    {%- endif -%}
{% endmacro %}


{% macro stage_all_rows(dimension) %}
    {%- do stage(staged_table('rows'), 'select *\nfrom ' ~ dimension.given) -%}
    {%- do read_rows_from(dimension, staged_table('rows')) -%}
{% endmacro %}


{# Takes the rows of complete extracts from here on from a relation. #}
{% macro read_rows_from(dimension, relation) %}
    {%- do dimension.update({'rows': relation}) -%}
    {%- do run_query(create_temporary_view(dimension.extract, hashed_rows_sql(dimension, relation))) -%}
{% endmacro %}
