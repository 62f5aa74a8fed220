{# Marks in the compiled model up to which version the feed is read, because the newest versions may
   contain no rows, and when that version was committed. #}
{% macro cdf_end_marker(version, time) -%}
-- reads up to version {{ version }}, committed at {{ time }} UTC
{%- endmacro %}


{# The table properties record one version, so a model can follow only one feed. #}
{% macro multiple_cdf_sources(compiled_code) %}
    {%- if modules.re.findall(delta_scd2.cdf_end_marker('\\d+', '.*'), compiled_code) | length > 1 -%}
        {{- return([
            'the model calls `changes_since_last_run` more than once, and can follow one table: '
                ~ 'build a dimension of each, or read the others as they are'
        ]) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}


{# The version up to which the compiled model reads, and when it was committed; or none. #}
{% macro cdf_end(compiled_code) %}
    {%- set found = modules.re.search(delta_scd2.cdf_end_marker('(\\d+)', '(.*)'), compiled_code) -%}
    {{- return({'version': found.group(1) | int, 'committed_at': found.group(2)} if found else none) -}}
{% endmacro %}
