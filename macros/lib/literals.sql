{#- `${` is escaped because Spark replaces `${name}` before parsing, even inside literals. -#}
{% macro sql_string(value) -%}
    '{{ value | replace('\\', '\\\\') | replace("'", "\\'") | replace('${', '$\\{') }}'
{%- endmacro %}


{# A timestamp literal for microseconds since the epoch, independent of the session time zone. #}
{% macro timestamp_literal(micros) %}
    {{- return("timestamp '" ~ delta_scd2.utc_text(micros) ~ "+00:00'") -}}
{% endmacro %}


{# A literal of exactly this type; with a cast, Delta could not skip files. #}
{% macro typed_literal(data_type, text) %}
    {%- if data_type in ['date', 'string'] -%}
        {{- return(('date ' if data_type == 'date' else '') ~ delta_scd2.sql_string(text)) -}}
    {%- endif -%}
    {{- return(text ~ {'tinyint': 'Y', 'smallint': 'S', 'int': '', 'bigint': 'L'}[data_type]) -}}
{% endmacro %}


{% macro utc_text(micros) %}
    {%- set epoch = modules.datetime.datetime(1970, 1, 1) -%}
    {%- set text = (epoch + modules.datetime.timedelta(microseconds=micros)).isoformat(' ') -%}
    {{- return(text.rstrip('0') if '.' in text else text) -}}
{% endmacro %}


{# Parses an ISO 8601 text, or a value that YAML parsed, into microseconds since the epoch; returns
   none for anything else. Without an offset it is UTC; a date alone is midnight.
   `delta_scd2.timestamps` must accept the same texts. #}
{% macro ts_micros(value) %}
    {%- set parts = modules.re.fullmatch(
        '([0-9]{4})(-?)([0-9]{2})\\2([0-9]{2})'
        '(?:[Tt ]([0-9]{2})(?:(:?)([0-9]{2})(?:\\6([0-9]{2})(?:[.,]([0-9]{1,6})0*)?)?)?'
        ' ?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?',
        value | string | trim
    ) -%}
    {%- if not parts
        or not delta_scd2._is_calendar_day(parts[1] | int, parts[3] | int, parts[4] | int) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set hour, minute, second = parts[5] | int, parts[7] | int, parts[8] | int -%}
    {%- set offset = (parts[11] | int * 60 + parts[12] | int) * (-1 if parts[10] == '-' else 1) -%}
    {%- if hour > 23 or minute > 59 or second > 59 or parts[11] | int > 23 or parts[12] | int > 59 -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set day = modules.datetime.date(parts[1] | int, parts[3] | int, parts[4] | int) -%}
    {%- set days = (day - modules.datetime.date(1970, 1, 1)).days -%}
    {%- set seconds = days * 86400 + hour * 3600 + (minute - offset) * 60 + second -%}
    {#- Python dates and SQL timestamps cover the years 1 to 9999, in UTC. -#}
    {%- if not -62135596800 <= seconds < 253402300800 -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(seconds * 1000000 + (parts[9] or '').ljust(6, '0') | int) -}}
{% endmacro %}


{% macro is_timestamp_text(value) %}
    {{- return(delta_scd2.ts_micros(value) is not none) -}}
{% endmacro %}


{% macro _is_calendar_day(year, month, day) %}
    {%- if year == 0 or not 1 <= month <= 12 -%}
        {{- return(false) -}}
    {%- endif -%}
    {#- The calendar repeats every 400 years, and shifting the year avoids the upper limit of
        Python's dates. -#}
    {%- set first = modules.datetime.date(2000 + year % 400, month, 1) -%}
    {%- set next_month = (first + modules.datetime.timedelta(days=31)).replace(day=1) -%}
    {{- return(1 <= day <= (next_month - first).days) -}}
{% endmacro %}
