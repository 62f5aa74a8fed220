"""Random statements on a table that is followed and copied, against an oracle that knows the rows of every version."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

import pytest
from pyspark.sql import SparkSession

from harness import DbtProject

# A row: scenario, id, load, text, tags (a map, whose order says nothing), number.
Line = tuple[int, int, int, "str | None", "frozenset[tuple[str, int]] | None", "float | None"]
DDL = "s int, id int, load int, v string, tags map<string, int>, x double"
MODEL = """
{{ config(
    materialized='scd2', source_kind='changelog', unique_key=['s', 'id'], effective_at='_commit_timestamp',
    sequence_by='_commit_version', hard_deletes='<deletes>', scd2_columns={'surrogate_key': 'sk'}
) }}
select * from ({{ delta_scd2.changes_since_last_run(target.schema ~ '.<table>'<latest>) }})
"""
SQL_COPY = """
{{ config(materialized='scd1', unique_key=['s', 'id'], change_ordinal='_commit_version') }}
with events as (
    select * except (_commit_timestamp) from table_changes('{{ target.schema }}.plain', <first>)
)
{{ delta_scd2.latest_changes(
    'events', ['s', 'id'], change_ordinal='_commit_version', table=target.schema ~ '.plain'
) }}
"""
PYTHON_COPY = """
from delta_scd2 import latest_changes


def model(dbt, session):
    dbt.config(materialized="scd1", unique_key=["s", "id"], change_ordinal="_commit_version")
    table = f"{dbt.this.schema}.plain"
    events = session.sql(f"select * except (_commit_timestamp) from table_changes('{table}', <first>)")
    return latest_changes(events, ["s", "id"], change_ordinal="_commit_version", table=session.table(table))
