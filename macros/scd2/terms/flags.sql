{% macro is_live_sql(load) %}
    {%- set is_expected = delta_scd2.is_expected_in_next_extract_sql(load) -%}
    {{- return(is_expected ~ ' and ' ~ delta_scd2.is_not_unknown_member_sql(load)
        if load.settings.unknown_member else is_expected) -}}
{% endmacro %}


{# The unknown member is the only row with a null business key. #}
{% macro is_not_unknown_member_sql(load, alias=none) %}
    {%- if not load.settings.unknown_member -%}
        {{- return('true') -}}
    {%- endif -%}
    {%- set conditions = [] -%}
    {%- for column in load.key_columns -%}
        {%- do conditions.append((alias ~ '.' if alias else '') ~ delta_scd2.backticked(column.name)
            ~ ' is not null') -%}
    {%- endfor -%}
    {{- return(conditions[0] if conditions | length == 1
        else '(' ~ conditions | join(' or ') ~ ')') -}}
{% endmacro %}


{# Whether the next extract must contain the key of a version; otherwise the key counts as
   deleted. #}
{% macro is_expected_in_next_extract_sql(load) %}
    {%- set settings = load.settings -%}
    {%- set names = settings.columns -%}
    {%- set conditions = [] -%}
    {%- if load.rebuild_from -%}
        {%- set reopening = delta_scd2.timestamp_literal(load.rebuild_from) -%}
        {%- do conditions.append(delta_scd2.backticked(names.effective_from) ~ ' < ' ~ reopening) -%}
        {%- do conditions.append('(' ~ delta_scd2.is_open_sql(settings) ~ ' or '
            ~ delta_scd2.end_sql(settings) ~ ' >= ' ~ reopening ~ ')') -%}
        {%- if settings.keeps_tombstones -%}
            {%- do conditions.append(delta_scd2.is_not_deleted_sql(settings)) -%}
        {%- endif -%}
        {%- if load.is_recovery and settings.inferred_member -%}
            {#- In a recovery, no extract has to contain an inferred row. A version from the beginning
                of time that ended at the first extract was not inferred. -#}
            {%- do conditions.append('(' ~ delta_scd2.backticked(names.effective_from) ~ ' <> '
                ~ delta_scd2.beginning_of_time() ~ ' or ' ~ delta_scd2.end_sql(settings) ~ ' <=> '
                ~ reopening ~ ')') -%}
        {%- endif -%}
    {%- else -%}
        {%- do conditions.append(delta_scd2.is_current_sql(settings)) -%}
        {%- do conditions.append(delta_scd2.is_not_deleted_sql(settings)) -%}
    {%- endif -%}
    {%- if delta_scd2.stores_inferred_members(load) -%}
        {%- do conditions.append('not ' ~ delta_scd2.is_inferred_sql(settings)) -%}
    {%- endif -%}
    {{- return(conditions | join(' and ')) -}}
{% endmacro %}


{% macro stores_inferred_members(load) %}
    {%- set column = load.settings.inferred_member -%}
    {{- return(column is not none
        and column | lower not in delta_scd2.lower_names(load.missing_columns)) -}}
{% endmacro %}


{% macro is_current_sql(settings) %}
    {{- return(delta_scd2._flag_is_sql(settings, 'is_current', true)) -}}
{% endmacro %}


{% macro is_deleted_sql(settings) %}
    {{- return(delta_scd2._flag_is_sql(settings, 'is_deleted', true)) -}}
{% endmacro %}


{% macro is_not_deleted_sql(settings) %}
    {{- return(delta_scd2._flag_is_sql(settings, 'is_deleted', false)) -}}
{% endmacro %}


{% macro _flag_is_sql(settings, role, value) %}
    {{- return(delta_scd2.backticked(settings.columns[role]) ~ ' = '
        ~ delta_scd2.flag_literal(settings, value)) -}}
{% endmacro %}


{% macro flag_literal(settings, value) %}
    {%- set stored = settings.flag_values[0 if value else 1] -%}
    {{- return(delta_scd2.sql_string(stored) if stored is string else (stored | string | lower)) -}}
{% endmacro %}


{% macro flag_sql(settings, condition) %}
    {{- return('if(' ~ condition ~ ', ' ~ delta_scd2.flag_literal(settings, true) ~ ', '
        ~ delta_scd2.flag_literal(settings, false) ~ ')') -}}
{% endmacro %}


{# The live versions of the dimension, or those that were live before `rebuild_from`. #}
{% macro live_versions_sql(load) %}
select *
from {{ load.target_as_read }}
where {{ delta_scd2.is_live_sql(load) }}
{% endmacro %}


{% macro is_inferred_sql(settings) %}
    {{- return('coalesce(' ~ delta_scd2.backticked(settings.inferred_member) ~ ', false)') -}}
{% endmacro %}


{# The `effective_from` of inferred rows and the unknown member. #}
{% macro beginning_of_time() %}
    {{- return(delta_scd2.timestamp_literal(delta_scd2.beginning_micros())) -}}
{% endmacro %}


{% macro beginning_micros() %}
    {{- return(delta_scd2.ts_micros('1900-01-01')) -}}
{% endmacro %}
