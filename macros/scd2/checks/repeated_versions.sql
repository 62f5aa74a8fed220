{% macro _refuse_repeated_versions(dimension, keys) %}
    {%- if keys -%}
        {%- do raise_refusal(
            dimension.target ~ ' holds a version twice, or two current versions of one key, as no load leaves them: ' ~ keys,
            'find who wrote them with `describe history ' ~ dimension.target ~ '`, and `restore table` to the version before, '
                ~ 'or delete the rows that are too many'
        ) -%}
    {%- endif -%}
{% endmacro %}
