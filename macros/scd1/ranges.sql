{# Net changes of a range have ordinals that order nothing outside it. #}

{# Whether the ordinals are those of net changes of a range that the model itself asks for: in SQL,
   they have left a comment; in Python, the function is called, and not one of the model's own. #}
{% macro _has_range_in_model(node) %}
    {%- set code = node.compiled_code or '' -%}
    {%- if node.language == 'sql' -%}
        {{- return(modules.re.search(delta_scd2.range_comment('\\d+'), code) is not none) -}}
    {%- endif -%}
    {%- set code = modules.re.sub('(?s)("""|\'\'\').*?\\1|#[^\\n]*', '', code) -%}
    {%- set another = '\\bdef changelog\\(|\\bfrom (?!delta_scd2\\b)\\S+ import '
        ~ '(\\([^)]*|[^\\n]*)\\bchangelog\\b(?!\\s+as\\b)' -%}
    {#- The function of another module is called with its name in front. -#}
    {%- set call = '(?<![\\w.])changelog\\(|\\bdelta_scd2\\.(\\w+\\.)*changelog\\(' -%}
    {{- return(modules.re.search(call, code) is not none
        and modules.re.search(another, code) is none) -}}
{% endmacro %}


{# The last version of that range, as the comment of the ordinal says behind a view or a table. #}
{% macro _query_end_of_range(copy) %}
    {%- set comment = run_query('describe query select '
        ~ copy.change_ordinal ~ ' from ' ~ copy.changelog).rows[0]['comment'] -%}
    {%- set found = modules.re.search(delta_scd2.range_comment('(\\d+)'), comment or '') -%}
    {{- return(found[1] | int if found else none) -}}
{% endmacro %}


{# A table that began with the net changes of a range keeps their comment when later batches are
   appended to it, and their order would be lost. #}
{% macro _check_end_of_range(copy) %}
    {%- set is_checked = copy.range_end is not none and copy.ordinal.data_type == 'bigint'
        and not delta_scd2._has_range_in_model(model) -%}
    {%- set later = delta_scd2.query_keys(delta_scd2._keys_after_range_sql(copy)) if is_checked else '' -%}
    {%- if later -%}
        {%- do delta_scd2.raise_refusal(
            copy.change_ordinal ~ ' has the comment `' ~ delta_scd2.range_comment(copy.range_end)
                ~ '`, and later changes follow: ' ~ later,
            'if batches are appended to the table, clear the comment with `alter table <table> '
                ~ 'alter column ' ~ copy.ordinal.name ~ " comment ''`: the copy then remembers the "
                ~ 'ordinals; or return the changes of one range'
        ) -%}
    {%- endif -%}
{% endmacro %}


{% macro _keys_after_range_sql(copy) -%}
select distinct {{ delta_scd2.key_text_sql(copy) }} as business_key
from {{ copy.changelog }}
where {{ copy.change_ordinal }} > {{ copy.range_end }}
order by business_key
limit 10
{%- endmacro %}
