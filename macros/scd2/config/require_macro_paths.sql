{# dbt looks up what a macro calls in the project that is run, and in a package only under the
   package's name. So a project that installs this one must read these macros as its own; here it
   is told so before anything is written. #}
{% macro require_macro_paths() %}
    {%- if execute and 'require_macro_paths' not in context[project_name] -%}
        {%- do exceptions.raise_compiler_error(
            "The project '" ~ project_name ~ "' installs delta_scd2 but does not read its macros: write 'macro-paths: [macros, "
            ~ "dbt_packages/delta_scd2/macros, dbt_packages/delta_scd2/tests/generic]' in its dbt_project.yml"
        ) -%}
    {%- endif -%}
{% endmacro %}
