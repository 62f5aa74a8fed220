{# The name of a table, none if it is read by its path; the size of its data files in bytes; whether
   it has deletion vectors; and the names of the columns by which it is partitioned, which an option
   of its model need not name any more. #}
{% macro table_detail(table) %}
    {%- set detail = run_query('describe detail ' ~ table).rows[0] -%}
    {{- return({
        'name': detail['name'],
        'size': detail['sizeInBytes'] | int,
        'has_deletion_vectors': 'deletionVectors' in detail['tableFeatures'] | string,
        'partitions': fromjson(detail['partitionColumns'], []) | map('lower') | list,
    }) -}}
{% endmacro %}
