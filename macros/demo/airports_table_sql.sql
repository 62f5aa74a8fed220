{% macro airports_table_sql(relation, directory) %}
    {%- set releases = ['20210425', '20220107', '20230303', '20240119', '20250204'] -%}
create table if not exists {{ relation }} using delta as
    {%- for release in releases %}
select
    icao,
    iata,
    name,
    city,
    subd,
    country,
    elevation,
    lat,
    lon,
    tz,
    {{ 'lid' if release >= '20230303' else 'cast(null as string)' }} as lid,
    to_date('{{ release }}', 'yyyyMMdd') as released_on
from csv.`{{ directory }}/airports_{{ release }}.csv.gz` with (header = 'true', escape = '"')
        {%- if not loop.last %}
union all
        {%- endif %}
    {%- endfor %}
{% endmacro %}
