"""A warehouse on an S3 API, with the profile of the guide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from harness import INVARIANTS, PROJECT_YML, ROOT, DbtProject, session, tuples
from isolated_warehouse import IsolatedWarehouse
from object_store import ACCOUNT, ObjectStore, object_store

pytestmark = pytest.mark.slow

EXTRACTS = """id,city,extracted_at
1,Lima,2024-01-01 00:00:00
2,Cusco,2024-01-01 00:00:00
3,Puno,2024-01-01 00:00:00
1,Ica,2024-01-02 00:00:00
2,Cusco,2024-01-02 00:00:00
4,Tacna,2024-01-02 00:00:00
"""
OPTIONS = "materialized='scd2', unique_key='id', effective_at='extracted_at'"
SQL = f"""
{{{{ config({OPTIONS}) }}}}
select * from {{{{ ref('extracts') }}}} where extracted_at <= timestamp '{{{{ var("until") }}}}'
"""
EVENTS = SQL.replace("') }}", "', source_kind='changelog') }}", 1).replace("*", "*, 'update' as _change_type")
PYTHON = f"""
def model(dbt, session):
    dbt.config({OPTIONS})
    until = dbt.config.get("meta")["until"]
    return dbt.ref("extracts").where(f"extracted_at <= timestamp '{{until}}'")
"""
SCHEMA = f"""
version: 2
models:
  - {{name: dim_city, data_tests: {INVARIANTS}}}
  - {{name: dim_city_events, data_tests: {INVARIANTS}}}
  - {{name: dim_city_py, data_tests: {INVARIANTS}, config: {{meta: {{until: "{{{{ var('until') }}}}"}}}}}}
seeds:
  - {{name: extracts, config: {{column_types: {{id: int, extracted_at: timestamp}}}}}}
"""
FIRST, SECOND = (["--vars", f"until: '{until}'"] for until in ("2024-01-01", "2024-01-02"))

DAY, NEXT_DAY, OPEN = datetime(2024, 1, 1), datetime(2024, 1, 2), datetime(9999, 12, 31)
# The third city is not in the second extract.
ENDED, KEPT = (3, "Puno", DAY, NEXT_DAY, True, True), (3, "Puno", DAY, OPEN, True, False)
VERSIONS = [
    (1, "Ica", NEXT_DAY, OPEN, True, False),
    (1, "Lima", DAY, NEXT_DAY, False, False),
    (2, "Cusco", DAY, OPEN, True, False),
    ENDED,
    (4, "Tacna", NEXT_DAY, OPEN, True, False),
]
VERSIONS_OF_EVENTS = [KEPT if version == ENDED else version for version in VERSIONS]


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    with object_store() as started:
        yield started


@pytest.fixture
def project(tmp_path: Path, store: ObjectStore) -> Path:
    """A project with the guide's profile, for the bucket of the test."""
    guide = (ROOT / "docs" / "guides" / "object-storage.md").read_text()
    profile, *of_other_stores = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    text = profile + "".join(of_other_stores)
    for written, here in {
        "s3a://your-bucket": f"s3a://{store.bucket}",
        "https://storage.example.com": store.url,
        "/data/shop": "{{ env_var('SHOP_HOME') }}",
    }.items():
        assert written in text
        text = text.replace(written, here)
    # Kept for the next run, as AWS's library has 690 MB.
    text += f"        spark.jars.ivy: {ROOT / '.spark' / 'packages'}\n"
    made = DbtProject(tmp_path / "project", "shop")
    made.write({
        "dbt_project.yml": PROJECT_YML.replace("profile: delta_scd2", "profile: shop"),
        "profiles.yml": text,
        "seeds/extracts.csv": EXTRACTS,
        "models/dim_city.sql": SQL,
        "models/dim_city_events.sql": EVENTS,
        "models/dim_city_py.py": PYTHON,
        "models/schema.yml": SCHEMA,
    })  # fmt: skip
    return made.directory


def versions(store: ObjectStore, table: str, directory: Path) -> list[tuple]:
    """What a table of the bucket holds."""
    files = store.download(f"warehouse/shop.db/{table}", directory)
    columns = ["id", "city", "effective_from", "effective_to", "is_current", "is_deleted"]
    return sorted(tuples(session().read.format("delta").load(str(files)).select(columns).collect()))


def test_two_loads_of_dimensions_in_a_bucket(store: ObjectStore, project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    place = IsolatedWarehouse(home, "prod", DBT_PROFILES_DIR=str(project), SHOP_HOME=str(home), **ACCOUNT)
    for extract in (FIRST, SECOND):
        place.succeed("build", *extract, project=project)
    assert [path for path in tmp_path.rglob("*") if path.suffix == ".parquet" or path.name == "_delta_log"] == []
    tables = {key.split("/")[2] for key in store.keys("warehouse/shop.db") if key.endswith(".parquet")}
    assert tables == {"extracts", "dim_city", "dim_city_py", "dim_city_events", "dim_city_events__events"}
    assert versions(store, "dim_city", tmp_path) == VERSIONS
    assert versions(store, "dim_city_py", tmp_path) == VERSIONS
    assert versions(store, "dim_city_events", tmp_path) == VERSIONS_OF_EVENTS
    # Two drivers could both write a commit, so the guide allows one alone.
    assert {condition for _, condition in store.commits} == {None}
