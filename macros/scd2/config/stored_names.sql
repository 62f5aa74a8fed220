{# The stored names of the columns that a change data feed or a changelog adds. Delta does not
   enable a feed on a table that has a column with one of the original names, and the changelog of
   the table has an ordinal of its own. #}
{% macro stored_names(entity) %}
    {%- set names = {} -%}
    {%- for name in ['_change_type', '_change_ordinal', '_commit_version', '_commit_timestamp'] -%}
        {%- do names.update({name: entity ~ name}) -%}
    {%- endfor -%}
    {{- return(names) -}}
{% endmacro %}


{# The options with the names found in the table: tables of earlier releases keep the original
   names. #}
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


{# The inverse of `stored_name`. #}
{% macro name_in_model(settings, name) %}
    {%- for given, stored in settings.stored_as.items() if stored | lower == name | lower -%}
        {{- return(given) -}}
    {%- endfor -%}
    {{- return(name) -}}
{% endmacro %}
