{# What the columns are called that a change data feed adds to the rows of its table. A table that holds one by its own name
   cannot have a feed itself. #}
{% macro stored_names(entity) %}
    {%- set names = {} -%}
    {%- for name in ['_change_type', '_commit_version', '_commit_timestamp'] -%}
        {%- do names.update({name: entity ~ name}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{% endmacro %}


{# A table of earlier days keeps the names that it has. #}
{% macro keep_stored_names(settings, stored_names) %}
    {%- for name in settings.stored_as.keys() | list if name in stored_names -%}
        {%- do settings.stored_as.pop(name) -%}
    {%- endfor -%}
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
