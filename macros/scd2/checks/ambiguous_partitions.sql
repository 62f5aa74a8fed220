{# Delta writes timestamps in partition names as local time of the session, in which one hour of
   the year may occur twice. #}
{% macro ambiguous_partitions(load) %}
    {%- set names = load.settings.columns -%}
    {%- set timestamps = load.kept_columns | selectattr('data_type', 'equalto', 'timestamp') | list
        + delta_scd2.columns_named([names.effective_from, names.effective_to]) -%}
    {%- set partitions = delta_scd2.lower_names(timestamps) | select('in', load.detail.partitions) | list -%}
    {%- set zone = run_query('set spark.sql.session.timeZone').rows[0]['value'] if partitions -%}
    {%- if not partitions or zone in ['UTC', 'Etc/UTC', 'GMT', 'Z', '+00:00'] -%}
        {{- return([]) -}}
    {%- endif -%}
    {{- return([
        'the timestamp `' ~ partitions | join('`, `') ~ '` is a partition column of ' ~ load.target
            ~ ', for which Delta keeps what a clock in ' ~ zone ~ ' shows, also where two moments '
            ~ 'show the same: partition by a date, or set `spark.sql.session.timeZone` to `UTC`'
    ]) -}}
{% endmacro %}
