{# The rows of `history_sql` as a table for people: each dimension is named once, and numbers are
   aligned at the right. #}
{% macro history_table(rows, has_colors=false) -%}
    {%- set names = ['dimension', 'extract (UTC)', 'new', 'changed', 'returned', 'deleted', 'live'] -%}
    {%- set lines = [names] -%}
    {%- for row in rows -%}
        {%- set is_named = loop.first or loop.previtem['dimension'] != row['dimension'] -%}
        {%- set line = [row['dimension'] if is_named else '', delta_scd2._extract_text(row)] -%}
        {%- for name in names[2:] -%}
            {%- do line.append('{:,}'.format(row[name] | int)) -%}
        {%- endfor -%}
        {%- do lines.append(line) -%}
    {%- endfor -%}
    {%- set widths = [] -%}
    {%- for name in names -%}
        {%- do widths.append(lines | map(attribute=loop.index0) | map('length') | max) -%}
    {%- endfor -%}
    {%- for line in lines -%}
        {%- set is_heading = loop.first -%}
        {{- '\n' if not is_heading -}}
        {%- for name in names -%}
            {%- set cell = line[loop.index0] -%}
            {%- set width = widths[loop.index0] -%}
            {%- set text = cell.ljust(width) if loop.index0 < 2 else cell.rjust(width) -%}
            {{- '  ' if not loop.first -}}
            {{- delta_scd2._colored(text, 'zero' if is_heading or cell == '0' else name)
                if has_colors and cell else text -}}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}


{% macro _extract_text(row) -%}
    {%- if row['extract_time'] is none -%}
        {{- '{:,} earlier'.format(row['extracts'] | int) -}}
    {%- else -%}
        {{- delta_scd2.utc_text(row['extract_time'] | int).split('.')[0] | replace(' 00:00:00', '') -}}
    {%- endif -%}
{%- endmacro %}


{# The colors are those of `delta-scd2 history`. #}
{% macro _colored(text, column) -%}
    {%- set style = {'dimension': '1', 'new': '32', 'changed': '33', 'returned': '32', 'deleted': '31',
        'zero': '2'}.get(column) -%}
    {{- '\x1b[' ~ style ~ 'm' ~ text ~ '\x1b[0m' if style else text -}}
{%- endmacro %}
