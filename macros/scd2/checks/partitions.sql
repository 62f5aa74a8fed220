{# Delta keeps null for an empty text by which it partitions, so that its version would never be
   found again. #}
{% macro check_empty_partitions(load) %}
    {%- for column in delta_scd2.text_partitions(load, config.get('partition_by')) -%}
        {%- set offenders = delta_scd2._offenders(load, delta_scd2.backticked(column.name) ~ " = ''"
            ~ (' and not _scd2_is_gone' if load.settings.change_type else '')) -%}
        {%- if offenders -%}
            {%- do delta_scd2.raise_refusal(
                'rows have an empty text in `' ~ column.name ~ '`, for which Delta keeps null where it partitions by the column: '
                    ~ offenders,
                'give it another value in the model, or do not partition by it'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{% endmacro %}


{# Delta names a partition by the clock of the session, on which one hour of the year may come
   twice. #}
{% macro ambiguous_partitions(load) %}
    {%- set names = load.settings.columns -%}
    {%- set timestamps = load.kept_columns | selectattr('data_type', 'equalto', 'timestamp') | list
        + delta_scd2.columns_named([names.effective_from, names.effective_to]) -%}
    {%- set partitions = delta_scd2.lower_names(timestamps) | select('in',
        delta_scd2._partition_names(config.get('partition_by'))) | list -%}
    {%- set zone = run_query('set spark.sql.session.timeZone').rows[0]['value'] if partitions -%}
    {%- if not partitions or zone in ['UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00'] -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return(['`partition_by` names the timestamp `' ~ partitions | join('`, `') ~ '`, of which Delta keeps what a clock in ' ~ zone
        ~ ' shows, also where two moments show the same: partition by a date, or set `spark.sql.session.timeZone` to `UTC`']) -}}
{% endmacro %}


{% macro _partition_names(partition_by) %}
    {{- return(delta_scd2.as_list(partition_by) | map('replace', '`', '') | map('lower') | list) -}}
{% endmacro %}


{% macro text_partitions(load, partition_by) %}
    {%- set names = delta_scd2._partition_names(partition_by) -%}
    {%- set columns = [] -%}
    {%- for column in load.kept_columns
        if column.name | lower in names and modules.re.match('(string|char|varchar)', column.data_type) -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{% endmacro %}
