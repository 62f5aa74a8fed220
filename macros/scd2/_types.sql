{# What the types of columns are good for, and how a message speaks of them. A type may have thousands of fields. #}

{# The mistake of each column that Delta cannot store, or whose type no later value would fit. #}
{% macro _unstorable_types(columns) %}
    {%- set mistakes = [] -%}
    {%- for column in columns -%}
        {%- set type = column.data_type -%}
        {%- if type == 'void' -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` has no type: cast it in the model, for example to string') -%}
        {%- elif modules.re.search('[<:,]void($|[>,])', type) -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` has a part that has no type (' ~ _shown_type(type)
                ~ '): cast it in the model, for example to ' ~ _shown_type(modules.re.sub('([<:,])void\\b(?!:)', '\\1string', type))) -%}
        {%- elif modules.re.search('\\bcollate \\w', type) -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is ' ~ _shown_type(type) ~ ', and Delta stores no collation: '
                ~ 'cast it in the model to ' ~ _shown_type(modules.re.sub(' collate \\w+', '', type))) -%}
        {%- elif modules.re.search('(^|[<:,])(interval\\b|geometry\\b|geography\\b|time($|[>,(]))', type) -%}
            {%- do mistakes.append('the column `' ~ column.name ~ '` is ' ~ _shown_type(type) ~ ', which Delta does not store: '
                ~ 'turn it into a type that it does in the model, such as string') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# The table feature that Delta wants for columns: a table that exists gets it neither by a new column nor as it is replaced. #}
{% macro _feature_properties(columns) %}
    {%- for column in columns if modules.re.search('(^|[<:,])timestamp_ntz($|[>,])', column.data_type) -%}
        {{- return({'delta.feature.timestampNtz': 'supported'}) -}}
    {%- endfor -%}
    {{- return({}) -}}
{% endmacro %}


{# The statements that give a table new columns. #}
{% macro _add_columns_statements(table, columns) %}
    {%- set statements = [] -%}
    {%- for column in columns -%}
        {%- for name, value in _feature_properties([column]).items() -%}
            {%- do statements.append('alter table ' ~ table ~ ' set tblproperties (' ~ _sql_string(name) ~ ' = ' ~ _sql_string(value) ~ ')') -%}
        {%- endfor -%}
        {%- do statements.append('alter table ' ~ table ~ ' add columns (' ~ _backticked(column.name) ~ ' ' ~ column.data_type ~ ')') -%}
    {%- endfor -%}
    {{- return(statements | unique | list) -}}
{% endmacro %}


{# Why a column of one type does not fit a table that has another; of structs, in which fields. #}
{% macro _differing_types(name, type, table_type, table, here='the model', remedy='cast it in the model') %}
    {%- set fields = _differing_fields(name, type, table_type) -%}
    {%- if 'struct<' in type and 'struct<' in table_type and fields -%}
        {{- return('the column `' ~ name ~ '` has other fields in ' ~ here ~ ' than in ' ~ table ~ ', ' ~ _listed(fields, 5, '; ')
            ~ ': ' ~ remedy) -}}
    {%- endif -%}
    {{- return('the column `' ~ name ~ '` is ' ~ _shown_type(type) ~ ' in ' ~ here ~ ' and ' ~ _shown_type(table_type) ~ ' in ' ~ table
        ~ ': ' ~ remedy) -}}
{% endmacro %}


{% macro _differing_fields(path, type, table_type) %}
    {%- set ours, theirs = _parsed_type(type), _parsed_type(table_type) -%}
    {%- set differences = [] -%}
    {%- if type == table_type -%}
        {{- return([]) -}}
    {%- elif ours.name != theirs.name or ours.name not in ['struct', 'array', 'map'] -%}
        {{- return(['`' ~ path ~ '` is ' ~ _shown_type(type) ~ ' and ' ~ _shown_type(table_type) ~ ' there']) -}}
    {%- elif ours.name == 'struct' -%}
        {%- set ours_by_name, theirs_by_name = _fields_by_name(ours), _fields_by_name(theirs) -%}
        {%- for name, field_type in ours_by_name.items() -%}
            {%- if name in theirs_by_name -%}
                {%- do differences.extend(_differing_fields(path ~ '.' ~ name, field_type, theirs_by_name[name])) -%}
            {%- else -%}
                {%- do differences.append('`' ~ path ~ '.' ~ name ~ '` is new') -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for name in theirs_by_name if name not in ours_by_name -%}
            {%- do differences.append('`' ~ path ~ '.' ~ name ~ '` is missing') -%}
        {%- endfor -%}
        {{- return(differences or ['`' ~ path ~ '` has its fields in another order']) -}}
    {%- endif -%}
    {%- for part in (['.element'] if ours.name == 'array' else ['.key', '.value']) -%}
        {%- do differences.extend(
            _differing_fields(path ~ part, ours.arguments[loop.index0], theirs.arguments[loop.index0])
        ) -%}
    {%- endfor -%}
    {{- return(differences) -}}
{% endmacro %}


{% macro _fields_by_name(parsed) %}
    {%- set types = {} -%}
    {%- for argument in parsed.arguments -%}
        {%- set field = _parsed_field(argument) -%}
        {%- do types.update({field.name: field.type}) -%}
    {%- endfor -%}
    {{- return(types) -}}
{% endmacro %}


{# As much of a type, or of another text, as a message has room for. #}
{% macro _shown_type(type, most=100) %}
    {{- return(type if type | length <= most else type[:most - 1] ~ '…') -}}
{% endmacro %}


{# The first few of many, and how many more there are. #}
{% macro _listed(items, most=10, separator=', ') %}
    {%- set more = items | length - most -%}
    {{- return(items[:most] | join(separator) ~ (separator ~ 'and ' ~ more ~ ' more' if more > 0 else '')) -}}
{% endmacro %}
