{% macro combine_histories(relations, keys=none, require='any', columns=none, options=none) -%}
    {%- if not execute -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set by_name = {'columns': columns or {}, 'options': options or {}} -%}
    {%- set sides = delta_scd2._combined_sides(relations, delta_scd2.as_mapping(options)) -%}
    {%- set keys = delta_scd2.as_list(keys) or (sides[0].settings.unique_key if sides else []) -%}
    {%- do delta_scd2.raise_mistakes_of(
        'combine_histories', delta_scd2._mistakes_of_sides(sides, keys, require, by_name)
    ) -%}
    {%- set sides = delta_scd2._with_result_columns(sides, keys, by_name.columns) -%}
    {%- do delta_scd2.raise_mistakes_of(
        'combine_histories', delta_scd2._mistakes_of_result(sides, keys)
    ) -%}
    {%- set spans = delta_scd2._combined_spans_sql(sides, delta_scd2.backticked_names(keys), require) -%}
    {{- delta_scd2._merged_spans_sql(spans, sides, delta_scd2.backticked_names(keys)) if columns else spans -}}
{%- endmacro %}


{# The sides in the order of the relations: the name, by which `columns` and `options` tell it, the
   relation and its settings. #}
{% macro _combined_sides(relations, options) %}
    {%- set sides = [] -%}
    {%- for relation in relations -%}
        {#- In a unit test, dbt reads a model under another name. -#}
        {%- set name = relation if relation is string
            else modules.re.sub('^__dbt__cte__', '', relation.identifier) -%}
        {%- do sides.append({
            'name': name,
            'alias': 'side_' ~ loop.index,
            'relation': relation,
            'is_in_catalog': relation is not string and not relation.is_cte,
            'settings': delta_scd2._dimension_settings(relation, options.get(name)),
        }) -%}
    {%- endfor -%}
    {{- return(sides) -}}
{% endmacro %}


{% macro _mistakes_of_sides(sides, keys, require, by_name) %}
    {%- set mistakes = [] -%}
    {%- set names = sides | map(attribute='name') | list -%}
    {%- do mistakes.append('one relation is no combination: give at least two') if names | length < 2 -%}
    {%- do mistakes.append('two relations have one name (' ~ names | join(', ')
        ~ '): read one of them as a CTE with another name, or leave it out')
        if names | unique | list | length < names | length -%}
    {%- do mistakes.append(delta_scd2.wrong_value('require', require, 'any, all or first'))
        if require not in ['any', 'all', 'first'] -%}
    {%- for argument, given in by_name.items() -%}
        {%- do mistakes.append(delta_scd2.wrong_value(argument, given, 'a mapping by the names of the relations'))
            if given is not mapping -%}
        {%- for name in delta_scd2.as_mapping(given) if name not in names -%}
            {%- do mistakes.append('`' ~ argument ~ '` names `' ~ name ~ '`, which is none of the relations ('
                ~ names | join(', ') ~ ')') -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for side in sides if not side.is_in_catalog and side.name not in by_name.columns -%}
        {%- do mistakes.append('the columns of ' ~ side.name ~ ' are not in the catalog: name those to keep in '
            ~ "`columns={'" ~ side.name ~ "': […]}`") -%}
    {%- endfor -%}
    {%- do mistakes.append('there is no business key: name its columns in `keys`') if not keys -%}
    {%- for side in sides
        if side.settings.unique_key | map('lower') | sort | list not in [[], keys | map('lower') | sort | list] -%}
        {%- do mistakes.append('`keys` must be the whole business key of each relation, but are ('
            ~ keys | join(', ') ~ '), and `unique_key` of ' ~ side.name ~ ' is ('
            ~ side.settings.unique_key | join(', ') ~ ')') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The sides with the columns that each adds to the result, as a mapping to their names there. If
   none are named: all but the key and what the dimension adds to its model, with its surrogate key. #}
{% macro _with_result_columns(sides, keys, columns) %}
    {%- set complete = [] -%}
    {%- for side in sides -%}
        {%- set named = columns.get(side.name) -%}
        {%- set result = {} -%}
        {%- if named is mapping -%}
            {%- do result.update(named) -%}
        {%- elif named is not none -%}
            {%- for name in delta_scd2.as_list(named) -%}
                {%- do result.update({name: name}) -%}
            {%- endfor -%}
        {%- else -%}
            {%- set roles = dict(side.settings.columns, surrogate_key=none) -%}
            {%- set left_out = (keys + roles.values() | select('string') | list) | map('lower') | list -%}
            {#- Under --empty, a relation is a subquery. -#}
            {%- for column in adapter.get_columns_in_relation(side.relation.replace(limit=none, event_time_filter=none))
                if column.name | lower not in left_out -%}
                {%- do result.update({column.name: column.name}) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- do complete.append(dict(side, result=result)) -%}
    {%- endfor -%}
    {{- return(complete) -}}
{% endmacro %}


{% macro _mistakes_of_result(sides, keys) %}
    {%- set interval = sides[0].settings.columns -%}
    {%- set names = keys + [interval.effective_from, interval.effective_to] -%}
    {%- for side in sides -%}
        {%- do names.extend(side.result.values()) -%}
    {%- endfor -%}
    {%- set names = names | map('lower') | list -%}
    {%- set repeated = [] -%}
    {%- for name in names | unique if names | select('equalto', name) | list | length > 1 -%}
        {%- do repeated.append(name) -%}
    {%- endfor -%}
    {{- return([
        'the result would have more than one column ' ~ delta_scd2.listed(repeated)
            ~ ': name the `columns` of a relation, as a mapping to names in the result'
    ] if repeated else []) -}}
{% endmacro %}
