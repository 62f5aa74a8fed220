"""The folders of `macros` are floors: each calls those above it, and no private macro of another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import yaml
from jinja2 import Environment

from harness import ROOT

MACROS = ROOT / "macros"
# From the top: a folder calls the macros of its own and of those before it.
FLOORS = [
    "lib",
    "hashing",
    "delta",
    "spark",
    "scd2/config",
    "scd2/terms",
    "scd2/state",
    "scd2/input",
    "scd2/change_set",
    "scd2/checks",
    "scd2/write",
    "scd2",
    "changelog",
    "scd1",
    "load_log",
    "point_in_time",
    "invariants",
    "migration",
    "operations",
    "codegen",
    "demo",
    # Only dbt calls these, where a project reads them as its own.
    "overrides",
]
MOST_LINES_OF_A_FILE = 200
MOST_LINES_OF_A_MACRO = 60
LONGEST_LINE = 120
MACRO = re.compile(r"{%-?\s*(macro|materialization)\s+(\w+).*?{%-?\s*end\1\s*-?%}", re.DOTALL)
# A tag with which a line begins, and which begins, divides or ends a block.
TAG_OF_BLOCK = re.compile(
    r"(?P<indent>\s*)(?P<begin>{%-?)\s*(?P<word>(?:end)?(?:macro|materialization|test|call|if|for|set)|else|elif)\b"
    r"(?P<assigns>\s+[\w., ]+=)?"
)
BETWEEN_MACROS = re.compile(r"{%-?\s*end(?:macro|materialization|test)\s*-?%}\n(\n*)(?=\S)")
EXAMPLE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
# Fields of the record of a load, or of a copy, are set where it is made; a step returns another record.
CHANGED_RECORD = re.compile(
    r"\b(?:load|copy|settings|old|feed|table|column|candidate)\.(?:\w+\.)?(?:update|setdefault|pop|append|extend)\("
)
# A check raises its message, or returns it with those of other mistakes.
REFUSAL = re.compile(r"raise_refusal\(|return\((?:mistakes\)|\[\s*')")

# `query_is_…` says that it asks Spark.
QUESTION = re.compile(
    r"_?(?:is|has|may|should|find|holds|was|can|cannot|does|needs|reads|maps|lacks|meets|tells|looks|writes)_"
    r"|(?!_?query_)\w+_(?:is|was|are)_"
)
# What a macro calls to query, to stage and to refuse; `raise_error` is SQL.
ACTS = re.compile(r"run_query|run_to_its_end|run_script|statement|stage_\w+|raise_(?!error)\w+")


class Macro:
    """A macro, by where it stands and what it calls."""

    def __init__(self, path: Path, name: str, text: str) -> None:
        self.path, self.name, self.text = path, name, text
        self.folder = path.parent.relative_to(MACROS).as_posix()
        self.is_hidden = name.startswith("_") or "materialization" in text[:20]
        self.calls = set(re.findall(r"\b([a-z_]*[a-z]\w*)\(", text)) - {name}


def macros() -> dict[str, Macro]:
    found = [
        Macro(path, match[2], match[0])
        for path in sorted(MACROS.rglob("*.sql"))
        for match in MACRO.finditer(path.read_text())
    ]
    return {macro.name: macro for macro in found}


def bare_calls(template: str) -> set[str]:
    """The names that a template calls without a prefix, outside of its texts, comments and SQL."""
    tokens = [
        (kind, text)
        for _, kind, text in Environment(autoescape=True).lexer.tokeniter(template, None)
        if kind in ("block_begin", "variable_begin", "name", "operator")
    ]
    no_calls = [("name", "macro"), ("name", "test"), ("operator", "."), ("operator", "|")]
    return {
        called
        for before, (kind, called), after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if kind == "name" and after == ("operator", "(") and before not in no_calls
    }


def calls_between_folders() -> Iterator[tuple[Macro, Macro]]:
    known = macros()
    for caller in known.values():
        for name in sorted(caller.calls & known.keys()):
            if known[name].folder != caller.folder:
                yield caller, known[name]


def test_each_folder_is_a_floor() -> None:
    assert {macro.folder for macro in macros().values()} == set(FLOORS)


def test_a_folder_calls_none_below_it() -> None:
    below = [
        f"{caller.name} in {caller.folder} calls {called.name} in {called.folder}"
        for caller, called in calls_between_folders()
        if FLOORS.index(called.folder) > FLOORS.index(caller.folder)
    ]
    assert below == []


def test_a_private_macro_is_called_from_its_own_folder() -> None:
    private = [
        f"{caller.name} in {caller.folder} calls {called.name} in {called.folder}"
        for caller, called in calls_between_folders()
        if called.name.startswith("_")
    ]
    assert private == []


def test_macros_call_each_other_by_the_name_of_the_package() -> None:
    text = "{% macro x() %}{{ own(a.b(), c | d()) ~ 'e()' }}{# f() #} g() {% endmacro %}"
    assert bare_calls(text) == {"own"}
    files = [*MACROS.rglob("*.sql"), *(ROOT / "tests" / "generic").glob("*.sql")]
    known = macros().keys()
    bare = {str(path.relative_to(ROOT)): bare_calls(path.read_text()) & known for path in files}
    assert {path: sorted(names) for path, names in bare.items() if names} == {}


def test_what_is_called_by_the_name_of_the_package_is_there() -> None:
    files = [*MACROS.rglob("*.sql"), *(ROOT / "tests" / "generic").glob("*.sql"), ROOT / "dbt_project.yml"]
    called = {name for path in files for name in re.findall(r"\bdelta_scd2\.(\w+)\(", path.read_text())}
    assert len(called) > 400
    assert sorted(called - macros().keys()) == []


def test_a_macro_fits_on_a_screen() -> None:
    files = {path: path.read_text().count("\n") for path in MACROS.rglob("*.sql")}
    assert {str(path): lines for path, lines in files.items() if lines > MOST_LINES_OF_A_FILE} == {}
    lengths = {name: macro.text.count("\n") + 1 for name, macro in macros().items()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_MACRO} == {}


def templates() -> list[Path]:
    return [*MACROS.rglob("*.sql"), *(ROOT / "tests" / "generic").glob("*.sql")]


def test_a_line_fits_in_a_window() -> None:
    lines = [(path.name, line) for path in templates() for line in path.read_text().splitlines()]
    assert [(name, line) for name, line in lines if len(line) > LONGEST_LINE] == []


def slips(template: str) -> Iterator[str]:
    """Where a file of macros is laid out otherwise than the others."""
    if not template.endswith("\n") or template.endswith("\n\n"):
        yield "does not end with one line break"
    open_blocks: list[str] = []
    for number, line in enumerate(template.splitlines(), start=1):
        if "\t" in line or line != line.rstrip():
            yield f"{number}: a tab, or blanks at the end"
        tag = TAG_OF_BLOCK.match(line)
        if not tag or (tag["word"] == "set" and tag["assigns"]):
            continue
        if tag["word"] in ("else", "elif") or tag["word"].startswith("end"):
            # Blanks before a tag that strips none would be part of the SQL.
            beginning = open_blocks[-1] if tag["begin"] == "{%-" else ""
            if tag["indent"] != beginning:
                yield f"{number}: {tag['word']} is not below the beginning of its block"
            if tag["word"].startswith("end"):
                open_blocks.pop()
        elif f"end{tag['word']} " not in line:
            open_blocks.append(tag["indent"])
    for blank_lines in BETWEEN_MACROS.findall(template):
        if len(blank_lines) != 2:
            yield f"{len(blank_lines)} blank line(s) between two macros"


def test_files_of_macros_are_laid_out_alike() -> None:
    macro = "{% macro x() %}\n    {%- if y %}\nselect 1\n    {%- endif %}\n{% endmacro %}\n"
    assert list(slips(f"{macro}\n\n{{# About it. #}}\n{macro}")) == []
    assert list(slips(macro.replace("    {%- endif", "{%- endif")))
    assert list(slips(macro.replace("{%- endif", "{% endif")))
    assert list(slips(macro.replace("select 1", "select 1 ")))
    assert list(slips(macro.replace("    {%- if", "\t{%- if")))
    assert list(slips(macro + "\n"))
    assert list(slips(f"{macro}\n{macro}"))
    found = {str(path.relative_to(ROOT)): list(slips(path.read_text())) for path in templates()}
    assert {name: places for name, places in found.items() if places} == {}


def test_every_macro_is_called() -> None:
    texts = [path.read_text() for folder in ("macros", "models", "tests") for path in (ROOT / folder).rglob("*.sql")]
    called = set(re.findall(r"\b(\w+)\(", "\n".join(re.sub(r"{%-?\s*macro\s+\w+", "", text) for text in texts)))
    assert sorted(name for name in macros() if name.startswith("_") and name not in called) == []


def test_no_step_changes_the_record_of_a_load() -> None:
    changed = {name: CHANGED_RECORD.findall(macro.text) for name, macro in macros().items()}
    assert {name: found for name, found in changed.items() if found} == {}


def test_options_are_compared_where_they_are_read() -> None:
    options = "source_kind|hard_deletes|surrogate_key|merge_plan|on_schema_change"
    compared = re.compile(rf"\b(?:{options}) (?:==|!=|in|not in) ['\[]")
    found = {name: compared.findall(macro.text) for name, macro in macros().items()}
    assert {macros()[name].folder for name in found if found[name]} == {"scd2/config"}


def test_what_models_and_guides_call_is_described() -> None:
    described = {
        macro["name"] for path in MACROS.rglob("*.yml") for macro in yaml.safe_load(path.read_text()).get("macros", [])
    }
    pages = [
        ROOT / "README.md",
        *(page for part in ("guides", "reference") for page in (ROOT / "docs" / part).glob("*.md")),
    ]
    texts = [block for page in pages for block in EXAMPLE.findall(page.read_text())]
    texts += [path.read_text() for folder in ("models", "snapshots") for path in (ROOT / folder).rglob("*.sql")]
    shown = set(re.findall(r"\w+", "\n".join(texts)))
    called = {name for name, macro in macros().items() if name in shown and not macro.is_hidden}
    operations = set(re.findall(r"run-operation (\w+)", "\n".join(page.read_text() for page in pages)))
    assert called >= {"as_of_join", "hash_key", "latest_changes"}
    assert sorted((called | operations) - described) == []


def test_how_a_load_works_is_told_in_one_page() -> None:
    page = (ROOT / "docs" / "how-a-load-works.md").read_text()
    links = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([\w./-]+)", page)}
    assert [link for link in links if not link.exists()] == []
    assert {*(MACROS / "scd2" / "checks").glob("*.sql")} - links == set()

    record = page.split("## The record of a load")[1]
    fields = {
        field
        for macro in macros().values()
        if macro.folder.startswith("scd2")
        for field in re.findall(r"\bload\.(\w+)\b(?!\()", macro.text)
    }
    assert "pending_extracts" in fields
    assert sorted(fields - {*re.findall(r"`(\w+)`", record)}) == []


def listed_checks() -> dict[str, list[str]]:
    """What a load checks, in the order of the page, and the files that hold each check."""
    page = (ROOT / "docs" / "how-a-load-works.md").read_text()
    table = page.split("## What is checked, in order")[1].split("\n\n|")[1].split("\n\n")[0]
    rows = re.findall(r"^\|[^|]*\| ([^\[|]+): (\[[^|]*) \|$", table, re.MULTILINE)
    assert len(rows) == table.count("\n") - 1
    return {words: re.findall(r"\]\(\.\./macros/([\w./]+)", links) for words, links in rows}


def checks_as_they_are_called(name: str, known: dict[str, Macro], seen: set[str]) -> Iterator[str]:
    """The files of checks, in the order in which a macro comes to what they refuse."""
    seen.add(name)
    macro = known[name]
    if macro.folder == "scd2/checks" and REFUSAL.search(macro.text):
        yield macro.path.relative_to(MACROS).as_posix()
    for call in re.findall(r"\b([a-z_]*[a-z]\w*)\(", macro.text):
        if call in known and call not in seen:
            yield from checks_as_they_are_called(call, known, seen)


def test_checks_are_listed_in_the_order_in_which_a_load_makes_them() -> None:
    listed = [file for files in listed_checks().values() for file in files if file.startswith("scd2/checks/")]
    known = macros()
    seen: set[str] = set()
    steps = ["check_full_refresh", "check_repeated_columns", "_prepare_load", "stage_input"]
    steps += ["_plan_load", "_stage_changes", "_write"]
    called = [file for step in steps for file in checks_as_they_are_called(step, known, seen)]
    assert listed == called


def test_each_check_is_one_file() -> None:
    refusing = [macro for macro in macros().values() if macro.folder == "scd2/checks" and REFUSAL.search(macro.text)]
    assert set(Counter(macro.path for macro in refusing).values()) == {1}


def test_the_guide_follows_the_order_of_the_checks() -> None:
    guide = (ROOT / "docs" / "guides" / "when-something-goes-wrong.md").read_text()
    table = guide.split("## What a load refuses, in order")[1].split("\n## ")[0]
    told = re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE)
    assert told[2:] == list(listed_checks())


def macros_that_act() -> dict[str, str]:
    """The macros that query, stage or refuse, by themselves or by others, and what they call for it."""
    known = macros()
    acting: dict[str, str] = {}
    while found := {
        name: sorted(called)[0]
        for name, macro in known.items()
        if name not in acting and (called := {call for call in macro.calls if ACTS.fullmatch(call) or call in acting})
    }:
        acting |= found
    return acting


def test_a_question_neither_queries_nor_stages_nor_refuses() -> None:
    acting = macros_that_act()
    assert acting["check_duplicates"]
    assert {name: call for name, call in acting.items() if QUESTION.match(name)} == {}
