{# The last change of every key; of a row that one ordinal takes and brings again, the latter. A
   row as it was before an update that brings its key no more is a deletion: the update changed
   the key. #}
{% macro latest_changes(
    relation, keys, change_type='_change_type', change_ordinal='_change_ordinal',
    unavailable_columns=[], unavailable_value='__debezium_unavailable_value', table=none
) -%}
    {#- While dbt parses a model, it does not know the options that the arguments may name. -#}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set keys = delta_scd2.as_list(keys) -%}
    {%- do delta_scd2.raise_mistakes(
        ([] if keys else [delta_scd2.wrong_value('keys', keys, 'at least one column')])
        + (delta_scd2.validate_unavailable_value(unavailable_value) if unavailable_columns else [])
    ) -%}
    {%- set reads_table = table is not none and not delta_scd2._query_is_absent(table) -%}
    {%- set is_cut = reads_table and delta_scd2._is_feed(change_ordinal) -%}
    {%- set rows = delta_scd2._rows_of_table(table, is_cut) if reads_table -%}
    {%- set changes = delta_scd2._latest_changes_sql(
        delta_scd2._up_to_version_sql(relation, rows.version) if is_cut else relation,
        keys, change_type, change_ordinal, unavailable_columns, unavailable_value
    ) -%}
{{ delta_scd2._with_rows_left_sql(changes, rows, keys, change_type) if reads_table else changes }}
{%- endmacro %}


{# Whether the ordinal says that the changes are rows of Delta's change data feed. #}
{% macro _is_feed(change_ordinal) %}
    {{- return(change_ordinal | lower == '_commit_version') -}}
{% endmacro %}


{% macro _latest_changes_sql(
    relation, keys, change_type, change_ordinal, unavailable_columns, unavailable_value
) -%}
    {%- set type = delta_scd2.backticked(change_type) -%}
    {%- set is_feed = delta_scd2._is_feed(change_ordinal) -%}
    {%- set added = ['_change_kind', '_change_rank'] -%}
    {%- set added = added + ['_change_row', '_change_balance', '_change_left', '_change_any_left', '_change_last']
        if is_feed else added -%}
    {%- set changes = delta_scd2.changes_by_kind_sql(relation, type) -%}
    {%- set changes = delta_scd2._with_earlier_values_sql(
        changes, keys, change_ordinal,
        delta_scd2.backticked_names(delta_scd2.as_list(unavailable_columns) | unique | list),
        unavailable_value
    ) if unavailable_columns else changes -%}
select
    * except ({{ type }}, {{ added | join(', ') }}),
    if(_change_kind <=> 'before', 'DELETE', cast({{ type }} as string)) as {{ type }}
from (
    {%- if is_feed %}
    {{ delta_scd2._ranked_rows_of_feed_sql(changes, keys, change_type, change_ordinal) | indent(4) }}
    {%- else %}
    select
        *,
        rank() over (
            partition by {{ delta_scd2.backticked_names(keys) | join(', ') }}
            {{ delta_scd2._order_of_changes(change_ordinal, latest_first=true) }}
        ) as _change_rank
    from (
        {{ changes | indent(8) }}
    )
    {%- endif %}
)
where _change_rank = 1
{%- endmacro %}


{# The changes with their kind, which the statements that follow go by. #}
{% macro changes_by_kind_sql(relation, change_type) -%}
select
    *,
    {{ delta_scd2.change_kind_sql(change_type) | indent(4) }} as _change_kind
from {{ relation }}
{%- endmacro %}


{# The order of the changes of a key. Of those with one ordinal the row that is brought is the
   latest, and the one as it was before is the earliest. #}
{% macro _order_of_changes(change_ordinal, latest_first=false) -%}
    {%- set way, back = (' desc', '') if latest_first else ('', ' desc') -%}
    {{- 'order by ' ~ delta_scd2._known_ordinal_sql(change_ordinal) ~ way
        ~ ", _change_kind = 'before'" ~ back ~ ", _change_kind = 'delete'" ~ back }}
{%- endmacro %}


{# The ordinal; a change without one would be lost among others, in silence. One of several fields is
   none if all of them are null, those of a field too: their text has no value after a colon. #}
{% macro _known_ordinal_sql(change_ordinal) -%}
    {%- set ordinal = delta_scd2.backticked(change_ordinal) -%}
    {%- set has_none = ordinal ~ ' is null or (typeof(' ~ ordinal ~ ") like 'struct<%' and to_json(named_struct('o', "
        ~ ordinal ~ "), map('ignoreNullFields', 'true')) not rlike '\":[^{]')" -%}
    {%- set problem = (model.name ~ ': ' if model is defined else '') ~ 'a change has no ' ~ ordinal
        ~ ', by which `latest_changes` orders. Nothing was written. Remedy: give every change a value there.' -%}
    {{- ordinal if delta_scd2._is_feed(change_ordinal)
        else "if(not (_change_kind <=> 'before') and (" ~ has_none ~ '), raise_error('
            ~ delta_scd2.sql_string(problem) ~ '), ' ~ ordinal ~ ')' -}}
{%- endmacro %}


{# Delta's feed has a row for each row that came or went, so that the rows that are left of a key
   can be counted. Those of one version that went are counted first. Of a key with several
   different ones all come first, and of one with none its last row. #}
{% macro _ranked_rows_of_feed_sql(changes, keys, change_type, change_ordinal) -%}
    {%- set key = delta_scd2.backticked_names(keys) | join(', ') -%}
    {%- set ordinal = delta_scd2.backticked(change_ordinal) -%}
    {%- set sign = "if(_change_kind = 'upsert', 1, -1)" -%}
select
    * except ({{ ordinal }}),
    -- what is left of a key is its state after its last change
    if(_change_left, _change_last, {{ ordinal }}) as {{ ordinal }},
    row_number() over (
        partition by {{ key }}, if(_change_left, _change_row, null)
        {{ delta_scd2._order_of_changes(change_ordinal, latest_first=true) }}
    ) as _change_rank
from (
    select
        *,
        max(_change_left) over (partition by {{ key }}) as _change_any_left,
        max({{ ordinal }}) over (partition by {{ key }}) as _change_last
    from (
        select
            *,
            coalesce(_change_kind = 'upsert', false)
            and sum({{ sign }}) over same_row > least(0, min(_change_balance) over same_row) as _change_left
        from (
            select
                *,
                sum({{ sign }}) over (
                    partition by {{ key }}, _change_row
                    order by {{ ordinal }}, {{ sign }}
                    rows between unbounded preceding and current row
                ) as _change_balance
            from (
                select
                    *,
                    {{ delta_scd2._text_of_row(change_type, change_ordinal) | indent(20) }} as _change_row
                from (
                    {{ changes | indent(20) }}
                )
            )
        )
        window same_row as (partition by {{ key }}, _change_row)
    )
)
where
    _change_left
    or not _change_any_left
{%- endmacro %}


{# A row as text, without what its commit adds; whether it has the time of the commit nothing tells
   here. Maps with keys that Spark writes as places in memory are refused. #}
{% macro _text_of_row(change_type, change_ordinal) -%}
    {%- set problem = (model.name ~ ': ' if model is defined else '') ~ 'the changes have a map whose keys '
        ~ 'are bytes, arrays or structs, so that `latest_changes` cannot tell their rows apart. Nothing was '
        ~ 'written. Remedy: write the keys as texts, or leave the column out of the changes.' -%}
    {%- set row -%}
struct(* except (
    {{ delta_scd2.backticked(change_type) }}, {{ delta_scd2.backticked(change_ordinal) }}, _change_kind
))
    {%- endset -%}
if(
    typeof({{ row | trim | indent(4) }}) rlike 'map<(binary|array|struct|map)',
    raise_error({{ delta_scd2.sql_string(problem) }}),
    regexp_replace(
        to_json(
            {{ row | trim | indent(12) }},
            map(
                'ignoreNullFields', 'false',
                'timeZone', 'UTC',
                'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS',
                'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'
            )
        ),
        '(?i)"_commit_timestamp":"[^"]*",?',
        ''
    )
)
{%- endmacro %}
