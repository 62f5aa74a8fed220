"""Build a release, and publish it.

`build` writes the wheel and the source distribution to `dist`. `publish` uploads them to the package
index and makes a release on GitHub with the notes from `CHANGELOG.md`; the workflow runs both for a
tag. There, the address of the repository is known: the package names it, and its description links
to the files of the tag.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
# What a source distribution is built from.
SOURCES = ("LICENSE", "README.md", "pyproject.toml", "src")
RELATIVE_LINK = re.compile(r"""(\]\(|src(?:set)?=")(?!\w+:|#)([^)"\s]+)""")
PICTURES = (".gif", ".jpg", ".png", ".svg", ".webp")


class ReleaseError(Exception):
    """A reason not to release; its text is printed."""


@dataclass(frozen=True)
class Place:
    """A tag of a repository on GitHub, as its workflows know it."""

    repository: str
    server: str
    tag: str

    @property
    def address(self) -> str:
        return f"{self.server}/{self.repository}"


def current_place() -> Place | None:
    """The tag for which a workflow runs, or None elsewhere."""
    if os.environ.get("GITHUB_REF_TYPE") != "tag":
        return None
    return Place(*(os.environ[f"GITHUB_{name}"] for name in ("REPOSITORY", "SERVER_URL", "REF_NAME")))


def version_of(project: Path) -> str:
    """The version that both halves name."""
    python = str(tomllib.loads((project / "pyproject.toml").read_text())["project"]["version"])
    found = re.search(r"^version: (\S+)$", (project / "dbt_project.yml").read_text(), re.MULTILINE)
    if found is None or found[1] != python:
        raise ReleaseError(f"pyproject.toml and dbt_project.yml name different versions: write {python} in both")
    return python


def notes_of(project: Path, version: str) -> str:
    """The section of the changelog for a version, without its heading."""
    text = (project / "CHANGELOG.md").read_text()
    heading = rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$"
    found = re.search(rf"{heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise ReleaseError(f"CHANGELOG.md has no section for {version} with a date: write `## {version} - YYYY-MM-DD`")
    return found[1].strip()


def check(project: Path, place: Place | None) -> str:
    """Return the version, if the project can be released under the tag."""
    version = version_of(project)
    notes_of(project, version)
    if place is not None and place.tag != f"v{version}":
        raise ReleaseError(f"the tag is {place.tag}, but the files name {version}: set the version, or tag v{version}")
    return version


def with_addresses(text: str, place: Place) -> str:
    """Markdown whose links do not depend on where it is read."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[2].endswith(PICTURES) else "blob"
        return f"{link[1]}{place.address}/{kind}/{place.tag}/{link[2]}"

    return RELATIVE_LINK.sub(absolute, text)


def build(project: Path, dist: Path, place: Place | None) -> None:
    """Build both distributions of a version that can be released."""
    check(project, place)
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory)
        for name in SOURCES:
            source = project / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy)
        if place is not None:
            readme = copy / "README.md"
            readme.write_text(with_addresses(readme.read_text(), place))
            with (copy / "pyproject.toml").open("a") as settings:
                settings.write(
                    f'\n[project.urls]\nRepository = "{place.address}"\n'
                    f'Changelog = "{place.address}/blob/{place.tag}/CHANGELOG.md"\n'
                    f'Issues = "{place.address}/issues"\n'
                )
        subprocess.run([UV, "build", "--quiet", "--out-dir", dist, copy], check=True)
    print("release:", *sorted(path.name for path in dist.glob("delta_scd2-*")))


def publish(project: Path, dist: Path, place: Place | None) -> None:
    """Upload the distributions in a directory, and make a release of them."""
    if place is None:
        raise ReleaseError("the workflow `release` publishes, when a tag is pushed: see CONTRIBUTING.md")
    version = check(project, place)
    files = sorted(dist.glob(f"delta_scd2-{version}*"))
    if [path.suffix for path in files] != [".whl", ".gz"]:
        raise ReleaseError(f"{dist.name} lacks the wheel or the source distribution of {version}: run `make dist`")
    subprocess.run([UV, "publish", "--trusted-publishing", "always", *files], check=True)
    release = ["gh", "release", "create", place.tag, "--repo", place.repository, "--verify-tag"]
    subprocess.run(
        [*release, "--title", place.tag, "--notes-file", "-", *files],
        input=with_addresses(notes_of(project, version), place), text=True, check=True,
    )  # fmt: skip


def main(command: str) -> int:
    try:
        {"build": build, "publish": publish}[command](ROOT, ROOT / "dist", current_place())
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
