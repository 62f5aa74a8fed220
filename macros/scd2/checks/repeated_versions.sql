{# If two live versions share a key, the counts of rows and live versions do not match. #}
{% macro _check_live_versions(load) %}
    {%- set keys = delta_scd2.query_keys(delta_scd2._live_twice_sql(load)) -%}
    {%- do delta_scd2._raise_repeated_versions(load, keys) -%}
{% endmacro %}


{# Versions that are stored twice, as counted in the summary of the change set. #}
{% macro _check_repeated_versions(load, repeated) %}
    {%- if repeated -%}
        {%- set keys = delta_scd2._offenders(load, load.changes, '_scd2_copies > 1') -%}
        {%- do delta_scd2._raise_repeated_versions(load, keys) -%}
    {%- endif -%}
{% endmacro %}


{# Up to ten keys with more than one live version. #}
{% macro _live_twice_sql(load) %}
select {{ delta_scd2.key_text_sql(load) }} as _scd2_key
from {{ load.target_as_read }}
where {{ delta_scd2.is_live_sql(load) }}
group by {{ delta_scd2.columns_in_line(load.key_columns) }}
having count(*) > 1
order by _scd2_key
limit 10
{% endmacro %}


{% macro _raise_repeated_versions(load, keys) %}
    {%- if keys -%}
        {%- do delta_scd2.raise_refusal(
            load.target ~ ' holds a version twice, or two current versions of one key, '
                ~ 'which no load writes: ' ~ keys,
            'find who wrote them with `describe history ' ~ load.target
                ~ '`, and `restore table` to the version before, or delete the '
                ~ 'surplus rows'
        ) -%}
    {%- endif -%}
{% endmacro %}
