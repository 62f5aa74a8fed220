{# What the generic tests need to know about a dimension, as SQL: the configuration of the tested
   scd2 model, overridden by the arguments of the test. Who knows the columns of the table gives them. #}
{% macro tested_dimension(model, arguments, columns=none) %}
    {%- if not execute -%}
        {{- return({}) -}}
    {%- endif -%}
    {%- set node = delta_scd2.scd2_node(model) -%}
    {%- set configured = delta_scd2.scd2_config(node) -%}
    {%- set names, options = {}, {} -%}
    {%- for name, value in arguments.items() if value is not none -%}
        {%- if name in configured.columns -%}
            {%- do names.update({name: value}) -%}
        {%- else -%}
            {%- do options.update({
                name: delta_scd2.as_list(value)
                    if name in ['unique_key', 'track_columns'] else value
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set names = dict(configured.columns, **names) -%}
    {%- set settings = delta_scd2.with_meanings(dict(configured, columns=names, **options)) -%}
    {%- set has_arguments = arguments.values() | reject('none') | list != [] -%}
    {#- Models of other materializations have other values of `on_schema_change`. -#}
    {%- do delta_scd2.raise_mistakes_of('A test on ' ~ model, delta_scd2.validate_values(
        dict(node.config or {}, **options), dict(settings, on_schema_change='ignore')
    )) if has_arguments -%}
    {%- if not settings.unique_key -%}
        {%- do exceptions.raise_compiler_error('A test on ' ~ model
            ~ ' does not know the business key: give it the argument `unique_key`') -%}
    {%- endif -%}
    {%- set compared = delta_scd2._compared_columns(
        model, node, settings, columns, are_given=arguments.track_columns is not none
    ) if 'track_columns' in arguments else {'names': settings.track_columns, 'sql': []} -%}
    {#- A table of other origin may have null ends beside the date that stands for an open one. -#}
    {%- set may_have_null_ends = settings.open_end is none or has_arguments
        or (node.config or {}).get('materialized') != 'scd2' -%}
    {{- return({
        'column_names': settings.unique_key + compared.names
            + [names.effective_from, names.effective_to, names.is_current, names.is_deleted],
        'key_columns': delta_scd2.backticked_names(settings.unique_key) | join(', '),
        'tracked': compared.sql | join(', '),
        'effective_from': delta_scd2.backticked(names.effective_from),
        'effective_to': delta_scd2.backticked(names.effective_to),
        'is_current': delta_scd2.backticked(names.is_current),
        'is_deleted': delta_scd2.backticked(names.is_deleted),
        'yes': delta_scd2.flag_literal(settings, true),
        'no': delta_scd2.flag_literal(settings, false),
        'may_have_null_ends': may_have_null_ends,
        'is_open': [
            delta_scd2.backticked(names.effective_to) ~ ' is null' if may_have_null_ends,
            delta_scd2.is_open_sql(settings) if settings.open_end is not none,
        ] | select | join(' or '),
        'next_closing': delta_scd2.closing_in_zone_sql(settings, '_scd2_next_from'),
        'keeps_tombstones': settings.keeps_tombstones,
        'ignores_deletes': settings.ignores_deletes,
        'ends_deleted': settings.ends_deleted,
    }) -}}
{% endmacro %}


{# The tracked columns by their names, and as SQL that can be compared. Those that an argument of the
   test names need not be stored, so that a wrong name is an error. #}
{% macro _compared_columns(model, node, settings, columns, are_given) %}
    {#- A project may be compiled before its tables are there, which tell what is tracked. -#}
    {#- With a `where`, dbt passes a subquery. -#}
    {%- set table = model if model is not string else delta_scd2.table_of(node) if node.name else none -%}
    {%- set is_absent = columns is none and flags.WHICH not in ['test', 'build']
        and table and load_relation(table) is none -%}
    {%- set columns = (columns or delta_scd2.columns_of(model)) if not is_absent else [] -%}
    {%- set tracked = settings.track_columns if are_given or is_absent
        else delta_scd2._tracked_names(table, settings, columns) -%}
    {%- set names = tracked or settings.unique_key -%}
    {%- set types = delta_scd2.types_by_name(columns) -%}
    {%- set compared = [] -%}
    {%- for name in names -%}
        {#- Spark does not compare maps. -#}
        {%- set type = types.get(name | lower, '') -%}
        {%- do compared.append(delta_scd2.hash_of([{'name': name, 'data_type': type}])
            if 'map<' in type else delta_scd2.backticked(name)) -%}
    {%- endfor -%}
    {{- return({'names': names, 'sql': compared}) -}}
{% endmacro %}


{# The stored columns that the model tracks, and all that have left it: some of them may have been
   tracked, and tell old versions apart. #}
{% macro _tracked_names(table, settings, columns) %}
    {%- set stored = delta_scd2.with_stored_names(settings, delta_scd2.lower_names(columns)) -%}
    {%- set resolved = delta_scd2.resolve_columns(stored, columns, are_stored=true) -%}
    {%- set names = delta_scd2.hashable_columns(resolved.tracked_columns) | map(attribute='name') | list -%}
    {#- With `--empty`, dbt passes a subquery without rows. -#}
    {%- set relation = load_relation(table) if settings.track_columns else none -%}
    {%- if relation is not none -%}
        {%- set properties = delta_scd2.read_properties(relation) -%}
        {%- set in_model = fromjson(properties.get('scd2.columns', 'null')) -%}
        {%- for column in delta_scd2.hashable_columns(resolved.kept_columns)
            if in_model is not none and column.name | lower not in in_model -%}
            {%- do names.append(column.name) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(names) -}}
{% endmacro %}
