{# A Spark Thrift server takes SQL alone. #}
{% macro check_python_target() %}
    {%- if flags.WHICH in ['run', 'build']
        and adapter.config.credentials.method == 'thrift' -%}
        {%- do exceptions.raise_compiler_error(model.name
            ~ ': a Python model cannot run on the target `' ~ target.name
            ~ '`, as a Spark Thrift server takes SQL alone: use a target whose method is '
            ~ '`session`, write the model in SQL, or leave it out with `--exclude '
            ~ delta_scd2.node_address(model) ~ '+`') -%}
    {%- endif -%}
{% endmacro %}
