{# Intermediate results are stored under names of their own: kept in Spark where it runs in dbt's
   process, in tables next to the target elsewhere. Caching is not enough: Spark evaluates a cached
   view again where it is read beside a common table expression, and the model may return different
   rows then. #}

{% macro staged_table(part, relation=none) %}
    {%- set target = relation or this -%}
    {%- if delta_scd2._keeps_staged_rows() -%}
        {{- return(delta_scd2.session_view(target, 'scd2_' ~ part)) -}}
    {%- endif -%}
    {{- return(target.incorporate(path={
        'identifier': delta_scd2._staged_prefix(target) ~ part ~ '_' ~ delta_scd2.run_suffix()
    })) -}}
{% endmacro %}


{# Whether Spark keeps the staged rows, which costs less than half of a table. The Python part of
   this project adds the methods `keeps_rows` and `kept_rows` to dbt-spark. #}
{% macro _keeps_staged_rows() %}
    {{- return(adapter.keeps_rows is defined and adapter.keeps_rows()) -}}
{% endmacro %}


{% macro run_suffix() %}
    {{- return(run_started_at.strftime('%Y%m%d%H%M%S') ~ '_' ~ invocation_id[:8]) -}}
{% endmacro %}


{% macro stage_table(table, query) %}
    {%- if delta_scd2._keeps_staged_rows() -%}
        {#- `dbt_spark_session` recognizes the comment. -#}
        {%- call statement('staged') -%}
            /* keeps rows as {{ table }} */
{{ query }}
        {%- endcall -%}
        {{- return('') -}}
    {%- endif -%}
    {#- A staged table is read once or twice, in full, so dictionaries and statistics do not pay
        off. Spark 4.2 misreads strings in uncompressed pages of version 2, so the writer version is
        fixed here. -#}
    {%- set options = "'parquet.enable.dictionary' 'false', "
        ~ "'parquet.column.statistics.enabled' 'false', 'parquet.writer.version' 'v1'" -%}
    {%- do run_query('create table ' ~ table ~ ' using parquet options (' ~ options
        ~ ') as\n' ~ query) -%}
{% endmacro %}


{# How a person would stage a query, for the file that shows what ran. #}
{% macro shown_staging_sql(table, query) %}
    {{- return(('create or replace temporary view ' if delta_scd2._keeps_staged_rows() else 'create table ')
        ~ table ~ ' as\n' ~ query) -}}
{% endmacro %}


{% macro drop_staged(relation=none) %}
    {%- set target = relation or this -%}
    {%- if delta_scd2._keeps_staged_rows() -%}
        {%- for view in delta_scd2._kept_rows(target) -%}
            {%- do delta_scd2.run_to_its_end('drop view if exists ' ~ view) -%}
        {%- endfor -%}
        {{- return('') -}}
    {%- endif -%}
    {%- for staged in delta_scd2._staged_tables(target, delta_scd2._staged_prefix(target))
        if staged.run == delta_scd2.run_suffix() -%}
        {%- do delta_scd2.run_to_its_end('drop table if exists ' ~ staged.table) -%}
    {%- endfor -%}
{% endmacro %}


{# The names of the rows that Spark keeps for a relation. #}
{% macro _kept_rows(relation) %}
    {%- set start = delta_scd2._readable_view(relation, 'scd2_') | length -%}
    {%- set found = [] -%}
    {%- for name in adapter.kept_rows() -%}
        {%- set part = name[start:-14] -%}
        {%- do found.append(name) if name == delta_scd2.session_view(relation, 'scd2_' ~ part) -%}
    {%- endfor -%}
    {{- return(found) -}}
{% endmacro %}


{# The staged tables next to a relation, each with the run that created it: all, or those with a
   prefix. The pattern matches the part's name explicitly, because another model's name may start
   with the prefix. #}
{% macro _staged_tables(relation, prefix=none) %}
    {%- set like = prefix or '*__scd2_' -%}
    {%- set name = '(.+__scd2_)[a-z]+(_[a-z]+)*_(\\d{14}_[0-9a-f]{4,8})' -%}
    {%- set staged = [] -%}
    {%- for row in delta_scd2.run_to_its_end('show tables in ' ~ relation.include(identifier=false)
        ~ ' like ' ~ delta_scd2.sql_string(like ~ '*')) -%}
        {%- set parts = modules.re.fullmatch(name, row['tableName']) -%}
        {%- if parts and not row['isTemporary']
            and (prefix or parts[1]) | lower == parts[1] | lower -%}
            {%- do staged.append({
                'table': relation.incorporate(path={'identifier': row['tableName']}),
                'prefix': parts[1],
                'run': parts[3],
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(staged) -}}
{% endmacro %}


{# Drops staged tables of crashed runs: this model's after a day, other models' after seven. Younger
   ones may still be in use; a deleted model has no later run to drop its own. Rows that Spark kept
   are gone with the process. #}
{% macro drop_leftovers(relation=none) %}
    {%- if delta_scd2._keeps_staged_rows() -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set target = relation or this -%}
    {%- set own = delta_scd2._staged_prefix(target) | lower -%}
    {%- for staged in delta_scd2._staged_tables(target) -%}
        {%- set age = modules.datetime.timedelta(days=1 if staged.prefix == own else 7) -%}
        {%- do run_query('drop table if exists ' ~ staged.table)
            if staged.run < (run_started_at - age).strftime('%Y%m%d%H%M%S') -%}
    {%- endfor -%}
{% endmacro %}


{# Many metastores limit names to 128 characters. #}
{% macro _staged_prefix(relation) %}
    {%- set name = relation.identifier -%}
    {{- return((name if name | length <= 80
        else name[:67] ~ '_' ~ local_md5(name)[:12]) ~ '__scd2_') -}}
{% endmacro %}
