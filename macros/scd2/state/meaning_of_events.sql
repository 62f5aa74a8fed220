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


{# A hash of the columns for which a table of events is made, and of what the options say of it. #}
{% macro made_for(load) %}
    {{- return(local_md5(tojson([
        delta_scd2.lower_names(delta_scd2.columns_of_model(load)),
        delta_scd2.lower_names(load.tracked_columns),
        delta_scd2.meaning_of_events(load),
    ]))) -}}
{% endmacro %}


{# Whether a run that died before it recorded other columns has already made the table of the events
   anew for them, and remembers its events there. #}
{% macro are_made_anew_already(load) %}
    {%- set made_for = (load.event_log_properties or {})['scd2.made_for'] -%}
    {{- return(made_for == delta_scd2.made_for(load) and made_for != load.properties['scd2.made_for']) -}}
{% endmacro %}


{# What the dimension records of it, where a load has or makes that table. #}
{% macro made_for_property(load) %}
    {%- set made_for = load.event_log_properties['scd2.made_for'] if load.has_usable_events
        else delta_scd2.made_for(load) if load.may_change -%}
    {{- return({'scd2.made_for': made_for} if made_for else {}) -}}
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
