{# What the columns are called that a change data feed adds to the rows of its table. A table
   that holds one by its own name cannot have a feed itself. #}
{% macro stored_names(entity) %}
    {%- set names = {} -%}
    {%- for name in ['_change_type', '_commit_version', '_commit_timestamp'] -%}
        {%- do names.update({name: entity ~ name}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{% endmacro %}


{# The options with the names that the table has: one of earlier days keeps those of the model. #}
{% macro with_stored_names(settings, stored_names) %}
    {%- set names = {} -%}
    {%- for name, stored in settings.stored_as.items() if name not in stored_names -%}
        {%- do names.update({name: stored}) -%}
    {%- endfor -%}
    {{- return(dict(settings, stored_as=names)) -}}
{% endmacro %}


{% macro stored_name(settings, name) %}
    {{- return(settings.stored_as.get(name | lower, name)) -}}
{% endmacro %}


{# The inverse. #}
{% macro name_in_model(settings, name) %}
    {%- for given, stored in settings.stored_as.items() if stored | lower == name | lower -%}
        {{- return(given) -}}
    {%- endfor -%}
    {{- return(name) -}}
{% endmacro %}
