{# Updates only the comments that changed. dbt sets those of all columns on every run, each in its own
   commit, and that of the table where it creates it. #}
{% macro persist_docs_of(relation) %}
    {%- if config.persist_relation_docs() and model.description -%}
        {%- set comment = run_query('describe table extended ' ~ relation).rows
            | selectattr('col_name', 'equalto', 'Comment') | map(attribute='data_type') | list -%}
        {%- do run_query('comment on table ' ~ relation ~ ' is '
            ~ delta_scd2.sql_string(model.description)) if comment[-1:] != [model.description] -%}
    {%- endif -%}
    {%- if config.persist_column_docs() and model.columns -%}
        {%- set comments = {} -%}
        {%- for column in run_query('describe query select * from ' ~ relation).rows -%}
            {%- do comments.update({column['col_name']: column['comment'] or ''}) -%}
        {%- endfor -%}
        {%- set known = comments.values() | list -%}
        {%- set names = comments.keys() | map('lower') | list -%}
        {%- for name, column in validate_doc_columns(relation, model.columns, comments.keys() | list).items()
            if column['description'] != known[names.index(name | lower)] -%}
            {%- do run_query('alter table ' ~ relation ~ ' alter column ' ~ delta_scd2.backticked(name)
                ~ ' comment ' ~ delta_scd2.sql_string(column['description'])) -%}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}