"""
COPIES = {"sql": SQL_COPY, "py": PYTHON_COPY}
FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"


@dataclass
class Followed:
    """A table, and the rows that each of its versions holds. `rivals` lets a key have different rows at a time."""

    spark: SparkSession
    name: str
    scenarios: int
    rng: random.Random
    rivals: bool
    versions: dict[int, Counter[Line]] = field(default_factory=dict)
    loads: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.spark.sql(f"create table {self.name} ({DDL}) {FEED}")
        self._keep(Counter())
        self._rows("")

    @property
    def now(self) -> Counter[Line]:
        return self.versions[max(self.versions)]

    def step(self) -> None:
        """One statement, of which many scenarios take their share."""
        kinds = ["rows", "take", "update", "move", "merge", "overwrite", "restore", "rewrite", "nothing", "truncate"]
        kind = self.rng.choices(kinds, weights=[6, 6, 4, 1, 4, 3, 2, 1, 1, 1])[0]
        share = f"(s * 5 + id * 3 + {self.rng.randrange(9)}) % 3 = 0"
        getattr(self, "_" + kind)(share)

    def _rows(self, _share: str) -> None:
        lines = self._mixture()
        self._give(lines)
        self.spark.sql(f"insert into {self.name} select * from given")
        self._keep(self.now + Counter(lines))

    def _take(self, _share: str) -> None:
        gone = [line for line in self.now if self.rng.random() < 0.3]
        self._give(gone)
        self.spark.sql(
            f"merge into {self.name} as t using (select distinct s, id, load from given) as g "
            "on t.s = g.s and t.id = g.id and t.load = g.load when matched then delete"
        )
        keys = {line[:3] for line in gone}
        self._keep(Counter({line: n for line, n in self.now.items() if line[:3] not in keys}))

    def _update(self, share: str) -> None:
        self.spark.sql(f"update {self.name} set v = concat(v, '+'), load = load + 100000 where {share}")
        self._change(share, lambda r: (r[0], r[1], r[2] + 100000, None if r[3] is None else r[3] + "+", r[4], r[5]))

    def _move(self, share: str) -> None:
        step = 1000 * len(self.versions)
        self.spark.sql(f"update {self.name} set id = id + {step} where {share}")
        self._change(share, lambda r: (r[0], r[1] + step, *r[2:]))

    def _rewrite(self, share: str) -> None:
        self.spark.sql(f"update {self.name} set v = v where {share}")
        self._keep(self.now)

    def _merge(self, _share: str) -> None:
        keys = {line[:2] for line in self._mixture()} | {line[:2] for line in self.now if self.rng.random() < 0.3}
        lines = [self._line(*key) for key in sorted(keys)]
        self._give(lines)
        self.spark.sql(
            f"merge into {self.name} as t using given as g on t.s = g.s and t.id = g.id "
            "when matched and g.load % 3 = 0 then delete when matched then update set * "
            "when not matched then insert *"
        )
        given = {line[:2]: line for line in lines}
        after: Counter[Line] = Counter(line for key, line in given.items() if key not in {r[:2] for r in self.now})
        for line, n in self.now.items():
            new = given.get(line[:2], line)
            if line[:2] not in given or new[2] % 3:
                after[new] += n
        self._keep(after)

    def _overwrite(self, _share: str) -> None:
        stay = [line for line, n in self.now.items() for _ in range(n) if self.rng.random() < 0.5]
        self.versions[max(self.versions) + 1] = Counter(stay)
        new = self._mixture()
        del self.versions[max(self.versions)]
        self._give(stay + new)
        self.spark.sql(f"insert overwrite {self.name} select * from given")
        self._keep(Counter(stay + new))

    def _restore(self, _share: str) -> None:
        version = self.rng.choice(list(self.versions))
        self.spark.sql(f"restore table {self.name} to version as of {version}")
        self._keep(self.versions[version])

    def _nothing(self, _share: str) -> None:
        self.spark.sql(f"optimize {self.name}")
        self.spark.sql(f"alter table {self.name} set tblproperties ('note' = '{len(self.versions)}')")
        self._keep(self.now)

    def _truncate(self, _share: str) -> None:
        self.spark.sql(f"delete from {self.name}")
        self._keep(Counter())

    def _line(self, s: int, number: int) -> Line:
        tags = self.rng.choice([None, frozenset({("a", 1)}), frozenset({("a", 1), ("b", 2)})])
        value = self.rng.choice([None, "", "p", "q"])
        load = self.rng.randrange(4) if not self.rivals else next(self.loads)
        return (s, number, load, value, tags, self.rng.choice([None, 0.0, -0.0, 1.5]))

    def _mixture(self) -> list[Line]:
        """New rows, and rows that are there already once more."""
        present: dict[tuple[int, ...], list[Line]] = defaultdict(list)
        for line in self.now:
            present[line[:2]].append(line)
        lines: list[Line] = []
        for s in range(self.scenarios):
            for number in range(3):
                known = present[s, number]
                if self.rng.random() < 0.5:
                    is_new = not known or (self.rivals and self.rng.random() < 0.3)
                    line = self._line(s, number) if is_new else self.rng.choice(known)
                    lines += [line] * self.rng.choice([1, 1, 1, 2])
        return lines

    def _change(self, share: str, change: Callable[[Line], Line]) -> None:
        offset = int(share.split("+")[2].split(")")[0])
        after: Counter[Line] = Counter()
        for line, n in self.now.items():
            after[change(line) if (line[0] * 5 + line[1] * 3 + offset) % 3 == 0 else line] += n
        self._keep(after)

    def _give(self, lines: list[Line]) -> None:
        def given(line: Line) -> tuple:
            entries = list(line[4] or [])
            self.rng.shuffle(entries)
            return (*line[:4], None if line[4] is None else dict(entries), line[5])

        self.spark.createDataFrame([given(line) for line in lines], DDL).coalesce(1).createOrReplaceTempView("given")

    def _keep(self, rows: Counter[Line]) -> None:
        """The newest version holds these rows; versions that the statement made on the way hold them too."""
        version = self.spark.sql(f"describe history {self.name} limit 1").head().version
        for number in range(max(self.versions, default=-1) + 1, version + 1):
            self.versions[number] = Counter(rows)

    def at_odds(self, since: int) -> list[str]:
        """Up to ten keys with different rows in a version from one on, as a message names them."""
        keys = set()
        for version in range(since, max(self.versions) + 1):
            lines = set(self.versions[version])
            keys |= {key for key, n in Counter(line[:2] for line in lines).items() if n > 1}
        return sorted(f"s {s}, id {number}" for s, number in keys)[:10]

    def states(self, version: int) -> dict[tuple[int, ...], set[Line]]:
        """The rows that count, by key: where several differ, those of the greatest load."""
        by_key: dict[tuple[int, ...], set[Line]] = defaultdict(set)
        for line in self.versions[version]:
            by_key[line[:2]].add(line)
        return {key: {r for r in rows if r[2] == max(o[2] for o in rows)} for key, rows in by_key.items()}


def stored(project: DbtProject, name: str) -> list[tuple]:
    query = (
        "select s, id, load, v, tags, x, unix_micros(effective_from), unix_micros(effective_to), is_deleted, is_current"
        f" from {{schema}}.{name}"
    )
    rows = (tuple(row) for row in project.sql(query))
    return [(*r[:4], None if r[4] is None else frozenset(r[4].items()), *r[5:]) for r in rows]


def copied(project: DbtProject) -> Counter[Line]:
    rows = (tuple(row) for row in project.sql("select s, id, load, v, tags, x from {schema}.copy_plain"))
    return Counter((*r[:4], None if r[4] is None else frozenset(r[4].items()), r[5]) for r in rows)


def as_of(versions: list[tuple], ts: int, tombstones: bool) -> Counter[Line]:
    return Counter(r[:6] for r in versions if r[6] <= ts < r[7] and not (tombstones and r[8]))


def micros(ts: datetime) -> int:
    return round(ts.astimezone(UTC).timestamp() * 1_000_000)


def differ(project: DbtProject, table: Followed, name: str, since: int, tombstones: bool) -> None:
    """The dimension gives, at the time of each version that it has read, the rows of that version."""
    versions = stored(project, name)
    for commit in project.sql(f"describe history {table.name}"):
        if commit.version >= since:
            states = table.states(commit.version)
            expected = Counter({line: 1 for lines in states.values() for line in lines})
            assert as_of(versions, micros(commit.timestamp), tombstones) == expected, (name, commit.version)
    live = Counter(r[:6] for r in versions if r[9] and not r[8])
    assert live == Counter({line: 1 for lines in table.states(max(table.versions)).values() for line in lines})


@pytest.mark.parametrize(
    ("seed", "scenarios", "rounds", "steps", "at_odds"),
    # The steps of 231 overwrite and merge, go back to the empty table, and fill it again.
    [(231, 40, 1, 5, False), *(pytest.param(seed, 60, 4, 6, True, marks=pytest.mark.slow) for seed in (2, 3))],
)
def test_live_rows_and_past_ones_are_those_of_the_table(
    make_project, spark, seed, scenarios, rounds, steps, at_odds
) -> None:
    rng = random.Random(seed)
    models = {"dim_plain": ("plain", "", "soft_delete")}
    # What becomes of rows at odds is held by test_feeds_of_feeds, too; their tombstones by the slow seeds alone.
    if at_odds:
        models["dim_latest"] = ("rivals", ", latest_by='load'", "new_record")
        models["dim_at_odds"] = ("rivals", "", "soft_delete")
    project = make_project(
        {
            f"models/{name}.sql": MODEL.replace("<table>", table)
            .replace("<latest>", latest)
            .replace("<deletes>", deletes)
            for name, (table, latest, deletes) in models.items()
        }
    )
    project.sql("create schema if not exists {schema}")
    plain = Followed(spark, f"{project.schema}.plain", scenarios, rng, rivals=False)
    tables = [plain]
    if at_odds:
        rivals = Followed(spark, f"{project.schema}.rivals", scenarios, rng, rivals=True)
        tables.append(rivals)
    first = {table.name: max(table.versions) for table in tables}
    first_change = 0
    for turn in range(rounds + 1):
        for table in tables:
            for _ in range(steps if turn else 0):
                table.step()
        # Loads of the copy are in SQL and in Python by turns.
        language, other = [("sql", "py"), ("py", "sql")][turn % 2]
        project.write({f"models/copy_plain.{language}": COPIES[language].replace("<first>", str(first_change))})
        (project.directory / f"models/copy_plain.{other}").unlink(missing_ok=True)
        run = project.dbt("run")
        first_change = max(plain.versions) + 1
        results = {r.node.name: r for r in run.result.results}
        for name in results.keys() - {"dim_at_odds"}:
            assert results[name].status == "success", results[name].message
        if at_odds:
            keys = rivals.at_odds(first[rivals.name])
            assert results["dim_at_odds"].status == ("error" if keys else "success"), results["dim_at_odds"].message
            assert "; ".join(keys) in results["dim_at_odds"].message
            differ(project, rivals, "dim_latest", first[rivals.name], tombstones=True)
        assert copied(project) == Counter(
            {line: 1 for lines in plain.states(max(plain.versions)).values() for line in lines}
        )
        differ(project, plain, "dim_plain", first[plain.name], tombstones=False)
