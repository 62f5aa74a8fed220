{# Without `effective_at`, versions start when the run starts. If the clock was set back, that is
   before versions that are already stored. #}
{% macro check_clock(load) %}
    {%- set boundary = load.target_state['last_boundary'] -%}
    {%- if boundary is not none and boundary > load.run_started_at -%}
        {%- do delta_scd2.raise_refusal(
            'this run began at ' ~ delta_scd2.utc_text(load.run_started_at)
                ~ ' UTC by the clock of this machine, and the dimension stands at '
                ~ delta_scd2.utc_text(boundary) ~ ' UTC already',
            'correct the clock, or run again after that time'
        ) -%}
    {%- endif -%}
{% endmacro %}
