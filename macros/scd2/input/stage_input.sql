{# One evaluation of the model for all that follows: what was checked is what is written. Of a
   complete extract few rows need more than their short hashes, of other rows all, and often. #}
{% macro stage_input(load) %}
    {%- do delta_scd2.drop_leftovers() -%}
    {%- if load.settings.reads_extracts -%}
        {%- do run_query(create_temporary_view(load.source_view, delta_scd2.source_rows_sql(load))) -%}
        {%- if delta_scd2._should_prune_before_staging(load) -%}
            {{- return(delta_scd2.read_rows_from(load, load.source_view)) -}}
        {%- endif -%}
        {{- return(delta_scd2.stage_all_rows(load)) -}}
    {%- endif -%}
    {%- set rows = '(\n    ' ~ delta_scd2.source_rows_sql(load) | indent(4) ~ ')' -%}
    {%- do delta_scd2.stage_table(load.staged_rows, delta_scd2.hashed_rows_sql(load, rows)) -%}
    {{- return(dict(load, hashed_rows=load.staged_rows)) -}}
{% endmacro %}


{% macro stage_all_rows(load) %}
    {%- do delta_scd2.stage_table(delta_scd2.staged_table('rows'), 'select *\nfrom ' ~ load.source_view) -%}
    {{- return(delta_scd2.read_rows_from(load, delta_scd2.staged_table('rows'))) -}}
{% endmacro %}


{# Takes the rows of complete extracts from here on from a relation. #}
{% macro read_rows_from(load, relation) %}
    {%- do run_query(create_temporary_view(load.hashed_rows, delta_scd2.hashed_rows_sql(load, relation))) -%}
    {{- return(dict(load, staged_rows=relation)) -}}
{% endmacro %}
