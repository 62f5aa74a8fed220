{# Settings and moments as Spark SQL. #}

{# A moment, in microseconds since the epoch, as a literal that means the same in every session time zone. #}
{% macro _timestamp_literal(moment) %}
    {{- return("timestamp '" ~ _utc_text(moment) ~ "+00:00'") -}}
{% endmacro %}


{% macro _flag_literal(settings, value) %}
    {%- set stored = settings.flag_values[0 if value else 1] -%}
    {{- return(_sql_string(stored) if stored is string else (stored | string | lower)) -}}
{% endmacro %}


{% macro _open_end_literal(settings) %}
    {%- if settings.open_end is none -%}
        {{- return('cast(null as timestamp)') -}}
    {%- endif -%}
    {{- return(_timestamp_literal(_micros(settings.open_end | string))) -}}
{% endmacro %}


{% macro _closing_sql(settings, boundary_sql) %}
    {{- return(_shifted_sql(settings, boundary_sql, '-')) -}}
{% endmacro %}


{# The inverse: the moment at which a closed version gave way to what followed. #}
{% macro _end_of(settings, effective_to_sql) %}
    {{- return(_shifted_sql(settings, effective_to_sql, '+')) -}}
{% endmacro %}


{# An interval of a day or more would count the days of the session time zone, some of which have 23 or 25 hours. #}
{% macro _shifted_sql(settings, moment_sql, sign) %}
    {%- set gap = _gap_micros(settings) -%}
    {%- if gap == 0 -%}
        {{- return(moment_sql) -}}
    {%- elif gap < 24 * 3600 * 1000000 -%}
        {{- return(moment_sql ~ ' ' ~ sign ~ ' interval ' ~ settings.closing_gap) -}}
    {%- endif -%}
    {{- return('timestamp_micros(unix_micros(cast(' ~ moment_sql ~ ' as timestamp)) ' ~ sign ~ ' ' ~ gap ~ ')') -}}
{% endmacro %}


{% macro _gap_micros(settings) %}
    {%- if settings.closing_gap | string == '0' -%}
        {{- return(0) -}}
    {%- endif -%}
    {%- set number, unit = settings.closing_gap.split(' ') -%}
    {%- set micros = {
        'microsecond': 1, 'millisecond': 1000, 'second': 1000000,
        'minute': 60000000, 'hour': 3600000000, 'day': 86400000000,
    } -%}
    {{- return(number | int * micros[unit.rstrip('s')]) -}}
{% endmacro %}


{% macro _utc_text(moment) %}
    {%- set epoch = modules.datetime.datetime(1970, 1, 1) -%}
    {%- set text = (epoch + modules.datetime.timedelta(microseconds=moment)).isoformat(' ') -%}
    {{- return(text.rstrip('0') if '.' in text else text) -}}
{% endmacro %}


{# A time as a person or a table writes it, in microseconds since the epoch, or none where it is none: ISO 8601, or what YAML
   makes of it. Without an offset it is UTC, and a date alone is its midnight. `delta_scd2.moments` reads the same. #}
{% macro _micros(value) %}
    {%- set parts = modules.re.fullmatch(
        '([0-9]{4})(-?)([0-9]{2})\\2([0-9]{2})'
        '(?:[Tt ]([0-9]{2})(?:(:?)([0-9]{2})(?:\\6([0-9]{2})(?:[.,]([0-9]{1,6})0*)?)?)?'
        ' ?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?',
        value | string | trim
    ) -%}
    {%- if not parts or not _is_calendar_day(parts[1] | int, parts[3] | int, parts[4] | int) -%}
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
    {#- The years 1 to 9999 in UTC, beyond which there is neither a date of Python nor one of SQL. -#}
    {%- if not -62135596800 <= seconds < 253402300800 -%}
        {{- return(none) -}}
    {%- endif -%}
    {{- return(seconds * 1000000 + (parts[9] or '').ljust(6, '0') | int) -}}
{% endmacro %}


{% macro _is_moment(value) %}
    {{- return(_micros(value) is not none) -}}
{% endmacro %}


{% macro _is_calendar_day(year, month, day) %}
    {%- if year == 0 or not 1 <= month <= 12 -%}
        {{- return(false) -}}
    {%- endif -%}
    {#- Months are as long as four hundred years before or after; Python's years end with 9999. -#}
    {%- set first = modules.datetime.date(2000 + year % 400, month, 1) -%}
    {%- set next_month = (first + modules.datetime.timedelta(days=31)).replace(day=1) -%}
    {{- return(1 <= day <= (next_month - first).days) -}}
{% endmacro %}
