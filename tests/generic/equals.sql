{% test equals(model, expected, columns) %}
    {%- set list = delta_scd2.backticked_names(delta_scd2.as_list(columns)) | join(', ') -%}
(
    select 'missing' as problem, {{ list }} from {{ expected }}
    except all
    select 'missing' as problem, {{ list }} from {{ model }}
)
union all
(
    select 'unexpected' as problem, {{ list }} from {{ model }}
    except all
    select 'unexpected' as problem, {{ list }} from {{ expected }}
)
{% endtest %}
