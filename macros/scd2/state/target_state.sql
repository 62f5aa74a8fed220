{% macro target_state(load) %}
    {{- return(delta_scd2.numbers_of(run_query(delta_scd2.target_state_sql(load)).rows[0])) -}}
{% endmacro %}


{# The state of the dimension as read: a fingerprint to detect concurrent writes, the newest change,
   and the number of live keys. The last two are needed only where a time can be too old or keys can
   be absent. #}
{% macro target_state_sql(load) %}
    {%- set settings = load.settings -%}
select
    {{ delta_scd2.fingerprint_sql('hash(_metadata.file_path)') }} as fingerprint
    {%- if settings.reads_extracts or not settings.effective_at %},
    {{ delta_scd2.high_water_mark_sql(load) | indent(4) }} as high_water_mark,
    count_if({{ delta_scd2.is_live_sql(load) }}) as live
    {%- endif %}
    {%- if load.has_usable_events %},
    (select count(*) from {{ load.event_log }}) as events
    {%- endif %}
from {{ load.target_as_read }}
{% endmacro %}


{# The newest time at which the dimension changed, in microseconds. #}
{% macro high_water_mark_sql(load) -%}
    {%- set settings = load.settings -%}
unix_micros(greatest(
    max({{ delta_scd2.backticked(settings.columns.effective_from) }})
    {{- ' filter (where ' ~ delta_scd2.is_not_unknown_member_sql(load) ~ ')'
        if settings.unknown_member }},
    max({{ delta_scd2.end_sql(settings) }}) filter (
        where
            {{ delta_scd2.is_deleted_sql(settings) }}
            and not ({{ delta_scd2.is_open_sql(settings) }})
    )
))
{%- endmacro %}


{# Changes with the data files of the table and with the number of rows that are not deleted in
   them. #}
{% macro fingerprint_sql(file_hash) -%}
concat(count({{ file_hash }}), ' rows, files ', coalesce(sum({{ file_hash }}), 0))
{%- endmacro %}
