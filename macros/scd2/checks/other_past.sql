{# Extracts that a run applied and did not record give the versions that are there. Others, of a time in which increments
   made the history, would take some away. Placeholders alone may come to any time. #}
{% macro _refuse_other_past(dimension) %}
    {%- set boundary = timestamp_literal(dimension.standing['last_boundary']) -%}
    {%- set keys = query_keys(_changed_keys_sql(dimension, "(_scd2_action = 'remove' or (_scd2_action = 'open' and "
        ~ backticked(dimension.settings.columns.effective_from) ~ ' <= ' ~ boundary
        ~ ') or ((_scd2_is_closed or _scd2_is_deleted) and _scd2_ends_at <= ' ~ boundary ~ ')) and ' ~ is_not_unknown_member_sql(dimension))) -%}
    {%- if keys -%}
        {%- do raise_refusal(
            'the extract of ' ~ utc_text(dimension.rebuild_from) ~ ' UTC comes too late: the dimension stands at '
                ~ utc_text(dimension.standing['last_boundary']) ~ ' UTC, and has another history since then of ' ~ keys,
            'leave the extracts up to that time out of the model, or ' ~ _how_to_rebuild(dimension.rebuild_from)
        ) -%}
    {%- endif -%}
{% endmacro %}
