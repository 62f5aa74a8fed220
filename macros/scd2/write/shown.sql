{# Writes the statements of a load to `target/run` before they run, so that they can be read if one
   of them fails. dbt itself writes only the one that it calls `main`. #}
{% macro show_statements(load, write_sql=none) %}
    {%- set staging_sql = delta_scd2.shown_staging_sql(load.changes, load.changes_sql)
        if load.changes_sql -%}
    {%- do write([staging_sql, write_sql] | select | join(';\n\n')) if model.language == 'sql' -%}
{% endmacro %}
