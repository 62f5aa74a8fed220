{# One evaluation of the model for all that follows: what was checked is what is written. Of a
   complete extract few rows need more than their short hashes, of other rows all, and often. #}
{% macro stage_input(load) %}
    {%- do drop_leftovers() -%}
    {%- if load.settings.reads_extracts -%}
        {%- do run_query(create_temporary_view(load.source_view, source_rows_sql(load))) -%}
        {#- A model that does nothing but read tables, row by row, costs little to read twice. -#}
        {%- if _should_prune_before_staging(load) and explain_shows_delta_scan(load.source_view) -%}
            {{- return(read_rows_from(load, load.source_view)) -}}
        {%- endif -%}
        {{- return(stage_all_rows(load)) -}}
    {%- endif -%}
    {%- set rows = '(\n    ' ~ source_rows_sql(load) | indent(4) ~ ')' -%}
    {%- do stage_table(load.staged_rows, hashed_rows_sql(load, rows)) -%}
    {{- return(dict(load, hashed_rows=load.staged_rows)) -}}
{% endmacro %}


{% macro stage_all_rows(load) %}
    {%- do stage_table(staged_table('rows'), 'select *\nfrom ' ~ load.source_view) -%}
    {{- return(read_rows_from(load, staged_table('rows'))) -}}
{% endmacro %}


{# Takes the rows of complete extracts from here on from a relation. #}
{% macro read_rows_from(load, relation) %}
    {%- do run_query(create_temporary_view(load.hashed_rows, hashed_rows_sql(load, relation))) -%}
    {{- return(dict(load, staged_rows=relation)) -}}
{% endmacro %}
