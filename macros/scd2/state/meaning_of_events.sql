{# What the options say of the events, by the name of the property that records it: the columns that
   order them, the placeholders in them, and the inferred rows among them. #}
{% macro meaning_of_events(load) %}
    {{- return({
        'scd2.sequence_by': load.settings.sequence_by | map('lower') | list,
        'scd2.placeholders': delta_scd2.unavailable_values_of(load),
        'scd2.inferred_member': (load.settings.inferred_member or '') | lower,
    }) -}}
{% endmacro %}


{# The order is always recorded, the others only where there are or were any. Without rows, a load
   does not make the table of the events anew. #}
{% macro meaning_of_events_properties(load) %}
    {%- set properties = {} -%}
    {%- for name, meaning in delta_scd2.meaning_of_events(load).items() -%}
        {%- do properties.update({name: delta_scd2.redaction_safe_json(meaning)})
            if meaning or name == 'scd2.sequence_by' or name in load.properties -%}
    {%- endfor -%}
    {{- return(properties) -}}
{% endmacro %}


{# Whether the stored events had another order, or placeholders and inferred rows that would now be
   taken for what happened. #}
{% macro is_other_meaning_of_events(load) %}
    {%- set now = delta_scd2.meaning_of_events(load) -%}
    {%- set was = {} -%}
    {%- for name, meaning in now.items() -%}
        {%- do was.update({name: fromjson(load.properties[name]) if name in load.properties else meaning}) -%}
    {%- endfor -%}
    {%- set placeholders = now['scd2.placeholders'].items() | list -%}
    {{- return(
        was['scd2.sequence_by'] != now['scd2.sequence_by']
        or was['scd2.placeholders'].items() | reject('in', placeholders) | list != []
        or was['scd2.inferred_member'] not in ['', now['scd2.inferred_member']]
    ) -}}
{% endmacro %}
