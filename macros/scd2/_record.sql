{# What the table remembers of its loads, in its properties. Extracts leave no trace in the rows when nothing changed; and
   options that decide what is stored must not change under a dimension that holds history. #}

{% macro _recorded(relation) %}
    {%- set properties = {} -%}
    {%- for row in run_query('show tblproperties ' ~ relation) if row['key'].startswith('scd2.') -%}
        {%- if row['value'].endswith('(redacted)') -%}
            {%- do _refuse(
                'Spark hides the property `' ~ row['key'] ~ '` of ' ~ relation ~ ', which says what the last run left',
                'let no word of it match `spark.sql.redaction.options.regex` and `spark.redaction.regex`'
            ) -%}
        {%- endif -%}
        {%- do properties.update({row['key']: row['value']}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{% endmacro %}


{# A list of names as JSON that Spark does not take for a secret: it hides properties in which it finds one of these words,
   also within `hourly`. #}
{% macro _shown_json(names) %}
    {%- set text = namespace(json=tojson(names)) -%}
    {%- for word, escaped in {
        'url': '\\u0075rl', 'secret': '\\u0073ecret', 'password': '\\u0070assword', 'token': '\\u0074oken',
        'accesskey': '\\u0061ccesskey', 'access.key': '\\u0061ccess.key',
    }.items() -%}
        {%- set text.json = text.json | replace(word, escaped) -%}
    {%- endfor -%}
    {{- return(text.json) -}}
{% endmacro %}


{% macro _applied_extracts(recorded) %}
    {%- set moments = [] -%}
    {%- for text in recorded.get('scd2.extracts', '').split(',') if text -%}
        {%- do moments.append(_micros(text)) -%}
    {%- endfor -%}
    {{- return(moments) -}}
{% endmacro %}


{% macro _lasting_options(dimension) %}
    {%- set settings = dimension.settings -%}
    {{- return({
        'scd2.unique_key': _shown_json(settings.unique_key | map('lower') | list),
        'scd2.surrogate_key': settings.surrogate_key,
        'scd2.flag_values': tojson(settings.flag_values),
        'scd2.open_end': _recorded_open_end(dimension),
        'scd2.closing_gap': settings.closing_gap | string,
        'scd2.hard_deletes': settings.hard_deletes,
        'scd2.unknown_member': settings.unknown_member | string | lower,
    }) -}}
{% endmacro %}


{# The open end as it was first written, where what is written now is the same time. #}
{% macro _recorded_open_end(dimension) %}
    {%- set now = dimension.settings.open_end | string -%}
    {%- set before = dimension.recorded.get('scd2.open_end', now) -%}
    {{- return(before if _is_moment(now) and _micros(before) == _micros(now) else now) -}}
{% endmacro %}


{% macro _changed_options(dimension, recorded) %}
    {%- set mistakes = [] -%}
    {#- What was false may become true: an unknown member is added to a history, not taken away. -#}
    {%- for name, value in _lasting_options(dimension).items() -%}
        {%- set before, now = _recorded_value(recorded.get(name, value)), _recorded_value(value) -%}
        {%- if before not in [now, 'false'] -%}
            {%- do mistakes.append('`' ~ name.split('.')[1] ~ '` was `' ~ before ~ '` when ' ~ dimension.target
                ~ ' was built and is `' ~ now ~ '` now, which its history cannot follow: go back, or rebuild it') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# What a property says; a list that is written in two ways is the same list. #}
{% macro _recorded_value(property) %}
    {{- return(tojson(fromjson(property)) if property.startswith('[') else property) -}}
{% endmacro %}


{# What the table is to remember after this run. #}
{% macro _to_record(dimension) %}
    {%- set properties = _lasting_options(dimension) -%}
    {%- do properties.update({
        'scd2.columns': _shown_json(_names(dimension.kept_columns | reject('in', dimension.vanished))),
        'scd2.track_columns': _shown_json(_names(dimension.tracked_columns)),
    }) -%}
    {%- set state_hash = dimension.settings.columns.state_hash -%}
    {%- do properties.update({'scd2.state_hash': state_hash or ''}) if state_hash or dimension.recorded.get('scd2.state_hash') -%}
    {%- if '_commit_version' in dimension.settings.sequence_by -%}
        {%- do properties.update(_newly_consumed(dimension)) -%}
    {%- endif -%}
    {%- if dimension.applied -%}
        {%- set texts = [] -%}
        {%- for moment in dimension.applied | sort -%}
            {%- do texts.append(_utc_text(moment)) -%}
        {%- endfor -%}
        {%- do properties.update({'scd2.extracts': texts | join(',')}) -%}
    {%- endif -%}
    {{- return(properties) -}}
{% endmacro %}


{# The version of the change data feed up to which all is read. Commits without changes, such as those of OPTIMIZE, are left behind
   once a day: soon enough for the log of the source, and seldom enough for that of the dimension. #}
{% macro _newly_consumed(dimension) %}
    {%- set version_column = _backticked(_stored_name(dimension.settings, '_commit_version')) -%}
    {%- set rows = _run_to_its_end(
        'select max(' ~ version_column ~ ') as version, unix_micros(current_timestamp()) as moment from ' ~ dimension.extract
    ).rows[0] -%}
    {#- A migration runs outside the model, and has no compiled one. -#}
    {%- set version = _range_end(model.compiled_code | default('')) -%}
    {%- set version = rows['version'] if version is none else version -%}
    {%- set moment = rows['moment'] | int -%}
    {%- set before = dimension.recorded.get('scd2.consumed_at') -%}
    {%- set is_recent = before and moment - _micros(before) < 24 * 60 * 60 * 1000000 -%}
    {%- if version is none or (rows['version'] is none and is_recent) -%}
        {{- return({}) -}}
    {%- endif -%}
    {{- return({'scd2.consumed_version': version | string, 'scd2.consumed_at': _utc_text(moment)}) -}}
{% endmacro %}


{% macro _set_properties_sql(dimension, properties) %}
alter table {{ dimension.target }} set tblproperties (
    {%- for name, value in properties.items() %}
    {{ _sql_string(name) }} = {{ _sql_string(value) }}{{ ',' if not loop.last }}
    {%- endfor %}
)
{% endmacro %}
