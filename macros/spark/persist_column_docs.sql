{# Updates only the column comments that changed. dbt sets all of them on every run, each in its own
   commit. #}
{% macro persist_column_docs(relation) %}
    {%- if config.persist_column_docs() and model.columns -%}
        {%- set comments = {} -%}
        {%- for column in run_query('describe query select * from ' ~ relation).rows -%}
            {%- do comments.update({column['col_name']: column['comment'] or ''}) -%}
        {%- endfor -%}
        {%- set known = comments.values() | list -%}
        {%- set names = comments.keys() | map('lower') | list -%}
        {%- set changed = {} -%}
        {%- for name, column in validate_doc_columns(relation, model.columns, comments.keys() | list).items()
            if column['description'] != known[names.index(name | lower)] -%}
            {#- dbt-spark does not escape backslashes. -#}
            {%- do changed.update({
                name: dict(column, description=column['description'] | replace('\\', '\\\\'))
            }) -%}
        {%- endfor -%}
        {%- do alter_column_comment(relation, changed) -%}
    {%- endif -%}
{% endmacro %}
