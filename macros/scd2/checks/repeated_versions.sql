{% macro _raise_repeated_versions(load, keys) %}
    {%- if keys -%}
        {%- do delta_scd2.raise_refusal(
            load.target ~ ' holds a version twice, or two current versions of one key, as no load leaves them: ' ~ keys,
            'find who wrote them with `describe history ' ~ load.target ~ '`, and `restore table` to the version before, '
                ~ 'or delete the rows that are too many'
        ) -%}
    {%- endif -%}
{% endmacro %}
