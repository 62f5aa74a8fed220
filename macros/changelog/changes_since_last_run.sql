{# The changes of a Delta table since the version up to which this model has read it; at first, the table itself. #}
{% macro changes_since_last_run(relation, latest_by=none) %}
    {%- if not execute -%}
        {{- return('') -}}
    {%- elif _is_absent(relation) -%}
        {{- return('select * from ' ~ relation.render()) -}}
    {%- endif -%}
    {%- if '_commit_version' not in _as_list(config.get('sequence_by', [])) -%}
        {%- do _refuse(
            '`changes_since_last_run` is read by a model whose `sequence_by` is not `_commit_version`, which tells up to where',
            "configure `source_kind='changelog'`, `effective_at='_commit_timestamp'` and `sequence_by='_commit_version'`"
        ) -%}
    {%- endif -%}
    {%- set feed = _feed(relation, _as_list(config.get('unique_key'))) -%}
    {%- do feed.update({'latest_by': _latest_by(feed, _as_list(latest_by))}) -%}
    {%- set newest = run_query('describe history ' ~ feed.name ~ ' limit 1').rows[0] -%}
    {%- set consumed = _consumed() -%}
    {%- set catches_up = consumed is not none and var('scd2_catch_up', false) -%}
    {%- set is_other_table = consumed is not none and _is_other_table(feed, newest, consumed) -%}
    {%- do _refuse_other_table(feed, consumed) if is_other_table and not catches_up -%}
    {%- do feed.update({
        'catches_up': catches_up,
        'is_read_whole': consumed is none or is_other_table,
        'first': 0 if consumed is none or is_other_table else consumed.version + 1,
        'last': newest['version'] | int,
        'last_time': _timestamp_literal(_micros(_committed_at(newest).replace(tzinfo=none).isoformat())),
        'way_on': _ways_without_changes(),
    }) -%}
    {%- if flags.EMPTY or not feed.key_names or (feed.first > feed.last and not feed.is_read_whole) -%}
        {{- return(_no_changes_sql(feed)) -}}
    {%- endif -%}
    {%- do feed.update({'is_read_whole': feed.is_read_whole or _cannot_be_read(feed)}) if catches_up -%}
    {%- do _refuse_unplanned_read(feed) if not feed.is_read_whole -%}
    {%- do _refuse_rows_at_odds(feed) -%}
    {{- return(_changes_sql(feed)) -}}
{% endmacro %}


{# Whether the changes since the last run are lost, so that the table as it is has to stand for them. #}
{% macro _cannot_be_read(feed) %}
    {{- return(_planning_error(feed) is not none or _answers(feed, 'select count(*) from ' ~ _feed_sql(feed)) is none) -}}
{% endmacro %}


{# The columns that tell which of several rows of a key counts; what orders the events of one version orders its rows too. #}
{% macro _latest_by(feed, given) %}
    {%- set names = feed.columns | map(attribute='name') | map('lower') | list -%}
    {%- for name in given -%}
        {%- set near = _closest(name, names) -%}
        {%- if name | lower not in names -%}
            {%- do _refuse('`latest_by` names the column `' ~ name ~ '`, which ' ~ feed.name ~ ' lacks',
                'did you mean `' ~ near ~ '`?' if near else 'name one of its columns') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set ordering = given or (_as_list(config.get('sequence_by')) | map('lower') | select('in', names) | list) -%}
    {%- for column in feed.columns if column.name | lower in ordering | map('lower') and 'map<' in column.data_type -%}
        {%- do _refuse('`latest_by` names the column `' ~ column.name ~ '` of type ' ~ column.data_type ~ ', and maps have no order',
            'name other columns') -%}
    {%- endfor -%}
    {{- return(ordering) -}}
{% endmacro %}


{# The version up to which the dimension has read, and when it did; of a first run that died before it recorded that, the
   rows tell the version. #}
{% macro _consumed() %}
    {%- set existing = load_relation(this) -%}
    {%- if existing is none or _gives_way(existing) or (flags.FULL_REFRESH and config.get('full_refresh') != false) -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set recorded = _recorded(existing) -%}
    {%- if 'scd2.consumed_version' in recorded -%}
        {{- return({'version': recorded['scd2.consumed_version'] | int, 'at': recorded['scd2.consumed_at']}) -}}
    {%- endif -%}
    {%- set settings = scd2_settings(model) -%}
    {%- set stored = _names(_columns_of(existing)) -%}
    {%- do _keep_stored_names(settings, stored) -%}
    {%- set column = _stored_name(settings, '_commit_version') -%}
    {%- set version = run_query('select max(' ~ _backticked(column) ~ ') from ' ~ existing).columns[0].values()[0]
        if column | lower in stored -%}
    {{- return(none if version is none else {'version': version | int, 'at': none}) -}}
{% endmacro %}


{# A table made anew lacks the version that was read, or has another one in its place, of a later time. #}
{% macro _is_other_table(feed, newest, consumed) %}
    {%- set since = newest['version'] | int - consumed.version -%}
    {%- set history = run_query('describe history ' ~ feed.name ~ ' limit ' ~ (since + 1)).rows if since > 0 else [newest] -%}
    {%- set last_read = history | selectattr('version', 'equalto', consumed.version) | list | first -%}
    {%- set is_later = last_read and consumed.at
        and _committed_at(last_read) > _utc(consumed.at) -%}
    {{- return(since < 0 or is_later) -}}
{% endmacro %}


{% macro _refuse_other_table(feed, consumed) %}
    {%- do _refuse(
        feed.name ~ ' is not the table that ' ~ this ~ ' read up to version ' ~ consumed.version
            ~ (' at ' ~ consumed.at ~ ' UTC' if consumed.at else '') ~ ': it was made anew',
        _ways_without_changes()
    ) -%}
{% endmacro %}


{# What is left where the changes since the last run cannot be had. #}
{% macro _ways_without_changes() %}
    {{- return("rebuild the dimension from the table as it is with `--full-refresh --vars '{scd2_discard_history: true}'`, or keep "
        ~ "its history and let one run bring it to the table as it is with `--vars '{scd2_catch_up: true}'`: what changed since the "
        ~ 'last run is then dated at the newest version') -}}
{% endmacro %}


{# A key with different rows at one moment has no state that a version could hold. #}
{% macro _refuse_rows_at_odds(feed) %}
    {%- set keys = _answers(feed, _rows_at_odds_sql(feed)) -%}
    {%- if keys -%}
        {%- set when = 'holds' if feed.is_read_whole else 'held, between versions ' ~ (feed.first - 1) ~ ' and ' ~ feed.last ~ ',' -%}
        {%- do _refuse(
            feed.name ~ ' ' ~ when ~ ' different rows of one key'
                ~ (' with the same `' ~ feed.latest_by | join('`, `') ~ '`' if feed.latest_by) ~ ': ' ~ keys | join('; '),
            'name a column of the table whose greatest value tells which of them counts, as in '
                ~ "`changes_since_last_run(…, latest_by='loaded_at')`, or a list of such columns"
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _no_changes_sql(feed) %}
{{ _read_up_to(feed.last) }}
select
    {{ _column_list(feed.columns) }},
    'insert' as _change_type,
    {{ feed.last }}L as _commit_version,
    {{ feed.last_time }} as _commit_timestamp
from {{ feed.name }}
where false
{% endmacro %}


{# What each version made of the keys that it touched: the row that is left of a key, or one that is gone where none is left. #}
{% macro _changes_sql(feed) %}
{{ _read_up_to(feed.last) }}
{{ _states_of_keys_sql(feed) }}

select
    {{ _column_list(feed.columns) }},
    if(_change_rows > 0, 'insert', 'delete') as _change_type,
    _change_version as _commit_version,
    _change_time as _commit_timestamp
from states
where
    _change_rank = 1
    {%- if not feed.is_read_whole %}
    and _change_version >= {{ feed.first }}
    {%- elif feed.catches_up %}
union all
{{ _vanished_keys_sql(feed) }}
    {%- endif %}
{% endmacro %}


{# The live keys of the dimension that the table lacks, as deletions of its newest version. #}
{% macro _vanished_keys_sql(feed) -%}
    {%- set settings = scd2_settings(model) -%}
    {%- set told = (settings.unique_key + settings.sequence_by) | map('lower') | list -%}
select
    {%- for column in feed.columns %}
    {%- set name = _backticked(column.name) %}
    cast({{ 'live.' ~ name if column.name | lower in told else 'null' }} as {{ column.data_type }}) as {{ name }},
    {%- endfor %}
    'delete' as _change_type,
    {{ feed.last }}L as _commit_version,
    {{ feed.last_time }} as _commit_timestamp
from {{ this }} as live
left anti join {{ feed.name }} version as of {{ feed.last }} as latest
    on {{ _same_key(feed.key_names, 'live', 'latest') }}
where
    live.{{ _backticked(settings.columns.is_current) }} = {{ _flag_literal(settings, true) }}
    and live.{{ _backticked(settings.columns.is_deleted) }} = {{ _flag_literal(settings, false) }}
    and not ({{ _any_is_null(_named(feed.key_names)) }})
    {%- if settings.inferred_member %}
    and not {{ _is_inferred(settings) }}
    {%- endif %}
{%- endmacro %}


{# The end of what is read, which no row tells where the newest versions hold none; the compiled model carries it to the record. #}
{% macro _read_up_to(version) -%}
-- reads up to version {{ version }}
{%- endmacro %}


{# The record holds one version. #}
{% macro _several_feeds(compiled_code) %}
    {%- if modules.re.findall(_read_up_to('\\d+'), compiled_code) | length > 1 -%}
        {{- return(['the model calls `changes_since_last_run` more than once, and can follow one table: build a dimension of each, '
            ~ 'or read the others as they are']) -}}
    {%- endif -%}
    {{- return([]) -}}
{% endmacro %}


{# The version up to which the compiled model reads, or none. #}
{% macro _range_end(compiled_code) %}
    {%- set found = modules.re.search(_read_up_to('(\\d+)'), compiled_code) -%}
    {{- return(found.group(1) | int if found else none) -}}
{% endmacro %}
