{# With deletion vectors, a MERGE marks changed rows instead of rewriting their files. Marking costs
   a further job, and leaves more files, which is more than the rewriting of a small table. #}

{% macro deletion_vectors_property() %}
    {{- return('delta.enableDeletionVectors') -}}
{% endmacro %}


{# Whether a table could still get deletion vectors; a model that mentions them decides for itself. #}
{% macro may_gain_deletion_vectors(detail) %}
    {{- return(not detail.has_deletion_vectors
        and delta_scd2.deletion_vectors_property() not in (config.get('tblproperties') or {})) -}}
{% endmacro %}
