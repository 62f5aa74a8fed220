{% macro _profiled_table(name) %}
    {%- set relation = delta_scd2.existing_relation(name) -%}
    {%- set columns = delta_scd2.columns_of(relation) -%}
    {%- for column in columns -%}
        {%- do column.update({
            'position': loop.index0,
            'is_time': column.data_type in ['date', 'timestamp', 'timestamp_ntz'],
            'may_identify': modules.re.match(
                'string|(tiny|small|big)?int$|decimal', column.data_type
            ) is not none,
        }) -%}
    {%- endfor -%}
    {%- set profile = run_query(delta_scd2._profile_sql(relation, columns)).rows[0] -%}
    {%- if not profile['row_count'] -%}
        {%- do delta_scd2.raise_refusal(
            relation ~ ' is empty, and tells nothing about its key',
            'fill it first'
        ) -%}
    {%- endif -%}
    {%- for column in columns if column.is_time or column.may_identify -%}
        {%- do column.update({
            'is_filled': profile['filled_' ~ column.position] == profile['row_count'],
            'distinct': profile['distinct_' ~ column.position] | int,
        }) -%}
    {%- endfor -%}
    {{- return({
        'relation': relation,
        'columns': columns,
        'row_count': profile['row_count'] | int,
        'has_feed': delta_scd2._query_feed_is_on(relation),
    }) -}}
{% endmacro %}


{% macro _profile_sql(relation, columns) %}
select
    {%- for column in columns if column.is_time or column.may_identify %}
    count({{ delta_scd2.backticked(column.name) }}) as filled_{{ column.position }},
    approx_count_distinct({{ delta_scd2.backticked(column.name) }}) as distinct_{{ column.position }},
    {%- endfor %}
    count(*) as row_count
from {{ relation }}
{% endmacro %}


{% macro _query_feed_is_on(relation) %}
    {%- if relation.is_delta -%}
        {%- for row in run_query('show tblproperties ' ~ relation)
            if row['key'] == 'delta.enableChangeDataFeed' -%}
            {{- return(row['value'] == 'true') -}}
        {%- endfor -%}
    {%- endif -%}
    {{- return(false) -}}
{% endmacro %}


