{% macro validate_values(config, settings) %}
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
        {%- do mistakes.append(delta_scd2.wrong_value(
            option, settings[option], 'one of ' ~ allowed | join(', ')
        )) -%}
    {%- endfor -%}
    {%- do mistakes.extend(delta_scd2._validate_ends(settings)) -%}
    {%- do mistakes.extend(delta_scd2._validate_flags(config, settings)) -%}
    {%- set fraction = settings.max_delete_fraction -%}
    {%- if fraction is boolean or fraction is not number or fraction < 0 or fraction > 1 -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'max_delete_fraction', fraction, 'a number from 0 to 1'
        )) -%}
    {%- endif -%}
    {%- if settings.min_rows is not integer or settings.min_rows < 0 -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'min_rows', settings.min_rows, 'a whole number from 0'
        )) -%}
    {%- endif -%}
    {%- set names_of_model = delta_scd2.option_or_default(config, 'scd2_columns', {}) -%}
    {%- for given in [var('scd2_columns', {}), names_of_model] -%}
        {%- if given is not mapping or delta_scd2._roles_without_name(given) -%}
            {%- do mistakes.append(delta_scd2.wrong_value(
                'scd2_columns', given, 'a mapping of columns to names'
            )) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do mistakes.extend(delta_scd2.validate_single_columns(
        settings, ['effective_at', 'change_type', 'inferred_member']
    )) -%}
    {%- do mistakes.extend(delta_scd2.validate_tblproperties(config)) -%}
    {%- do mistakes.extend(delta_scd2.validate_unavailable_value(settings.unavailable_value)) -%}
    {%- do mistakes.extend(delta_scd2._options_of_other_kinds(config, settings)) -%}
    {{- return(mistakes + delta_scd2._validate_added_columns(settings)) -}}
{% endmacro %}


{% macro validate_single_columns(settings, options) %}
    {%- set mistakes = [] -%}
    {%- for option in options if settings.get(option) is not none and settings.get(option) is not string -%}
        {%- do mistakes.append(delta_scd2.wrong_value(option, settings.get(option), 'one column')) -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro validate_tblproperties(config) %}
    {%- set properties = config.get('tblproperties') -%}
    {{- return([] if properties is none or properties is mapping else [
        delta_scd2.wrong_value('tblproperties', properties, 'a mapping of properties to values')
    ]) -}}
{% endmacro %}


{% macro _validate_flags(config, settings) %}
    {%- set mistakes = [] -%}
    {%- set values = settings.flag_values -%}
    {%- if values is string or values is not sequence or values | length != 2 or none in values
        or values[0] == values[1] or delta_scd2._kind_of_flag(values[0]) is none
        or delta_scd2._kind_of_flag(values[0]) != delta_scd2._kind_of_flag(values[1]) -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'flag_values', values,
            "two different texts, whole numbers or booleans, e.g. ['Y', 'N']; a number is an `int`"
        )) -%}
    {%- endif -%}
    {%- set partitions = delta_scd2.partition_names(config.get('partition_by')) -%}
    {%- for flag in [settings.columns.is_current, settings.columns.is_deleted]
        if values is sequence and flag | lower in partitions
            and values | select('in', delta_scd2.null_partitions()) | list -%}
        {%- do mistakes.append('`flag_values` has a text for which Delta keeps null in `' ~ flag
            ~ '`, a column of `partition_by`: give the flag another value, or do not partition by it') -%}
    {%- endfor -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# A larger number would make a `bigint` of one flag, and leave the other an `int`. #}
{% macro _kind_of_flag(flag) %}
    {{- return('text' if flag is string else 'boolean' if flag is boolean
        else 'number' if flag is integer and -2147483648 <= flag <= 2147483647 else none) -}}
{% endmacro %}


{% macro _validate_ends(settings) %}
    {%- set mistakes = [] -%}
    {%- if settings.open_end is not none and not delta_scd2.is_timestamp_text(settings.open_end) -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'open_end', settings.open_end, 'null or a UTC timestamp such as 9999-12-31'
        )) -%}
    {%- endif -%}
    {%- set interval = '0|\\d+ (micro|milli)?seconds?|\\d+ (minute|hour|day)s?' -%}
    {%- if not modules.re.fullmatch(interval, settings.closing_gap | string) -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'closing_gap', settings.closing_gap, '0 or an interval such as 1 millisecond'
        )) -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# Options that this kind of source does not have. #}
{% macro _options_of_other_kinds(config, settings) %}
    {%- set mistakes = [] -%}
    {%- if settings.unavailable_columns and not settings.keeps_events -%}
        {%- do mistakes.append('`unavailable_columns` needs the events before a placeholder, which '
            ~ 'only `source_kind: changelog` remembers: set it, or let the model return the values') -%}
    {%- endif -%}
    {%- if settings.reads_extracts -%}
        {%- for option in ['sequence_by', 'change_type'] if config.get(option) is not none -%}
            {%- do mistakes.append('`' ~ option ~ '` is for increments and changelogs; `source_kind` '
                ~ 'is `snapshot`: remove it, or set `source_kind`') -%}
        {%- endfor -%}
    {%- else -%}
        {%- for option in ['max_delete_fraction', 'min_rows', 'merge_plan']
            if config.get(option) is not none -%}
            {%- do mistakes.append('`' ~ option ~ '` is for full extracts; `source_kind` is `'
                ~ settings.source_kind ~ '`: remove one of the two') -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{# What is not the name of a column. Only a column that has no name by default may be null. #}
{% macro _roles_without_name(given) %}
    {%- set roles = [] -%}
    {%- for role, name in given.items()
        if not (name is string and name | trim)
            and (name is not none or delta_scd2.default_column_names().get(role, '') is not none) -%}
        {%- do roles.append(role) -%}
    {%- endfor -%}
    {{- return(roles) -}}
{% endmacro %}


{# Checks that every role exists, and that names are unique and not reserved. #}
{% macro _validate_added_columns(settings) %}
    {%- set mistakes = [] -%}
    {%- set roles = delta_scd2.default_column_names().keys() | list -%}
    {%- for role in settings.columns if role not in roles -%}
        {%- set near = delta_scd2.closest_match(role, roles) -%}
        {%- do mistakes.append('`scd2_columns` names `' ~ role ~ '`, which is not an added column: '
            ~ ('did you mean `' ~ near ~ '`?' if near else 'they are ' ~ roles | join(', '))) -%}
    {%- endfor -%}
    {%- set names = settings.columns.values() | select | map('lower') | list -%}
    {%- for name in names if delta_scd2.is_reserved_name(name) -%}
        {%- do mistakes.append('`scd2_columns` gives the reserved name `' ~ name
            ~ '` (`_scd2_…` or `_metadata`): choose another') -%}
    {%- endfor -%}
    {%- if names | unique | list | length != names | length -%}
        {%- do mistakes.append(delta_scd2.wrong_value(
            'scd2_columns', names | join(', '), 'a different name for each column'
        )) -%}
    {%- endif -%}
    {{- return(mistakes) -}}
{% endmacro %}


{% macro is_reserved_name(name) %}
    {{- return(name.lower().startswith('_scd2_') or name | lower == '_metadata') -}}
{% endmacro %}
