{% macro _refuse_many_deletions(dimension, moment, deleted, row_counts) %}
    {%- set fraction = dimension.settings.max_delete_fraction -%}
    {%- set position = dimension.moments.index(moment) -%}
    {%- if position > 0 -%}
        {%- set live = row_counts[dimension.moments[position - 1]] -%}
    {%- elif not dimension.rebuild_from -%}
        {%- set live = dimension.standing['live'] -%}
    {%- else -%}
        {%- set live = run_query('select count(*) as live from (' ~ live_versions_sql(dimension) ~ ')').rows[0]['live'] | int -%}
    {%- endif -%}
    {%- if deleted > fraction * live -%}
        {%- do raise_refusal(
            'the extract of ' ~ utc_text(moment) ~ ' UTC would delete ' ~ deleted ~ ' of ' ~ live ~ ' live keys, more than '
                ~ '`max_delete_fraction` (' ~ fraction ~ ') allows: '
                ~ query_keys(_changed_keys_sql(dimension, '_scd2_is_deleted and _scd2_ends_at = ' ~ timestamp_literal(moment))),
            'load the whole extract; if so many keys are really gone, raise `max_delete_fraction`'
        ) -%}
    {%- endif -%}
{% endmacro %}
