{# Whether the table is to be made anew: `--sample` left a subset of rows in it; or `--empty` left
   none but an unknown member, nor any change to remember, and nothing was loaded since. #}
{% macro query_built_partially(existing, recorded, memory=none) %}
    {%- set built_by = recorded.get('scd2.sample') -%}
    {{- return(not delta_scd2.is_partial_run() and (built_by == 'true'
        or (built_by == 'empty' and 'scd2.columns' not in recorded
            and 'scd2.events_id' not in recorded
            and not delta_scd2.query_any_row(
                existing, besides=1 if recorded.get('scd2.unknown_member') == 'true' else 0
            )
            and not (memory is not none and delta_scd2.query_exists(memory)
                and delta_scd2.query_any_row(memory))))) -}}
{% endmacro %}


{# What a partial run notes on the table that it makes. #}
{% macro sample_properties() %}
    {{- return({'scd2.sample': 'empty' if flags.EMPTY else 'true'}
        if delta_scd2.is_partial_run() else {}) -}}
{% endmacro %}
