{# Evaluates the model once, so that the rows checked are the rows written. Rows of complete
   extracts get their full hashes later, because most need only the short ones; other rows are
   hashed here, because they are read several times. #}
{% macro stage_input(load) %}
    {%- do delta_scd2.drop_leftovers() -%}
    {%- if load.settings.reads_extracts -%}
        {%- do run_query(create_temporary_view(load.source_view, delta_scd2.source_rows_sql(load))) -%}
        {#- A model that does nothing but read tables, row by row, costs little to read twice. -#}
        {%- if delta_scd2._should_prune_before_staging(load)
            and delta_scd2.explain_shows_delta_scan(load.source_view) -%}
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


{# Makes the later steps read the rows of complete extracts from a relation. #}
{% macro read_rows_from(load, relation) %}
    {%- do run_query(create_temporary_view(load.hashed_rows, delta_scd2.hashed_rows_sql(load, relation))) -%}
    {{- return(dict(load, staged_rows=relation)) -}}
{% endmacro %}
