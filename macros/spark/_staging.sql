{# What a run lays down between its steps, as tables beside its target that no other run uses. To cache them would not do:
   Spark evaluates a cached view once more wherever it is read beside a common table expression, and the model may give other
   rows then. #}

{% macro _staged(part) %}
    {{- return(this.incorporate(path={'identifier': this.identifier ~ '__scd2_' ~ part ~ '_' ~ _this_run()})) -}}
{% endmacro %}


{% macro _this_run() %}
    {{- return(run_started_at.strftime('%Y%m%d%H%M%S') ~ '_' ~ invocation_id[:4]) -}}
{% endmacro %}


{% macro _stage(table, query) %}
    {#- What is read once or twice, and whole, is not worth the time for dictionaries and statistics. Texts in pages of version 2
        that are not compressed Spark 4.2 reads wrong, so that version is not left to the session. -#}
    {%- set options = "'parquet.enable.dictionary' 'false', 'parquet.column.statistics.enabled' 'false', 'parquet.writer.version' 'v1'" -%}
    {%- do run_query('create table ' ~ table ~ ' using parquet options (' ~ options ~ ') as\n' ~ query) -%}
{% endmacro %}


{% macro _drop_staged(target=none) %}
    {%- for table in _staged_tables('*_' ~ _this_run(), target) -%}
        {%- do _run_to_its_end('drop table ' ~ table) -%}
    {%- endfor -%}
{% endmacro %}


{% macro _staged_tables(pattern, target=none) %}
    {#- At the end of a run, no model is `this`. -#}
    {%- set target = target or this -%}
    {%- set like = _sql_string(target.identifier ~ '__scd2_' ~ pattern) -%}
    {%- set tables = [] -%}
    {%- for row in _run_to_its_end('show tables in ' ~ target.include(identifier=false) ~ ' like ' ~ like) -%}
        {%- do tables.append(target.incorporate(path={'identifier': row['tableName']})) -%}
    {%- endfor -%}
    {{- return(tables) -}}
{% endmacro %}


{# What runs left behind that died more than a day ago; one that is younger may still be at work. #}
{% macro _drop_leftovers() %}
    {%- set too_old = (run_started_at - modules.datetime.timedelta(days=1)).strftime('%Y%m%d%H%M%S') -%}
    {%- for table in _staged_tables('*') -%}
        {%- set made = modules.re.search('__scd2_[a-z_]+_(\\d{14})_[0-9a-f]{4}$', table.identifier) -%}
        {%- do run_query('drop table if exists ' ~ table) if made and made.group(1) < too_old -%}
    {%- endfor -%}
{% endmacro %}
