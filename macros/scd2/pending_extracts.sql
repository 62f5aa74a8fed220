{# The extracts to apply, as fields of the load record. The last applied extract is skipped if it is
   unchanged; an earlier one that was never applied raises an error. #}
{% macro _pending_extracts(load, extract_times) %}
    {%- if load.rebuild_from -%}
        {{- return(delta_scd2._extracts_of_rebuild(load, extract_times)) -}}
    {%- endif -%}
    {%- set boundary = load.target_state['high_water_mark'] -%}
    {%- set last = (load.applied_extracts + [boundary or 0]) | max
        if load.applied_extracts or boundary is not none else none -%}
    {%- set unrecorded = delta_scd2._unrecorded_extracts(load, extract_times, boundary) -%}
    {%- if unrecorded -%}
        {#- A run crashed after its MERGE and before it recorded the extracts. Applying them again
            gives the same result. -#}
        {{- return({
            'pending_extracts': extract_times | select('ge', unrecorded | first) | list,
            'rebuild_from': unrecorded | first,
            'is_recovery': true,
        }) -}}
    {%- endif -%}
    {%- set fresh = [] -%}
    {%- for extract_time in extract_times -%}
        {%- if last is not none and extract_time < last -%}
            {%- do delta_scd2.check_late_extract(load, extract_time, last) -%}
        {%- elif extract_time == last -%}
            {%- do delta_scd2.check_same_extract(load, extract_time) -%}
        {%- else -%}
            {%- do fresh.append(extract_time) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({'pending_extracts': fresh}) -}}
{% endmacro %}


{# The extracts after the last recorded one, up to the newest change in the dimension. Only if that
   change is at the time of one of the extracts; otherwise an extract that the model no longer
   returns made it. Inferred rows change versions that began long before: of several extracts
   that did nothing else, only the unrecorded MERGE is left to tell. #}
{% macro _unrecorded_extracts(load, extract_times, boundary) %}
    {%- set later = [] -%}
    {%- for extract_time in extract_times
        if load.settings.effective_at
            and (not load.applied_extracts or extract_time > load.applied_extracts | max) -%}
        {%- do later.append(extract_time) -%}
    {%- endfor -%}
    {%- set unrecorded = later | select('le', boundary) | list if boundary in extract_times else [] -%}
    {%- set is_silent = load.settings.inferred_member and load.has_unrecorded_merge
        and later | length > 1 -%}
    {{- return(unrecorded or (later if is_silent else [])) -}}
{% endmacro %}


{% macro _extracts_of_rebuild(load, extract_times) %}
    {%- set from_text = delta_scd2.utc_text(load.rebuild_from) -%}
    {%- do delta_scd2.check_missing_extracts(load, extract_times) -%}
    {%- set lost = [] -%}
    {%- for extract_time in load.applied_extracts
        if extract_time >= load.rebuild_from and extract_time not in extract_times -%}
        {%- do lost.append(delta_scd2.utc_text(extract_time)) -%}
    {%- endfor -%}
    {%- if lost -%}
        {%- do exceptions.warn(load.name ~ ': the history from ' ~ from_text
            ~ ' UTC on is rebuilt without the extract(s) of ' ~ lost | join(', ')
            ~ ', which the source no longer has; `undo_load` takes this load back') -%}
    {%- endif -%}
    {%- set earlier = [] -%}
    {%- for extract_time in load.applied_extracts if extract_time < load.rebuild_from -%}
        {%- do earlier.append(extract_time) -%}
    {%- endfor -%}
    {{- return({
        'pending_extracts': extract_times,
        'applied_extracts': earlier,
        'rebuild_from': delta_scd2._after_inferred_rows(load, extract_times),
    }) -}}
{% endmacro %}


{# From when on a rebuild makes versions anew: none of those that begin as inferred rows do, unless
   an extract is of that time. #}
{% macro _after_inferred_rows(load, extract_times) %}
    {%- set beginning = delta_scd2.beginning_micros() -%}
    {{- return([load.rebuild_from, beginning + 1] | max
        if load.settings.inferred_member and beginning not in extract_times + load.applied_extracts
        else load.rebuild_from) -}}
{% endmacro %}
