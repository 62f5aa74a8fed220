{# Sets the result line of a model: how the load was written, its effects, further effects, and what
   was skipped. #}
{% macro store_load_result(plan, effects, others={}, notes={}) %}
    {%- set verb = {'create': 'CREATE', 'none': 'UNCHANGED'}.get(plan, 'MERGE') -%}
    {%- set parts = [] -%}
    {%- for name, count in effects.items() if plan != 'none' -%}
        {%- do parts.append(count ~ ' ' ~ name) -%}
    {%- endfor -%}
    {%- for name, count in others.items() | list + notes.items() | list if count -%}
        {%- do parts.append(count ~ ' ' ~ name) -%}
    {%- endfor -%}
    {%- do parts.append('by three clauses') if plan == 'three_clause' -%}
    {%- do store_raw_result(
        'main',
        message=(verb ~ ' ' ~ parts | join(', ')) | trim,
        code=verb,
        rows_affected=effects.values() | sum + others.values() | sum
    ) -%}
{% endmacro %}


{# The result of a model whose existing table a run with `--empty` or `--sample` leaves alone. #}
{% macro skip_partial_run(what) %}
    {%- do store_raw_result(
        'main',
        message='SKIP a partial run changes no ' ~ what,
        code='SKIP',
        rows_affected=0
    ) -%}
{% endmacro %}
