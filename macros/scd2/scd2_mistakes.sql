{% macro scd2_mistakes(node, settings, source_columns) %}
    {%- set mistakes = _option_mistakes(node, _scd2_options()) -%}
    {%- do mistakes.extend(_wrong_values(node.config, settings)) -%}
    {%- do mistakes.extend(_wrong_columns(settings, source_columns)) -%}
    {%- if not mistakes -%}
        {%- do mistakes.extend(_wrong_event_time(
            node, scd2_columns(settings, source_columns).columns, settings.columns.effective_from
        )) -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _scd2_options() %}
    {{- return([
        'unique_key', 'source_kind', 'effective_at', 'sequence_by', 'change_type', 'track_columns', 'overwrite_columns',
        'ignore_columns', 'hard_deletes', 'surrogate_key', 'open_end', 'closing_gap', 'scd2_columns', 'flag_values',
        'on_schema_change', 'unknown_member', 'inferred_member', 'max_delete_fraction', 'min_rows', 'merge_plan',
    ]) -}}
{% endmacro %}


{% macro _wrong_values(config, settings) %}
    {%- set mistakes = [] -%}
    {%- set choices = {
        'source_kind': ['snapshot', 'increment', 'changelog'],
        'hard_deletes': ['soft_delete', 'invalidate', 'new_record', 'ignore'],
        'surrogate_key': ['hash', 'sequence', 'none'],
        'on_schema_change': ['append_new_columns', 'fail', 'ignore'],
        'unknown_member': [true, false],
        'merge_plan': ['staged', 'three_clause'],
    } -%}
    {%- for option, allowed in choices.items() if settings[option] not in allowed -%}
        {%- do mistakes.append(_wrong_value(option, settings[option], 'one of ' ~ allowed | join(', '))) -%}
    {%- endfor -%}
    {%- if not settings.unique_key -%}
        {%- do mistakes.append('`unique_key` is missing: name the column or the list of columns of the business key') -%}
    {%- endif -%}
    {%- if config.get('file_format') != 'delta' -%}
        {%- do mistakes.append(_wrong_value('file_format', config.get('file_format'), 'delta')) -%}
    {%- endif -%}
    {%- if settings.open_end is not none and not _is_moment(settings.open_end) -%}
        {%- do mistakes.append(_wrong_value('open_end', settings.open_end, 'null or a UTC timestamp such as 9999-12-31')) -%}
    {%- endif -%}
    {%- if not modules.re.fullmatch('0|\\d+ (micro|milli)?seconds?|\\d+ (minute|hour|day)s?', settings.closing_gap | string) -%}
        {%- do mistakes.append(_wrong_value('closing_gap', settings.closing_gap, '0 or an interval such as 1 millisecond')) -%}
    {%- endif -%}
    {%- set flags = settings.flag_values -%}
    {%- if flags is string or flags is not sequence or flags | length != 2 or none in flags or flags[0] == flags[1]
        or (flags[0] is string) != (flags[1] is string) -%}
        {%- do mistakes.append(_wrong_value('flag_values', flags, "two different values of one type, e.g. ['Y', 'N']")) -%}
    {%- endif -%}
    {%- set fraction = settings.max_delete_fraction -%}
    {%- if fraction is not number or fraction < 0 or fraction > 1 -%}
        {%- do mistakes.append(_wrong_value('max_delete_fraction', fraction, 'a number from 0 to 1')) -%}
    {%- endif -%}
    {%- if settings.min_rows is not integer or settings.min_rows < 0 -%}
        {%- do mistakes.append(_wrong_value('min_rows', settings.min_rows, 'a whole number from 0')) -%}
    {%- endif -%}
    {%- for given in [var('scd2_columns', {}), _given(config, 'scd2_columns', {})] -%}
        {#- Only this one has no name unless it is given one. -#}
        {%- if given is not mapping or none in dict(given, state_hash='').values() -%}
            {%- do mistakes.append(_wrong_value('scd2_columns', given, 'a mapping of columns to names')) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for option in ['effective_at', 'change_type', 'inferred_member']
        if settings[option] is not none and settings[option] is not string -%}
        {%- do mistakes.append(_wrong_value(option, settings[option], 'one column')) -%}
    {%- endfor -%}
    {%- set is_snapshot = settings.source_kind == 'snapshot' -%}
    {%- for option in ['sequence_by', 'change_type'] if is_snapshot and config.get(option) is not none -%}
        {%- do mistakes.append('`' ~ option ~ '` orders events, and a complete extract has none: remove it, or set '
            ~ '`source_kind`') -%}
    {%- endfor -%}
    {%- for option in ['max_delete_fraction', 'min_rows', 'merge_plan'] if not is_snapshot and config.get(option) is not none -%}
        {%- do mistakes.append('`' ~ option ~ '` is for complete extracts; `source_kind` is `' ~ settings.source_kind
            ~ '`: remove one of the two') -%}
    {%- endfor -%}
    {%- set roles = [
        'surrogate_key', 'durable_key', 'hash_diff', 'state_hash', 'effective_from', 'effective_to', 'is_current', 'is_deleted'
    ] -%}
    {%- for role in settings.columns if role not in roles -%}
        {%- set near = _closest(role, roles) -%}
        {%- do mistakes.append('`scd2_columns` names `' ~ role ~ '`, which is no added column: '
            ~ ('did you mean `' ~ near ~ '`?' if near else 'they are ' ~ roles | join(', '))) -%}
    {%- endfor -%}
    {%- set names = settings.columns.values() | select | map('lower') | list -%}
    {%- for name in names if _is_reserved(name) -%}
        {%- do mistakes.append('`scd2_columns` gives the reserved name `' ~ name ~ '` (`_scd2_…` or `_metadata`): choose another') -%}
    {%- endfor -%}
    {%- if names | unique | list | length != names | length -%}
        {%- do mistakes.append(_wrong_value('scd2_columns', names | join(', '), 'a different name for each column')) -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _wrong_value(option, value, expected) %}
    {{- return('`' ~ option ~ '` is `' ~ value ~ '`, expected ' ~ expected) -}}
{% endmacro %}


{% macro _wrong_columns(settings, source_columns) %}
    {%- set mistakes = [] -%}
    {%- set names = source_columns | map(attribute='name') | map('lower') | list -%}
    {%- set options = [
        'unique_key', 'effective_at', 'sequence_by', 'change_type', 'track_columns', 'overwrite_columns', 'ignore_columns',
        'inferred_member',
    ] -%}
    {%- for option in options -%}
        {%- for column in _as_list(settings[option]) if column | lower not in names -%}
            {%- do mistakes.append('`' ~ option ~ '` names the column `' ~ column ~ '`, which the model does not return: '
                ~ _column_that_was_meant(column, names)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set roles_of = {} -%}
    {%- for option in options -%}
        {%- for column in _as_list(settings[option]) -%}
            {%- do roles_of.setdefault(column | lower, []).append('`' ~ option ~ '`') -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for column, roles in roles_of.items() if roles | length > 1 -%}
        {%- do mistakes.append('the column `' ~ column ~ '` stands in ' ~ roles | join(' and in ') ~ ': keep it in one') -%}
    {%- endfor -%}
    {%- set added = (settings.columns.values() | select | list) | map('lower') | list -%}
    {%- for option in options if option != 'effective_at' -%}
        {%- for column in _as_list(settings[option]) if column | lower in added -%}
            {%- do mistakes.append('`' ~ option ~ '` names the column `' ~ column ~ '`, which the materialization fills: '
                ~ 'name columns of your own') -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for column in source_columns if column.name | lower == settings.inferred_member | string | lower
        and column.data_type != 'boolean' -%}
        {%- do mistakes.append('`inferred_member` names the column `' ~ column.name ~ '` of type ' ~ _shown_type(column.data_type)
            ~ ', expected a boolean') -%}
    {%- endfor -%}
    {%- set compared = (settings.unique_key + settings.overwrite_columns + settings.sequence_by) | map('lower') | list -%}
    {%- set variants = _variants(source_columns) -%}
    {%- for column in source_columns if column.name | lower in compared and ('map<' in column.data_type or column in variants) -%}
        {%- set remedy = 'name other columns' if column.name | lower in settings.unique_key | map('lower')
            else 'ignore it or cast it in the model' if column in variants else 'track or ignore it' -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` of type ' ~ _shown_type(column.data_type) ~ ' stands in '
            ~ roles_of[column.name | lower] | first ~ ', and ' ~ ('variants' if column in variants else 'maps')
            ~ ' cannot be compared: ' ~ remedy) -%}
    {%- endfor -%}
    {%- for column in source_columns if _is_reserved(column.name) -%}
        {%- do mistakes.append('the column `' ~ column.name ~ '` has a reserved name (`_scd2_…` or `_metadata`): rename it') -%}
    {%- endfor -%}
    {%- for role, name in settings.columns.items() if role not in ['durable_key', 'hash_diff'] and name -%}
        {%- if name | lower in names and not (role == 'effective_from' and name | lower == settings.effective_at | string | lower) -%}
            {%- do mistakes.append('the model returns the column `' ~ name ~ '`, which the materialization adds as its '
                ~ role ~ ': rename or drop it in the model, or choose another name with `scd2_columns`') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for column in source_columns if column.name | lower == settings.effective_at | string | lower
        and column.data_type not in ['date', 'timestamp', 'timestamp_ntz'] -%}
        {%- do mistakes.append('`effective_at` names the column `' ~ column.name ~ '` of type ' ~ _shown_type(column.data_type)
            ~ ', expected a date or timestamp: cast it in the model') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro _is_reserved(name) %}
    {{- return(name.lower().startswith('_scd2_') or name | lower == '_metadata') -}}
{% endmacro %}


{% macro _column_that_was_meant(column, names) %}
    {%- set parts = column.split(',') | map('trim') | list -%}
    {%- if parts | map('lower') | reject('in', names) | list == [] -%}
        {{- return("write several columns as a list, `['" ~ parts | join("', '") ~ "']`") -}}
    {%- endif -%}
    {%- set near = _closest(column, names) -%}
    {{- return('did you mean `' ~ near ~ '`?' if near else 'it returns ' ~ _listed(names)) -}}
{% endmacro %}


{# The candidate that shares most letter pairs with the word (Dice's coefficient), or none when it is far from all. #}
{% macro _closest(word, candidates) %}
    {%- set best = namespace(candidate=none, score=0.35) -%}
    {%- set pairs = _letter_pairs(word) -%}
    {%- for candidate in candidates -%}
        {%- set others = _letter_pairs(candidate) -%}
        {%- set shared = pairs | select('in', others) | list | length -%}
        {%- set score = 2 * shared / ([pairs | length + others | length, 1] | max) -%}
        {%- if score > best.score -%}
            {%- set best.candidate = candidate -%}
            {%- set best.score = score -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(best.candidate) -}}
{% endmacro %}


{% macro _letter_pairs(word) %}
    {%- set letters = word | lower -%}
    {%- set pairs = [] -%}
    {%- for i in range(letters | length - 1) -%}
        {%- do pairs.append(letters[i:i + 2]) -%}
    {%- endfor -%}
    {{- return(pairs) -}}
{% endmacro %}
