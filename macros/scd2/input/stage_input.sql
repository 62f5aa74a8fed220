{# Evaluates the model once, so that the rows checked are the rows written. Rows of complete
   extracts get their full hashes later, because most need only the short ones; other rows are
   hashed here, because they are read several times. #}
{% macro stage_input(load) %}
    {%- do delta_scd2.drop_leftovers() -%}
    {%- if delta_scd2._may_be_read_twice(load) -%}
        {%- set view = delta_scd2.session_view(load.target, 'source_rows') -%}
        {%- do run_query(create_temporary_view(view, delta_scd2.source_rows_sql(load))) -%}
        {#- A model that does nothing but read tables, row by row, costs little to read twice. -#}
        {%- if delta_scd2.query_is_plain_delta_scan(view) -%}
            {{- return(delta_scd2.read_rows_from(dict(load, source_view=view), view)) -}}
        {%- endif -%}
        {%- do run_query('drop view ' ~ view) -%}
    {%- endif -%}
    {{- return(delta_scd2.stage_all_rows(load)) -}}
{% endmacro %}


{% macro stage_all_rows(load) %}
    {%- set rows = delta_scd2.source_rows_sql(load) -%}
    {%- if not load.settings.reads_extracts -%}
        {{- return(delta_scd2.read_rows_from(load, '(\n    ' ~ rows | trim | indent(4) ~ '\n)')) -}}
    {%- endif -%}
    {%- set table = delta_scd2.staged_table('rows') -%}
    {%- do delta_scd2.stage_table(table, rows) -%}
    {{- return(delta_scd2.read_rows_from(load, table)) -}}
{% endmacro %}


{# Makes the later steps read the rows of the model from a relation. #}
{% macro read_rows_from(load, relation) %}
    {%- set rows = delta_scd2.hashed_rows_sql(load, relation) -%}
    {%- if not load.settings.reads_extracts -%}
        {%- set table = delta_scd2.staged_table('rows') -%}
        {%- do delta_scd2.stage_table(table, rows) -%}
        {{- return(dict(load, staged_rows=table, hashed_rows=table)) -}}
    {%- endif -%}
    {%- do run_query(create_temporary_view(load.hashed_rows, rows)) -%}
    {{- return(dict(load, staged_rows=relation)) -}}
{% endmacro %}
