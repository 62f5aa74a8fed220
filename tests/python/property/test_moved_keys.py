"""Updates that change keys, as a log has them with the row before and after: the old key ends when its update says."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from random import Random

import pytest

from harness import INVARIANTS, DbtProject, tuples
from oracle import COLUMNS, Event, apply_events

START = datetime(2024, 1, 1)
BATCHES = 3
MODEL = """
{{ config(
    materialized='scd2', source_kind='<kind>', unique_key='id', effective_at='at', sequence_by='seq',
    change_type='_change_type', track_columns='value', scd2_columns={'surrogate_key': 'sk'}
) }}
select * from {{ target.schema }}.batch
"""
FEED = MODEL.replace("'seq'", "'_commit_version'").replace(" *", " * except (seq), bigint(seq) as _commit_version")
MODELS = {"changelog": FEED.replace("<kind>", "changelog"), "increment": MODEL.replace("<kind>", "increment")}
DDL = "id string, value string, at timestamp, seq int, _change_type string"
Row = tuple[str, "str | None", datetime, int, str]


def random_log(random: Random, scenario: int) -> tuple[list[list[Row]], dict[str, list[Event]]]:
    """Batches of the rows of a log, and the events of each key.

    A row has the time of its last update, so the row before an update has an older one.
    """
    live: dict[str, Row] = {}
    events: dict[str, list[Event]] = defaultdict(list)
    batches: list[list[Row]] = []
    names = iter(range(100))
    gone: list[str] = []
    for number in range(BATCHES):
        rows: list[Row] = []
        moved: list[str] = []
        for step in range(random.randint(0, 6)):
            seq = scenario * 1000 + number * 10 + step
            at = START + timedelta(hours=number * 10 + step)
            fresh = random.choice(gone) if gone and random.random() < 0.5 else f"{scenario}-{next(names)}"
            old = live.get(random.choice([*live, fresh]))
            if old is not None and random.random() < 0.2:
                del live[old[0]]
                rows.append((old[0], None, at, seq, "delete"))
                events[old[0]].append((at, "delete", None))
                continue
            keeps_its_key = old is not None and random.random() < 0.5
            key = old[0] if old is not None and keeps_its_key else fresh
            new: Row = (key, random.choice([None, "a", "b"]), at, seq, "insert" if old is None else "update_after")
            if old is not None:
                rows.append((*old[:3], seq, "update_before"))
                if not keeps_its_key:
                    del live[old[0]]
                    moved.append(old[0])
                    events[old[0]].append((at, "delete", None))
            if key in gone:
                gone.remove(key)
            live[key] = new
            rows.append(new)
            events[key].append((at, "upsert", new[1]))
        # In the batch in which a key went, a row of it that comes again would look like the rest of an update.
        gone += moved
        random.shuffle(rows)
        batches.append(rows)
    return batches, events


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_the_old_key_ends_with_the_update(make_project, seed: int) -> None:
    random = Random(seed)
    logs = [random_log(random, scenario) for scenario in range(200)]
    yaml = "models:\n" + "".join(f"  - {{name: dim_{kind}, data_tests: {INVARIANTS}}}\n" for kind in MODELS)
    project: DbtProject = make_project(
        {f"models/dim_{kind}.sql": model for kind, model in MODELS.items()} | {"models/models.yml": yaml}
    )
    for number in range(BATCHES):
        project.load("batch", DDL, [row for batches, _ in logs for row in batches[number]])
        project.succeed("run")
    expected = apply_events([{key: said for _, events in logs for key, said in events.items()}])
    for kind in MODELS:
        assert tuples(project.sql(f"select {COLUMNS} from {{schema}}.dim_{kind} order by id, 3")) == expected, kind
    project.succeed("test")


def test_an_update_whose_rows_do_not_belong_together_is_refused(make_project) -> None:
    """Nothing says when the key changed without a sequence, with one of the rows' own, or of updates of two times."""
    unordered = MODEL.replace(" sequence_by='seq',", "").replace("<kind>", "increment")
    project: DbtProject = make_project(
        {
            "models/dim_unordered.sql": unordered,
            "models/dim_counted.sql": MODEL.replace("<kind>", "changelog"),
            "models/dim_kept.sql": unordered.replace("'value',", "'value', hard_deletes='ignore',"),
        }
    )
    project.load("batch", DDL, [(key, "x", START, 1, "insert") for key in "abd"])
    project.succeed("run")
    later = START + timedelta(hours=1)
    rows = [("a", "x", START, 1, "update_before"), ("c", "x", later, 2, "update_after")]
    rows += [("b", "x", START, 1, "update_before"), ("b", "y", later, 2, "update_after")]
    rows += [("d", "x", START, 3, "update_before"), ("e", "x", later, 3, "update_after")]
    project.load("batch", DDL, [*rows, ("f", "x", later + timedelta(hours=1), 3, "update_after")])
    results = {r.node.name: r for r in project.dbt("run").result.results}
    for name in ("dim_unordered", "dim_counted"):
        message = str(results[name].message)
        assert "2 row(s) whose `_change_type` is unknown: id a; id d" in message
        assert "where an update changes the key, the rows before and after it need the same `sequence_by`" in message
    assert results["dim_kept"].status == "success"
    live = "select id, value from {schema}.dim_kept where is_current order by id"
    assert tuples(project.sql(live)) == [(key, "y" if key == "b" else "x") for key in "abcdef"]


def test_an_update_whose_other_row_is_left_out_ends_its_key(make_project) -> None:
    """Of a feed, the rows of a version may all have the time of its commit, under another name."""
    project: DbtProject = make_project({"models/dim_left.sql": MODELS["changelog"]})
    moved = START + timedelta(hours=1)
    for row in (("a", "x", START, 1, "insert"), ("a", "x", moved, 2, "update_before")):
        project.load("batch", DDL, [row])
        project.succeed("run")
    assert project.history("dim_left", "effective_from, effective_to, is_deleted") == [(START, moved, True)]
