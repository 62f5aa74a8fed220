{# Dates, and the programs that read them, support the years 1 to 9999 in UTC. An inferred row
   begins in 1900, and the row that completes it cannot be older. An open version must start before
   `open_end`. #}
{% macro _check_effective_times(load, row) %}
    {%- set settings = load.settings -%}
    {%- set year = '1900' if settings.inferred_member else '1' -%}
    {%- set first = delta_scd2.ts_micros(year.rjust(4, '0') ~ '-01-01') -%}
    {%- set last = delta_scd2.ts_micros('9999-12-31 23:59:59.999999') -%}
    {%- set open_end = delta_scd2.ts_micros(settings.open_end | string)
        if settings.open_end is not none -%}
    {%- set is_between = delta_scd2.backticked(settings.columns.effective_from) ~ ' between '
        ~ delta_scd2.timestamp_literal(first) ~ ' and ' -%}
    {%- if row['first_time'] < first or row['last_time'] > last -%}
        {%- do delta_scd2.raise_refusal(
            'rows have a time in `' ~ settings.effective_at
                ~ '` that is not in the years ' ~ year ~ ' to 9999 UTC: '
                ~ delta_scd2._offenders(
                    load,
                    load.hashed_rows,
                    'not (' ~ is_between ~ delta_scd2.timestamp_literal(last) ~ ')'
                ),
            'give them the time at which they became true'
                ~ (', or 1900-01-01, from which inferred rows are valid' if settings.inferred_member else '')
        ) -%}
    {%- elif settings.open_end is not none and row['last_time'] >= open_end -%}
        {%- set last_before_end = delta_scd2.timestamp_literal(open_end - 1) -%}
        {%- do delta_scd2.raise_refusal(
            'rows have a time in `' ~ (settings.effective_at or settings.columns.effective_from)
                ~ '` that is not before `open_end` (' ~ settings.open_end ~ '): '
                ~ delta_scd2._offenders(
                    load, load.hashed_rows, 'not (' ~ is_between ~ last_before_end ~ ')'
                ),
            'give them the time at which they became true, or choose a later `open_end` for a '
                ~ 'dimension that is still to be built'
        ) -%}
    {%- endif -%}
{% endmacro %}
