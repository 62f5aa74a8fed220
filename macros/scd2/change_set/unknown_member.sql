{# The row that facts without a key reference. Its business key is null, so no source row can
   supersede it. #}
{% macro _unknown_member_sql(load) %}
    {%- set settings = load.settings -%}
    {%- if settings.columns.surrogate_key %}
    {{ delta_scd2.unknown_member_key(settings) }},
    {%- endif %}
    {{ delta_scd2.hash_of_nulls(load.key_columns) }},
    {%- for column in load.kept_columns %}
    null,
    {%- endfor %}
    {{ delta_scd2.hash_of_nulls(load.tracked_columns) }},
    {%- if settings.columns.state_hash %}
    null,
    {%- endif %}
    {{ delta_scd2.beginning_of_time() }},
    {{ delta_scd2.open_end_literal(settings) }},
    {{ delta_scd2.flag_literal(settings, true) }},
    {{ delta_scd2.flag_literal(settings, false) }}
{%- endmacro %}
