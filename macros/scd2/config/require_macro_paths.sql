{# dbt resolves the calls inside a macro in the root project; macros of a package are found only
   with the package name. A project that installs this package must therefore add these macros to
   its own `macro-paths`; this raises an error before anything is written. #}
{% macro require_macro_paths() %}
    {%- if execute and 'require_macro_paths' not in context[project_name] -%}
        {%- do exceptions.raise_compiler_error(
            "The project '" ~ project_name ~ "' installs delta_scd2 but does not read its macros: write 'macro-paths: [macros, "
            ~ "dbt_packages/delta_scd2/macros, dbt_packages/delta_scd2/tests/generic]' in its dbt_project.yml"
        ) -%}
    {%- endif -%}
{% endmacro %}
