"""A profile that the guide shows, and that of the project that uses the package, have the settings of the demo's."""

from __future__ import annotations

import re

import pytest
import yaml

from harness import ROOT

# What another project chooses for itself, or has in another way.
OF_THE_DEMO = {
    "spark.driver.memory",
    # Jars from a directory; the guide lets Spark resolve them.
    "spark.driver.extraClassPath",
    # Derby's own defaults, which only a metastore in a database needs.
    "spark.hadoop.javax.jdo.option.ConnectionDriverName",
    "spark.hadoop.javax.jdo.option.ConnectionUserName",
    "spark.hadoop.javax.jdo.option.ConnectionPassword",
}


def profiles() -> dict[str, str]:
    """The texts of the two profiles, by where they stand."""
    guide = (ROOT / "docs" / "guides" / "use-it-in-your-project.md").read_text()
    shown = [block for block in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if "server_side_parameters" in block]
    return {"guide": shown[0], "integration_tests": (ROOT / "integration_tests" / "profiles.yml").read_text()}


@pytest.mark.parametrize("place", ["guide", "integration_tests"])
def test_a_profile_has_the_settings_of_the_demo(place: str) -> None:
    settings = yaml.safe_load(profiles()[place])["shop"]["outputs"]["dev"]["server_side_parameters"]
    demo = yaml.safe_load((ROOT / "profiles.yml").read_text())["shared"]["driver"]
    assert set(demo) - set(settings) - OF_THE_DEMO == set()
    fixed = [name for name in settings if name in demo and "{{" not in f"{demo[name]}{settings[name]}"]
    differing = [name for name in fixed if settings[name] != demo[name]]
    assert differing == []
    assert settings["spark.log.level"] == "OFF"