{# The business key, and the time column of the extracts if the table contains several; the key must
   be unique in the table or within each extract. #}
{% macro _found_key(table, given, entity) %}
    {%- set known = table.columns | map(attribute='name') | list -%}
    {%- for name in given if name not in known -%}
        {%- set near = delta_scd2.closest_match(name, known) -%}
        {%- do delta_scd2.raise_refusal(
            '`key` names the column `' ~ name ~ '`, which ' ~ table.relation ~ ' lacks',
            'did you mean `' ~ near ~ '`?' if near else 'name one of its columns'
        ) -%}
    {%- endfor -%}
    {%- set candidates = delta_scd2._key_candidates(table, given, entity) -%}
    {%- set counts = run_query(delta_scd2._doubles_sql(table.relation, candidates)).rows[0]
        if candidates else {} -%}
    {%- for candidate in candidates -%}
        {%- if counts['doubles_' ~ loop.index0] == 0 -%}
            {%- set is_likely = candidate.score > 0 and table.row_count >= 1000 -%}
            {%- do candidate.update({
                'reason': ('given' if given else 'likely' if is_likely else 'a guess, look at it')
                    ~ '; unique ' ~ ('in each `' ~ candidate.time ~ '` ' if candidate.time else '')
                    ~ 'and never null in ' ~ table.row_count ~ ' row(s)'
            }) -%}
            {{- return(candidate) -}}
        {%- endif -%}
    {%- endfor -%}
    {%- do delta_scd2.raise_refusal(
        '`' ~ given | join(', ') ~ '` does not identify the rows of ' ~ table.relation ~ ': '
            ~ counts['doubles_0'] ~ ' of them have a null there, or repeat another' if given
            else 'no column of ' ~ table.relation
                ~ ', and no pair of columns, is unique and without nulls',
        'give the columns of the business key as `key`, or a source that has one row a key'
    ) -%}
{% endmacro %}


{# Up to eight candidate keys that have enough distinct values, with or without an extract time,
   most likely first. If a column named like the key of its table is not unique, a pair with it
   ranks before another single column. #}
{% macro _key_candidates(table, given, entity) %}
    {%- set singles = [] -%}
    {%- for column in table.columns if column.may_identify and column.is_filled -%}
        {%- do singles.append({
            'key': [column.name],
            'distinct': column.distinct,
            'score': delta_scd2._key_score(column.name, entity),
            'position': column.position,
        }) -%}
    {%- endfor -%}
    {%- set singles = singles | sort(attribute='score', reverse=true) | list -%}
    {%- set pairs = [] -%}
    {%- for one in singles -%}
        {%- for other in singles[loop.index:] -%}
            {%- do pairs.append({
                'key': one.key + other.key if one.position < other.position else other.key + one.key,
                'distinct': one.distinct * other.distinct,
                'widest': [one.distinct, other.distinct] | max,
                'score': one.score + other.score,
                'holds_named_key': [one.score, other.score] | max >= 2,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if given -%}
        {%- set keys = [{'key': given, 'distinct': table.row_count, 'score': 1}] -%}
    {%- else -%}
        {%- set keys = singles + pairs | sort(attribute='score', reverse=true) | list -%}
    {%- endif -%}
    {%- set extracts = [{'name': none, 'distinct': 1}] -%}
    {%- for column in table.columns
        if delta_scd2._looks_like_extract_time(column)
            and 2 * column.distinct <= table.row_count -%}
        {%- do extracts.append(column) -%}
    {%- endfor -%}
    {%- set candidates = [] -%}
    {%- for key in keys -%}
        {%- for time in extracts -%}
            {#- Approximate distinct counts are off by a few percent. -#}
            {%- set enough = 0.8 * table.row_count / time.distinct -%}
            {%- if key.distinct >= enough -%}
                {%- do candidates.append(dict(key, time=time.name, rank=delta_scd2._key_rank(key, enough))) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return((candidates | sort(attribute='rank'))[:8]) -}}
{% endmacro %}


{% macro _key_rank(key, enough) %}
    {%- if key.key | length == 1 -%}
        {{- return(0 if key.score > 0 else 2) -}}
    {%- endif -%}
    {{- return(1 if key.holds_named_key and key.widest < enough else 3) -}}
{% endmacro %}


{% macro _doubles_sql(relation, candidates) %}
select
    {%- for candidate in candidates %}
    {%- set names = delta_scd2.backticked_names(candidate.key
        + delta_scd2.as_list(candidate.time)) | join(', ') %}
    count(*) - count(distinct {{ names }}) as doubles_{{ loop.index0 }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ relation }}
{% endmacro %}


{# Scores how much a name looks like a key; negative for a hash, which is derived from a key. #}
{% macro _key_score(name, entity) %}
    {%- set is_key = modules.re.search(
        '(^|_)(id|code|key|no|nr|num|number|uuid|guid)$', name | lower
    ) -%}
    {%- set is_hash = modules.re.search('(^|_)(hk|hash|diff|md5|sha)(_|$)', name | lower) -%}
    {{- return(-1 if is_hash
        else 0 if not is_key
        else 2 if (name | lower).startswith(entity) or '_' not in name
        else 1) -}}
{% endmacro %}


{% macro _looks_like_extract_time(column) %}
    {{- return(column.is_time and column.is_filled
        and modules.re.search(
            '(^|_)(as_of|(load|extract|ingest|import|snapshot|batch|releas|deliver|receiv)[a-z]*)(_|$)',
            column.name | lower
        ) is not none) -}}
{% endmacro %}


{# A last-updated time, which may change without any other change of the row. #}
{% macro _looks_like_touch_time(column) %}
    {{- return(column.is_time and modules.re.search(
        '(^|_)(updat|modif|chang|touch|sync|refresh)[a-z]*(_|$)', column.name | lower
    ) is not none) -}}
{% endmacro %}
