"""What a release contains, when it is refused, and what publishing one calls."""

from __future__ import annotations

import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
import yaml

import release
from harness import ROOT
from release import Place, ReleaseError

VERSION = release.version_of(ROOT)
PLACE = Place("acme/delta-scd2", "https://git.example", f"v{VERSION}")
FILES = f"https://git.example/acme/delta-scd2/blob/v{VERSION}"
CHANGELOG = """# Changelog

## Unreleased

- Not yet.

## 2.0.0 - 2030-02-01

- New: [how](docs/how.md).

### Removed

- Old.

## 1.0.0 - 2030-01-01

- First.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that name a version."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "2.0.0"\n')
    (tmp_path / "dbt_project.yml").write_text("name: p\nversion: 2.0.0\nconfig-version: 2\n")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "dist").mkdir()
    return tmp_path


def test_notes_are_the_section_of_the_version(project: Path) -> None:
    assert release.notes_of(project, "2.0.0") == "- New: [how](docs/how.md).\n\n### Removed\n\n- Old."
    assert release.notes_of(project, "1.0.0") == "- First."


@pytest.mark.parametrize(
    ("file", "old", "new", "tag", "reason"),
    [
        ("dbt_project.yml", "2.0.0", "2.0.1", "v2.0.0", "name different versions"),
        ("CHANGELOG.md", "2.0.0 -", "2.0.1 -", "v2.0.0", r"write `## 2\.0\.0 - YYYY-MM-DD`"),
        ("CHANGELOG.md", "2.0.0 - 2030-02-01", "2.0.0", "v2.0.0", r"write `## 2\.0\.0 - YYYY-MM-DD`"),
        ("CHANGELOG.md", "", "", "v1.0.0", r"the tag is v1\.0\.0, but the files name 2\.0\.0"),
        ("CHANGELOG.md", "", "", "2.0.0", r"the tag is 2\.0\.0, but the files name 2\.0\.0: .* tag v2\.0\.0"),
    ],
)
def test_what_does_not_agree_is_not_built(project: Path, file: str, old: str, new: str, tag: str, reason: str) -> None:
    path = project / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ReleaseError, match=reason):
        release.build(project, project / "dist", Place("acme/p", "https://git.example", tag))


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("[a](docs/a.md#b)", "blob"),
        ("[over\nlines](docs/a.md)", "blob"),
        ("![a](docs/a.svg)", "raw"),
        ('<img src="docs/a.png" width="9">', "raw"),
    ],
)
def test_links_to_files_get_an_address(written: str, kind: str) -> None:
    address = FILES.replace("blob", kind)
    assert release.with_addresses(written, PLACE) == written.replace("docs/", f"{address}/docs/")


@pytest.mark.parametrize("written", ["[a](https://x.example/a)", "[a](#b)", '<img src="https://x.example/a.png">'])
def test_other_links_stay(written: str) -> None:
    assert release.with_addresses(written, PLACE) == written


def built(directory: Path, place: Place | None) -> tuple[Message, set[str], set[str]]:
    """The metadata of this project's wheel, its files, and those of the source distribution."""
    release.build(ROOT, directory, place)
    with zipfile.ZipFile(directory / f"delta_scd2-{VERSION}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"delta_scd2-{VERSION}.dist-info/METADATA").decode()
    with tarfile.open(directory / f"delta_scd2-{VERSION}.tar.gz") as sources:
        prefix = f"delta_scd2-{VERSION}/"
        return message_from_string(metadata), names, {name.removeprefix(prefix) for name in sources.getnames()}


def test_both_distributions_are_complete(tmp_path: Path) -> None:
    metadata, wheel, sources = built(tmp_path / "dist", PLACE)
    files = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.*")}
    files = {name for name in files if "__pycache__" not in name}
    assert f"delta_scd2-{VERSION}.dist-info/licenses/LICENSE" in wheel
    assert {name for name in wheel if ".dist-info" not in name and not name.endswith("/")} == files
    assert {"LICENSE", "README.md", "pyproject.toml", *(f"src/{name}" for name in files)} <= sources

    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Author"] == "The delta-scd2 authors"
    assert "Repository, https://git.example/acme/delta-scd2" in metadata.get_all("Project-URL", [])
    assert f"]({FILES}/CONTRIBUTING.md)" in metadata.get_payload()


def test_outside_a_workflow_no_address_is_invented(tmp_path: Path) -> None:
    metadata, _, _ = built(tmp_path / "dist", None)
    assert metadata["Project-URL"] is None
    assert "](CONTRIBUTING.md)" in metadata.get_payload()


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What uv and gh are asked, by scripts in their place."""
    log = tmp_path / "calls.txt"
    for name in ("uv", "gh"):
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        read = "; cat" if name == "gh" else ""
        script.write_text(f'#!/bin/sh\n{{ echo {name} "$@"{read}; }} >> {log}\n')
        script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setattr(release, "UV", tmp_path / "bin" / "uv")
    return log


def test_a_release_is_uploaded_and_then_announced(project: Path, calls: Path) -> None:
    dist = project / "dist"
    wheel, sources = dist / "delta_scd2-2.0.0-py3-none-any.whl", dist / "delta_scd2-2.0.0.tar.gz"
    wheel.touch()
    sources.touch()
    release.publish(project, dist, Place("acme/p", "https://git.example", "v2.0.0"))
    upload, announcement, *notes = calls.read_text().splitlines()
    assert upload == f"uv publish --trusted-publishing always {wheel} {sources}"
    assert announcement == (
        f"gh release create v2.0.0 --repo acme/p --verify-tag --title v2.0.0 --notes-file - {wheel} {sources}"
    )
    assert notes[0] == "- New: [how](https://git.example/acme/p/blob/v2.0.0/docs/how.md)."
    assert notes[-1] == "- Old."


def test_nothing_is_published_by_hand_or_by_half(project: Path, calls: Path) -> None:
    with pytest.raises(ReleaseError, match="the workflow `release` publishes"):
        release.publish(project, project / "dist", None)
    (project / "dist" / "delta_scd2-2.0.0.tar.gz").touch()
    with pytest.raises(ReleaseError, match="lacks the wheel or the source distribution"):
        release.publish(project, project / "dist", Place("acme/p", "https://git.example", "v2.0.0"))
    assert not calls.exists()


def test_only_a_tag_is_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"REF_TYPE": "tag", "REF_NAME": PLACE.tag, "REPOSITORY": PLACE.repository, "SERVER_URL": PLACE.server}
    for name, value in values.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    assert release.current_place() == PLACE
    monkeypatch.setenv("GITHUB_REF_TYPE", "branch")
    assert release.current_place() is None


def test_only_what_was_tested_is_published_and_only_for_tags() -> None:
    # PyYAML reads the key `on` as true.
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert workflow[True] == {"push": {"tags": ["v*"]}}
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in build
    assert publish["permissions"] == {"contents": "write", "id-token": "write"}
    assert publish["needs"] == "build"
    names = [
        step["with"]["name"] for job in (build, publish) for step in job["steps"] if "load-" in step.get("uses", "")
    ]
    assert names == ["dist", "dist"]
