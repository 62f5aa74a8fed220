{# A version that the next extract has to show again. #}
{% macro _is_watched_sql(dimension) %}
    {%- set settings = dimension.settings -%}
    {%- set names = settings.columns -%}
    {%- set conditions = [] -%}
    {%- if dimension.rebuild_from -%}
        {%- set reopening = _timestamp_literal(dimension.rebuild_from) -%}
        {%- do conditions.append(_backticked(names.effective_from) ~ ' < ' ~ reopening) -%}
        {%- do conditions.append('(' ~ _is_open_sql(settings) ~ ' or ' ~ _end_sql(settings) ~ ' >= ' ~ reopening ~ ')') -%}
        {%- if settings.hard_deletes == 'new_record' -%}
            {%- do conditions.append(_backticked(names.is_deleted) ~ ' = ' ~ _flag_literal(settings, false)) -%}
        {%- endif -%}
        {%- if dimension.repeats and settings.inferred_member -%}
            {#- A placeholder no extract had to show; what was none ended at the first extract, if that lacked it. -#}
            {%- do conditions.append('(' ~ _backticked(names.effective_from) ~ ' <> ' ~ _beginning_of_time() ~ ' or '
                ~ _end_sql(settings) ~ ' <=> ' ~ reopening ~ ')') -%}
        {%- endif -%}
    {%- else -%}
        {%- do conditions.append(_backticked(names.is_current) ~ ' = ' ~ _flag_literal(settings, true)) -%}
        {%- do conditions.append(_backticked(names.is_deleted) ~ ' = ' ~ _flag_literal(settings, false)) -%}
    {%- endif -%}
    {%- if _stores_placeholders(dimension) -%}
        {%- do conditions.append('not ' ~ _is_inferred(settings)) -%}
    {%- endif -%}
    {{- return(conditions | join(' and ')) -}}
{% endmacro %}


{% macro _stores_placeholders(dimension) %}
    {%- set column = dimension.settings.inferred_member -%}
    {{- return(column is not none and column | lower not in _names(dimension.missing)) -}}
{% endmacro %}


{% macro _is_open_sql(settings) %}
    {{- return(_backticked(settings.columns.effective_to) ~ ' <=> ' ~ _open_end_literal(settings)) -}}
{% endmacro %}


{% macro _end_sql(settings) %}
    {{- return(_end_of(settings, _backticked(settings.columns.effective_to))) -}}
{% endmacro %}
