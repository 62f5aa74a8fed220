{% materialization scd2, adapter='spark', supported_languages=['sql', 'python'] %}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set replaces = existing is none or _rebuild_is_asked_for(existing) -%}

    {{ run_hooks(pre_hooks) }}

    {%- if existing is not none and (flags.EMPTY or invocation_args_dict.get('sample')) -%}
        {#- A part of the rows would pass for a complete extract. -#}
        {%- do store_raw_result('main', message='SKIP a partial run changes no dimension', code='SKIP', rows_affected=0) -%}
    {%- else -%}
        {%- set source = _backticked(model.schema ~ '__' ~ model.alias ~ '__source') -%}
        {%- if model.language == 'python' -%}
            {#- dbt runs Python only for a statement that stands in the materialization itself. -#}
            {%- call statement('main', language='python') -%}{{ _py_register_view(compiled_code, source) }}{%- endcall -%}
        {%- else -%}
            {%- call statement('source') -%}{{ create_temporary_view(source, compiled_code) }}{%- endcall -%}
        {%- endif -%}
        {%- set dimension = _prepare(source, target_relation, existing, replaces) -%}
        {%- do _load(dimension) -%}
        {#- To drop the view frees its cache. -#}
        {%- do run_query('drop view ' ~ dimension.extract) -%}
        {%- do run_query('drop view ' ~ source) -%}
    {%- endif -%}

    {%- do apply_grants(target_relation, config.get('grants'), should_revoke(existing, full_refresh_mode=replaces)) -%}
    {%- do persist_docs(target_relation, model) -%}

    {{ run_hooks(post_hooks) }}

    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{# History is not thrown away by a habit: --full-refresh needs a second word. #}
{% macro _rebuild_is_asked_for(existing) %}
    {%- if not flags.FULL_REFRESH or config.get('full_refresh') == false -%}
        {{- return(false) -}}
    {%- elif not config.get('full_refresh') and not var('scd2_discard_history', false) -%}
        {%- do _refuse(
            '--full-refresh would throw away the history in ' ~ existing,
            "leave the flag out; to rebuild all the same, configure `full_refresh: true` or add "
                ~ "--vars '{scd2_discard_history: true}'"
        ) -%}
    {%- endif -%}
    {{- return(true) -}}
{% endmacro %}


{# Refuses mistakes in the configuration, and caches the rows of the model, hashed. #}
{% macro _prepare(source, target_relation, existing, replaces) %}
    {%- set settings = scd2_settings(model) -%}
    {%- set source_columns = _columns_of(source) -%}
    {%- set mistakes = scd2_mistakes(model, settings, source_columns) -%}
    {%- if not mistakes and existing is not none -%}
        {%- do mistakes.extend(_wrong_target(existing)) -%}
    {%- endif -%}
    {%- set dimension = {
        'settings': settings,
        'target': target_relation,
        'exists': not replaces,
        'source': source,
        'extract': _backticked(model.schema ~ '__' ~ model.alias ~ '__extract'),
        'run_started_at': _micros(run_started_at.replace(tzinfo=none).isoformat()),
        'applied': [],
        'unrecorded': [],
        'last': none,
    } -%}
    {%- if not mistakes -%}
        {%- do dimension.update(scd2_columns(settings, source_columns)) -%}
        {%- if dimension.exists -%}
            {%- set recorded = _recorded(existing) -%}
            {%- do dimension.applied.extend(_applied_extracts(recorded)) -%}
            {%- do mistakes.extend(_changed_columns(dimension, _columns_of(existing))) -%}
            {%- do mistakes.extend(_changed_options(dimension, recorded)) -%}
        {%- endif -%}
    {%- endif -%}
    {%- do _refuse_mistakes(mistakes) -%}

    {%- call statement('extract') -%}
        {{ create_temporary_view(dimension.extract, scd2_extract_sql(dimension)) }}
    {%- endcall -%}
    {#- One evaluation of the model for all that follows: what was checked is what is written. -#}
    {%- do run_query('cache table ' ~ dimension.extract) -%}
    {{- return(dimension) -}}
{% endmacro %}


{# Checks every extract, then applies them in order. #}
{% macro _load(dimension) %}
    {%- if flags.EMPTY -%}
        {%- call statement('main') -%}
            {{ create_table_as(false, dimension.target, scd2_create_sql(dimension, none)) }}
        {%- endcall -%}
        {{- return('') -}}
    {%- endif -%}

    {%- set moments = _checked_extracts(dimension) -%}
    {%- if dimension.exists -%}
        {%- set moments = _fresh_extracts(dimension, moments) -%}
    {%- endif -%}
    {%- set changes = _checked_changes(dimension, moments) -%}

    {%- set name = 'main' if model.language == 'sql' else 'merge' -%}
    {%- set totals = namespace(opened=0, closed=0, deleted=0) -%}
    {%- if not dimension.exists -%}
        {%- call statement(name) -%}
            {{ create_table_as(false, dimension.target, scd2_create_sql(dimension, moments | first)) }}
        {%- endcall -%}
        {%- do run_query(_record_sql(dimension, [])) if not dimension.settings.effective_at -%}
    {%- endif -%}
    {%- for moment in dimension.unrecorded if dimension.settings.effective_at -%}
        {%- do _record(dimension, moment) -%}
    {%- endfor -%}
    {%- for change in changes -%}
        {%- if (change.opened or change.deleted) and (dimension.exists or not loop.first) -%}
            {%- call statement(name) -%}{{ scd2_merge_sql(dimension, change.moment) }}{%- endcall -%}
        {%- endif -%}
        {%- if dimension.settings.effective_at -%}
            {%- do _record(dimension, change.moment) -%}
        {%- endif -%}
        {%- set totals.opened = totals.opened + change.opened -%}
        {%- set totals.closed = totals.closed + change.closed -%}
        {%- set totals.deleted = totals.deleted + change.deleted -%}
    {%- endfor -%}
    {%- do store_raw_result(
        'main',
        message='MERGE ' ~ totals.opened ~ ' opened, ' ~ totals.closed ~ ' closed, ' ~ totals.deleted ~ ' deleted',
        code='MERGE',
        rows_affected=totals.opened + totals.closed + totals.deleted
    ) -%}
{% endmacro %}


{% macro _record(dimension, moment) %}
    {%- do dimension.applied.append(moment) -%}
    {%- do run_query(_record_sql(dimension, dimension.applied)) -%}
{% endmacro %}


{# The person's model and the few lines that hand its rows to SQL. #}
{% macro _py_register_view(compiled_code, view) %}
{{ compiled_code }}

import dbt_spark_session

dbt_spark_session.to_spark_dataframe(
    model(dbtObj({{ py_load_function() }}), spark), spark
).createOrReplaceTempView({{ view | tojson }})
{% endmacro %}
