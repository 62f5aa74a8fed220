{# Without `effective_at`, versions start when the run starts. If the clock was set back, that is
   before versions that are already stored. #}
{% macro check_clock(load) %}
    {%- set boundary = load.target_state['high_water_mark'] -%}
    {%- if boundary is not none and boundary > load.run_started_at -%}
        {%- do delta_scd2.raise_refusal(
            'this run began at ' ~ delta_scd2.utc_text(load.run_started_at)
                ~ ' UTC by the clock of this machine, and the dimension already has changes up to '
                ~ delta_scd2.utc_text(boundary) ~ ' UTC',
            'correct the clock, or run again after that time'
        ) -%}
    {%- endif -%}
{% endmacro %}
