{# What makes a row of the model unsound. Checks and counts share these conditions. #}

{% macro has_no_time_sql(load) %}
    {{- return(delta_scd2.backticked(load.settings.columns.effective_from) ~ ' is null') -}}
{% endmacro %}


{% macro is_unknown_change_sql(load) %}
    {{- return('_scd2_is_gone is null' if load.settings.change_type else 'false') -}}
{% endmacro %}


{% macro has_no_place_sql(load) %}
    {{- return(delta_scd2.any_has_no_value_sql(load.sequence_columns) or 'false') -}}
{% endmacro %}
