{# The table that the first load creates. #}
{% macro create_sql(dimension) %}
    {#- A MERGE marks the rows that it changes instead of writing all their neighbours anew. -#}
    {%- set properties = {'delta.enableDeletionVectors': 'true'} -%}
    {%- do properties.update({'scd2.sample': 'true'}) if invocation_args_dict.get('sample') -%}
    {#- What `--empty` makes has as a rule no events to lose. -#}
    {%- do properties.update({'scd2.events_id': dimension.events_id}) if dimension.events and not flags.EMPTY -%}
    {%- do properties.update(feature_properties(dimension.kept_columns)) -%}
    {%- do properties.update(config.get('tblproperties') or {}) -%}
create or replace table {{ dimension.target }}
    {%- for clause in [file_format_clause(), partition_cols(label='partitioned by'), location_clause(), comment_clause()]
        if clause | trim %}
{{ clause | trim }}
    {%- endfor %}
{{ properties_clause(properties) }}
as
    {%- if is_first_extract(dimension) %}
{{ first_versions_sql(dimension) }}
    {%- else %}
select
    {%- for column in dimension.columns %}
    {{ backticked(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ dimension.changes }}
    {%- endif %}
{% endmacro %}
