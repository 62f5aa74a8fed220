{# Gives the columns of a table the descriptions that they do not have yet. dbt gives all of them
   at every run, and each is a commit of its own, also where it changes nothing. #}
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
            {#- dbt-spark leaves backslashes to Spark, which takes them for the beginning of an
                escape. -#}
            {%- do changed.update({name: dict(column, description=column['description'] | replace('\\', '\\\\'))}) -%}
        {%- endfor -%}
        {%- do alter_column_comment(relation, changed) -%}
    {%- endif -%}
{% endmacro %}
