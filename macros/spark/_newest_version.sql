{% macro _newest_version(table) %}
    {{- return(_newest_commit(table)['version']) -}}
{% endmacro %}


{% macro _newest_commit(table) %}
    {{- return(_run_to_its_end('describe history ' ~ table ~ ' limit 1').rows[0]) -}}
{% endmacro %}
