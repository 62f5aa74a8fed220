{# 64 bits that tell rows apart. The hash of Spark passes over nulls, also within a value of
   several parts. #}
{% macro short_hash(columns, alias=none, first=none) %}
    {%- set parts = [first] | select | list -%}
    {%- for column in columns -%}
        {%- set value = (alias ~ '.' if alias else '') ~ backticked(column.name) -%}
        {%- if modules.re.match('(array|map|struct|variant)', column.data_type) -%}
            {%- do parts.append(hash_of([column], alias)) -%}
        {%- else -%}
            {%- do parts.extend([value, value ~ ' is null']) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return('xxhash64(' ~ parts | join(', ') ~ ')') -}}
{% endmacro %}


{# The short hash of what tells whether a row is as it was. It begins with what the columns are,
   so that one that is stored is equal to none over other columns. #}
{% macro state_hash_sql(load) %}
    {%- set columns = load.tracked_columns + load.key_columns -%}
    {%- set names_and_types = [] -%}
    {%- for column in columns -%}
        {%- do names_and_types.append(column.name | lower ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {{- return(short_hash(columns, first=sql_string(local_md5(names_and_types | join(','))[:8]))) -}}
{% endmacro %}


{# Whether the last load kept a state hash. #}
{% macro has_state_hash(settings, stored, recorded) %}
    {%- set name = settings.columns.state_hash -%}
    {{- return(name is not none and name | lower in stored and recorded.get('scd2.state_hash') == name) -}}
{% endmacro %}


{# The one that the table keeps. What loads without it left there says nothing. #}
{% macro stored_state_hash(load) %}
    {{- return(backticked(load.settings.columns.state_hash) if load.has_state_hash else 'cast(null as bigint)') -}}
{% endmacro %}
