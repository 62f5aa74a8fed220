{# Whether `--sample` made the table, of a part of the rows, with no history that a whole run
   could follow. #}
{% macro was_built_from_sample(existing) %}
    {{- return(not delta_scd2.is_partial_run() and delta_scd2.read_properties(existing).get('scd2.sample') == 'true') -}}
{% endmacro %}
