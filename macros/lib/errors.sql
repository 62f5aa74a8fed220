{% macro raise_refusal(problem, remedy) %}
    {%- do delta_scd2.drop_staged()
        if execute and flags.WHICH in ['run', 'build'] and model is defined
            and model.config.materialized in ['scd1', 'scd2'] -%}
    {%- do exceptions.raise_compiler_error((model.name ~ ': ' if model is defined else '')
        ~ delta_scd2._ended(problem) ~ '\nNothing was written. Remedy: '
        ~ delta_scd2._ended(remedy)) -%}
{% endmacro %}


{% macro _ended(sentence) %}
    {{- return(sentence ~ ('' if sentence.endswith('?') else '.')) -}}
{% endmacro %}


{% macro raise_list(problem, mistakes) %}
    {%- if mistakes -%}
        {%- do delta_scd2.raise_refusal(
            problem ~ ':\n  - ' ~ delta_scd2.listed(mistakes, 20, '\n  - '),
            'fix each of these, and run again'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro raise_mistakes(mistakes) %}
    {%- do delta_scd2.raise_list(mistakes | length ~ ' mistake(s) in the configuration', mistakes) -%}
{% endmacro %}


{# The same in one sentence, where no model is loaded. #}
{% macro raise_mistakes_of(subject, mistakes) %}
    {%- if mistakes -%}
        {%- do exceptions.raise_compiler_error(subject ~ ': ' ~ mistakes | join('; ')) -%}
    {%- endif -%}
{% endmacro %}


{% macro wrong_value(option, value, expected) %}
    {%- set shown = 'null' if value is none else value | lower if value is boolean else value -%}
    {{- return('`' ~ option ~ '` is `' ~ shown ~ '`, expected ' ~ expected) -}}
{% endmacro %}


{# How to build this dimension anew without its history, as text for a message. #}
{% macro how_to_discard_history() %}
    {%- set first = 'remove `full_refresh: false` from the model, and ' if config.get('full_refresh') == false
        else '' -%}
    {{- return(first ~ 'rebuild the dimension from what its source still has with `dbt run --full-refresh '
        ~ '--select ' ~ delta_scd2.node_address(model) ~ " --vars '{scd2_discard_history: true}'`") -}}
{% endmacro %}
