{# Only dbt can resolve the profile, target, variables and models, so the command line asks it. #}
{% macro scd2_describe(dimension=none) %}
    {%- set all = delta_scd2.dimension_nodes() -%}
    {%- set found = all if dimension is none else delta_scd2.named_dimensions(dimension) -%}
    {%- set log = delta_scd2.load_log_relation() if dimension is none else none -%}
    {%- set described = [] -%}
    {%- for node in found if dimension is none or found | length == 1 -%}
        {%- do described.append(delta_scd2._description_of_dimension(node)) -%}
    {%- endfor -%}
    {%- do print(tojson({
        'project': project_name,
        'dimensions': delta_scd2.node_addresses(all),
        'found': delta_scd2.node_addresses(found),
        'described': described,
        'load_log': log | string if log is not none and load_relation(log) else none,
    })) -%}
{% endmacro %}


{% macro _description_of_dimension(node) %}
    {%- set settings = delta_scd2.scd2_config(node) -%}
    {%- set table = load_relation(delta_scd2.table_of(node)) -%}
    {%- set recorded = delta_scd2.read_properties(table) if table else none -%}
    {%- set mistakes = delta_scd2.validate_values(node.config, settings)
        or delta_scd2.changed_immutable_options(
            {'settings': settings, 'properties': recorded or {}, 'target': node.relation_name}, may_discard=false
        ) -%}
    {%- set dimension = {
        'name': delta_scd2.node_address(node),
        'unique_id': node.unique_id,
        'description': node.description,
        'relation': node.relation_name,
        'mistakes': mistakes,
    } -%}
    {%- if mistakes -%}
        {{- return(dimension) -}}
    {%- endif -%}
    {%- set sequence_by = settings.sequence_by | map('lower') | list -%}
    {%- set stored_sequence = settings.stored_as.items()
        | selectattr(0, 'in', sequence_by) | map('last') | list -%}
    {{- return(dict(
        dimension,
        unique_key=settings.unique_key,
        sequence_by=sequence_by + stored_sequence,
        columns=settings.columns,
        unknown_member=settings.unknown_member,
        keeps_tombstones=settings.keeps_tombstones,
        yes=delta_scd2.flag_literal(settings, true),
        is_open=delta_scd2.is_open_sql(settings),
        gap_micros=delta_scd2.gap_micros(settings),
        recorded=recorded,
    )) -}}
{% endmacro %}
