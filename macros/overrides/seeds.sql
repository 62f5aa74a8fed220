{#- Overrides of dbt-spark 1.11.0, whose session method changes values when it loads them; see
    docs/decisions/0004-seeds-keep-their-values.md. -#}

{% macro spark__create_csv_table(model, agate_table) %}
    {%- set sql = create_table_as(false, this, delta_scd2._seed_select(model, agate_table)) -%}
    {%- do adapter.add_query(sql, abridge_sql_log=true) -%}
    {{ return(sql) }}
{% endmacro %}


{% macro spark__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
    {#- Delta replaces a table in one commit, so a seed that fails keeps its old rows. -#}
    {%- if old_relation.is_delta and config.get('file_format') == 'delta' -%}
        {%- set columns = [] -%}
        {%- for name, data_type in model['config'].get('column_types', {}).items() -%}
            {%- do columns.append({'name': name, 'data_type': data_type | lower}) -%}
        {%- endfor -%}
        {%- do delta_scd2._add_features(old_relation, columns) -%}
    {%- else -%}
        {%- do adapter.drop_relation(old_relation) -%}
    {%- endif -%}
    {{ return(create_csv_table(model, agate_table)) }}
{% endmacro %}


{% macro spark__load_csv_rows(model, agate_table) %}
    {#- spark__create_csv_table has already written the rows. -#}
    {{ return('') }}
{% endmacro %}


{% macro _seed_select(model, agate_table) %}
    {%- set declared = model['config'].get('column_types', {}) -%}
    {%- set columns = [] -%}
    {%- for name in agate_table.column_names -%}
        {%- do columns.append(adapter.quote_seed_column(
            name, model['config'].get('quote_columns')
        )) -%}
    {%- endfor -%}
    select /*+ coalesce(1) */
    {%- for name in agate_table.column_names %}
        {%- set data_type = declared.get(name)
            or delta_scd2._seed_column_type(model, agate_table, loop.index0) %}
        {{ delta_scd2.strict_cast(
            columns[loop.index0], data_type, 'column ' ~ name ~ ' of seed ' ~ model['name']
        ) }}
            as {{ columns[loop.index0] }}{{ ',' if not loop.last }}
    {%- endfor %}
    from values
    {%- for row in agate_table.rows or [[none] * columns | length] %}
        ({% for value in row %}{{ delta_scd2._seed_literal(value) }}{{ ', ' if not loop.last }}{% endfor %})
        {{- ',' if not loop.last }}
    {%- endfor %}
    as csv ({{ columns | join(', ') }})
    {%- if not agate_table.rows %}
    where false
    {%- endif %}
{% endmacro %}


{% macro _seed_literal(value) -%}
    {%- if value is none -%}
        null
    {%- elif value is number and value is not boolean -%}
        '{{ '{:f}'.format(value.normalize()) }}'
    {%- else -%}
        {{ delta_scd2.sql_string(value | string) }}
    {%- endif -%}
{%- endmacro %}


{#- The type that dbt-spark infers, or a decimal if that type cannot represent every value of the
    column. -#}
{% macro _seed_column_type(model, agate_table, index) -%}
    {%- set column = agate_table.columns[index] -%}
    {%- set inferred = adapter.convert_type(agate_table, index) -%}
    {%- set seen = namespace(fits=true, scale=0) -%}
    {%- if inferred in ('bigint', 'double') -%}
        {%- for value in column.values_without_nulls() if value.is_finite() -%}
            {%- if value.as_tuple().digits | length >= 28 -%}
                {%- do exceptions.raise_compiler_error('column ' ~ column.name ~ ' of seed '
                    ~ model['name'] ~ ': dbt reads at most 28 digits of a number, and ' ~ value
                    ~ ' may have had more. Give the column a type in column_types.') -%}
            {%- endif -%}
            {%- set seen.scale = [seen.scale, -value.normalize().as_tuple().exponent] | max -%}
            {%- if inferred == 'bigint' -%}
                {%- set fits = -9223372036854775808 <= value <= 9223372036854775807 -%}
            {%- else -%}
                {%- set fits = column.data_type.cast(value | float | string) == value -%}
            {%- endif -%}
            {%- set seen.fits = seen.fits and fits -%}
        {%- endfor -%}
    {%- endif -%}
    {{ inferred if seen.fits else 'decimal(38, ' ~ seen.scale ~ ')' }}
{%- endmacro %}
