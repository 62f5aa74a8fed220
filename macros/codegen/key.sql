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
    {%- for column in table.columns if column.name in given and not delta_scd2._is_comparable(column.data_type) -%}
        {%- do delta_scd2.raise_refusal(
            '`key` names the column `' ~ column.name ~ '` of type ' ~ column.data_type
                ~ ', whose values Spark does not compare',
            'name another column'
        ) -%}
    {%- endfor -%}
    {%- set candidates = delta_scd2._key_candidates(table, given, entity) -%}
    {%- set counts = run_query(delta_scd2._doubles_sql(table.relation, candidates)).rows[0]
        if candidates else {} -%}
    {%- set unique = [] -%}
    {%- for candidate in candidates -%}
        {%- do unique.append([candidate.key, candidate.time])
            if counts['doubles_' ~ loop.index0] == 0 -%}
    {%- endfor -%}
    {%- for candidate in candidates -%}
        {%- if delta_scd2._is_minimal_key(candidate, unique) -%}
            {%- set is_likely = candidate.score > 0 and table.row_count >= 1000 -%}
            {{- return(dict(
                candidate,
                reason=('given' if given else 'likely' if is_likely else 'a guess, look at it')
                    ~ '; unique ' ~ ('in each `' ~ candidate.time ~ '` ' if candidate.time else '')
                    ~ 'and never null in ' ~ table.row_count ~ ' row(s)'
            )) -}}
        {%- endif -%}
    {%- endfor -%}
    {%- do delta_scd2._raise_wrong_key(table, given, candidates, counts) if given -%}
    {%- do delta_scd2.raise_refusal(
        'no column of ' ~ table.relation ~ ', and no pair of columns, is unique and without nulls',
        'give the columns of the business key as `key`, or a table with one row for each key'
    ) -%}
{% endmacro %}


{# The rows are counted in each extract, if one of the columns may tell extracts apart. #}
{% macro _raise_wrong_key(table, given, candidates, counts) %}
    {%- set found = [] -%}
    {%- for candidate in candidates -%}
        {%- do found.append({'rows': counts['doubles_' ~ loop.index0] | int, 'time': candidate.time}) -%}
    {%- endfor -%}
    {%- set best = found | sort(attribute='rows') | first -%}
    {%- do delta_scd2.raise_refusal(
        '`' ~ given | join(', ') ~ '` does not identify the rows of ' ~ table.relation ~ ': ' ~ best.rows
            ~ ' of them have a null there, or repeat another'
            ~ (' of the same `' ~ best.time ~ '`' if best.time else ''),
        'fix these rows, or add a column to `key`'
    ) -%}
{% endmacro %}


{# Candidate keys that have enough distinct values, with or without an extract time, most likely
   first: up to three of each rank, and up to 18 in all. #}
{% macro _key_candidates(table, given, entity) %}
    {%- set keys = [{'key': given, 'distinct': table.row_count, 'score': 1, 'rank': 0}] if given
        else delta_scd2._possible_keys(table, entity) -%}
    {%- set extracts = [{'name': none, 'distinct': 1}] -%}
    {%- for column in table.columns
        if delta_scd2._looks_like_extract_time(column)
            and 2 * column.distinct <= table.row_count + 1 -%}
        {%- do extracts.append(column) -%}
    {%- endfor -%}
    {%- set candidates, of_rank = [], {} -%}
    {%- for key in keys | sort(attribute='rank') -%}
        {%- for time in extracts -%}
            {#- Approximate distinct counts are off by a few percent. -#}
            {%- if key.distinct >= 0.8 * table.row_count / time.distinct -%}
                {%- set number = of_rank.get(key.rank, 0) -%}
                {%- do of_rank.update({key.rank: number + 1}) -%}
                {%- do candidates.append(dict(key, time=time.name, is_extra=number >= 3))
                    if number < 18 -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return((candidates | sort(attribute='is_extra'))[:18] | sort(attribute='rank')) -}}
{% endmacro %}


{# The columns and pairs of columns that may identify rows, the best names first. Of two pairs whose
   names are as good, that with fewer values comes first. The ranks:
   0 a column that is named like a key, or what was given
   1 a pair with the column that is named like the key of its table
   2 a column whose name tells nothing
   3 a pair with another column that is named like a key
   4 a hash, or a text that people write
   5 any other pair #}
{% macro _possible_keys(table, entity) %}
    {%- set singles = [] -%}
    {%- for column in table.columns if column.may_identify and column.is_filled -%}
        {%- set score = delta_scd2._key_score(column.name, entity) -%}
        {%- set is_text = score < 1 and (column.has_blanks
            or delta_scd2._looks_like_text(column.name)) -%}
        {%- do singles.append({
            'key': [column.name],
            'distinct': column.distinct,
            'score': score,
            'position': column.position,
            'is_text': is_text,
            'rank': 0 if score > 0 else 4 if score < 0 or is_text else 2,
        }) -%}
    {%- endfor -%}
    {%- set singles = singles | sort(attribute='score', reverse=true) | list -%}
    {%- set pairs = [] -%}
    {%- for one in singles -%}
        {%- for other in singles[loop.index:] -%}
            {%- do pairs.append({
                'key': one.key + other.key if one.position < other.position else other.key + one.key,
                'distinct': one.distinct * other.distinct,
                'score': one.score + other.score,
                'rank': delta_scd2._rank_of_pair(one, other),
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set pairs = pairs | sort(attribute='distinct') | list -%}
    {{- return((singles + pairs) | sort(attribute='score', reverse=true) | list) -}}
{% endmacro %}


{% macro _rank_of_pair(one, other) %}
    {%- set best = [one.score, other.score] | max -%}
    {%- if one.is_text or other.is_text or [one.score, other.score] | min < 0 or best < 1 -%}
        {{- return(5) -}}
    {%- endif -%}
    {{- return(1 if best >= 2 else 3) -}}
{% endmacro %}


{# Whether a candidate is unique, and no column of it is so by itself. #}
{% macro _is_minimal_key(candidate, unique) %}
    {%- for column in candidate.key if candidate.key | length > 1 and [[column], candidate.time] in unique -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return([candidate.key, candidate.time] in unique) -}}
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
    {%- set words = modules.re.sub('([a-z0-9])([A-Z])', '\\1_\\2', name) | lower -%}
    {%- set is_key = modules.re.search('(^|_)(id|code|key|no|nr|num|number|uuid|guid)$', words) -%}
    {%- set is_hash = modules.re.search('(^|_)(hk|hash|diff|md5|sha)(_|$)', words) -%}
    {{- return(-1 if is_hash
        else 0 if not is_key
        else 2 if words.startswith(entity) or '_' not in words
        else 1) -}}
{% endmacro %}


{# Whether a column holds texts that people write, by its name. #}
{% macro _looks_like_text(name) %}
    {{- return(modules.re.search(
        '(^|_)(name|title|label|text|description|desc|comments?|notes?|remarks?|address|street)$',
        modules.re.sub('([a-z0-9])([A-Z])', '\\1_\\2', name) | lower
    ) is not none) -}}
{% endmacro %}
