{# The settings of the relation's model, with the options applied on top. #}
{% macro _dimension_settings(relation, options) %}
    {%- set options = options or {} -%}
    {%- set node = delta_scd2.scd2_node(relation) -%}
    {%- set is_dimension = node.config.get('materialized') == 'scd2' -%}
    {%- set mistakes = [] -%}
    {%- for name in options if name not in delta_scd2.scd2_options() -%}
        {%- do mistakes.append(delta_scd2.unknown_option(name, 'scd2', delta_scd2.scd2_options())) -%}
    {%- endfor -%}
    {%- if not is_dimension and not options -%}
        {%- do mistakes.append('no scd2 model of this project builds it: describe it with '
            ~ '`options`; in a unit test, which sees no other models, override the macro `scd2_node`') -%}
    {%- endif -%}
    {%- do delta_scd2.raise_mistakes_of(relation, mistakes) -%}
    {%- set config = dict(node.config if is_dimension else {}) -%}
    {%- set names = dict(
        delta_scd2.as_mapping(config.get('scd2_columns')),
        **delta_scd2.as_mapping(options.get('scd2_columns'))
    ) -%}
    {%- do config.update(options) -%}
    {%- do config.update({'scd2_columns': names}) -%}
    {%- set settings = delta_scd2.settings_of(
        node.name or relation.identifier or relation, config, node.package_name
    ) -%}
    {%- do delta_scd2.raise_mistakes_of(relation, delta_scd2.validate_values(
        dict(config, scd2_columns=options.get('scd2_columns')), settings
    )) -%}
    {#- A table of other origin may have null ends beside the date that stands for an open one. -#}
    {{- return(dict(settings, may_have_null_ends=settings.open_end is none or options != {})) -}}
{% endmacro %}


{# A relation without the filter by `event_time` that dbt puts on it for a sample or a microbatch: what
   is valid at a time mostly began before. #}
{% macro _all_versions(relation) %}
    {{- return(relation if relation is string else relation.replace(event_time_filter=none)) -}}
{% endmacro %}


{# The conditions for a version that is valid at a point in time. #}
{% macro _valid_at(settings, at, alias=none) %}
    {%- set prefix = alias ~ '.' if alias else '' -%}
    {%- set effective_to = prefix ~ delta_scd2.backticked(settings.columns.effective_to) -%}
    {%- set is_open = effective_to ~ ' > ' ~ delta_scd2.closing_in_zone_sql(settings, at) -%}
    {%- if settings.may_have_null_ends -%}
        {%- set is_open = '(' ~ is_open ~ ' or ' ~ effective_to ~ ' is null)' -%}
    {%- endif -%}
    {%- set conditions = [
        prefix ~ delta_scd2.backticked(settings.columns.effective_from) ~ ' <= ' ~ at,
        is_open,
    ] -%}
    {%- if settings.keeps_tombstones -%}
        {#- Only with `new_record` do deleted rows cover the time after the deletion. -#}
        {%- do conditions.append(prefix ~ delta_scd2.is_not_deleted_sql(settings)) -%}
    {%- endif -%}
    {{- return(conditions) -}}
{% endmacro %}
