{# What a run lays down between its steps, as tables beside its target that no other run uses. To
   cache them would not do: Spark evaluates a cached view once more wherever it is read beside a
   common table expression, and the model may give other rows then. #}

{% macro staged_table(part) %}
    {{- return(this.incorporate(path={'identifier': delta_scd2._staged_prefix(this) ~ part ~ '_' ~ delta_scd2.run_suffix()})) -}}
{% endmacro %}


{% macro run_suffix() %}
    {{- return(run_started_at.strftime('%Y%m%d%H%M%S') ~ '_' ~ invocation_id[:8]) -}}
{% endmacro %}


{% macro stage_table(table, query) %}
    {#- What is read once or twice, and whole, is not worth the time for dictionaries and
        statistics. Texts in pages of version 2 that are not compressed Spark 4.2 reads wrong,
        so that version is not left to the session. -#}
    {%- set options = "'parquet.enable.dictionary' 'false', 'parquet.column.statistics.enabled' 'false', 'parquet.writer.version' 'v1'" -%}
    {%- do run_query('create table ' ~ table ~ ' using parquet options (' ~ options ~ ') as\n' ~ query) -%}
{% endmacro %}


{% macro drop_staged(relation=none) %}
    {%- set target = relation or this -%}
    {%- for staged in delta_scd2._staged_tables(target, delta_scd2._staged_prefix(target)) if staged.run == delta_scd2.run_suffix() -%}
        {%- do delta_scd2.run_to_its_end('drop table if exists ' ~ staged.table) -%}
    {%- endfor -%}
{% endmacro %}


{# The staged tables beside a relation, each with the run that made it: those of one model, or
   without a prefix of all. The part is spelt out, as the name of another model may go on where
   the prefix ends. #}
{% macro _staged_tables(relation, prefix=none) %}
    {%- set like = prefix or '*__scd2_' -%}
    {%- set name = '(.+__scd2_)[a-z]+(_[a-z]+)*_(\\d{14}_[0-9a-f]{4,8})' -%}
    {%- set staged = [] -%}
    {%- for row in delta_scd2.run_to_its_end('show tables in ' ~ relation.include(identifier=false) ~ ' like '
        ~ delta_scd2.sql_string(like ~ '*')) -%}
        {%- set parts = modules.re.fullmatch(name, row['tableName']) -%}
        {%- if parts and not row['isTemporary'] and (prefix or parts[1]) | lower == parts[1] | lower -%}
            {%- do staged.append({
                'table': relation.incorporate(path={'identifier': row['tableName']}), 'prefix': parts[1], 'run': parts[3],
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(staged) -}}
{% endmacro %}


{# What runs left behind that died more than a day ago; one that is younger may still be at work.
   Other models may be at work longer, and one that is gone has no later run of its own. #}
{% macro drop_leftovers() %}
    {%- set own = delta_scd2._staged_prefix(this) | lower -%}
    {%- for staged in delta_scd2._staged_tables(this) -%}
        {%- set age = modules.datetime.timedelta(days=1 if staged.prefix == own else 7) -%}
        {%- do run_query('drop table if exists ' ~ staged.table) if staged.run < (run_started_at - age).strftime('%Y%m%d%H%M%S') -%}
    {%- endfor -%}
{% endmacro %}


{# Many metastores take names of up to 128 characters. #}
{% macro _staged_prefix(relation) %}
    {%- set name = relation.identifier -%}
    {{- return((name if name | length <= 80 else name[:67] ~ '_' ~ local_md5(name)[:12]) ~ '__scd2_') -}}
{% endmacro %}
