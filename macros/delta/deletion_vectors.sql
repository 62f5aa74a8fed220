{# With deletion vectors, a MERGE marks changed rows instead of rewriting their files. Marking costs
   a further job, which is more than the rewriting of a small table. #}

{% macro deletion_vectors_property() %}
    {{- return('delta.enableDeletionVectors') -}}
{% endmacro %}


{# Whether a table of these many rows is so small that its files are rewritten. #}
{% macro is_rewritten_quickly(row_count) %}
    {{- return(row_count < 50000) -}}
{% endmacro %}


{# Whether a table without deletion vectors has grown so large that it needs them; a model that
   mentions them decides for itself. #}
{% macro outgrows_rewriting(detail) %}
    {{- return(detail.size > 8 * 1024 * 1024 and not detail.has_deletion_vectors
        and delta_scd2.deletion_vectors_property() not in (config.get('tblproperties') or {})) -}}
{% endmacro %}
