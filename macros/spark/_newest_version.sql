{% macro _newest_version(table) %}
    {{- return(run_query('describe history ' ~ table ~ ' limit 1').rows[0]['version']) -}}
{% endmacro %}
