"""The worked examples that others have published, through dbt on a real Spark, in SQL and in Python."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from harness import DbtProject, tuples, with_open_ends

SOURCES = """
version: 2
sources:
  - name: silver
    schema: "{{ target.schema }}"
    tables: [{name: sales}, {name: customers}, {name: cities}, {name: loads}]
"""

PYTHON_MODEL = """
def model(dbt, session):
    return dbt.source("silver", "{source}")
"""

SALES_CONFIG = """
      materialized: scd2
      unique_key: DimId
      effective_at: LoadedAt
      surrogate_key: sequence
      flag_values: ['Y', 'N']
      open_end: '2999-12-31'
      scd2_columns:
        surrogate_key: SurrogateKey
        durable_key: DurableKey
        hash_diff: Hash
        effective_from: StartDate
        effective_to: EndDate
        is_current: CurrentFlag
        is_deleted: DeletedFlag
"""

CUSTOMER_CONFIG = """
      materialized: scd2
      effective_at: extracted_at
      hard_deletes: invalidate
      closing_gap: 1 millisecond
      open_end: '9999-12-31 23:59:59.999'
      flag_values: [1, 0]
      surrogate_key: none
      scd2_columns: {effective_from: effective_ts, effective_to: expiry_ts}
"""

DATED_CONFIG = """
      materialized: scd2
      unique_key: id
      effective_at: extracted_on
"""

LANGUAGES = ["sql", "py"]
SOURCE_OF = {
    "dim_sales": "sales",
    "dim_customer": "customers",
    "dim_regional": "customers",
    "dim_city": "cities",
    "dim_load": "loads",
}


def models() -> dict[str, str]:
    configs = {
        "dim_sales": SALES_CONFIG,
        "dim_customer": CUSTOMER_CONFIG + "      unique_key: customer_no\n",
        "dim_regional": CUSTOMER_CONFIG + "      unique_key: [region, customer_no]\n",
        "dim_city": DATED_CONFIG,
        "dim_load": DATED_CONFIG,
    }
    files = {"models/sources.yml": SOURCES}
    yaml = "version: 2\nmodels:\n"
    for name, config in configs.items():
        files[f"models/{name}_sql.sql"] = f"select * from {{{{ source('silver', '{SOURCE_OF[name]}') }}}}\n"
        files[f"models/{name}_py.py"] = PYTHON_MODEL.replace("{source}", SOURCE_OF[name])
        for language in LANGUAGES:
            yaml += f"  - name: {name}_{language}\n    config:{config}"
    files["models/models.yml"] = yaml
    return files


@pytest.fixture(scope="module")
def project(make_project) -> DbtProject:
    return make_project(models())


def day(text: str) -> datetime:
    return datetime.fromisoformat(text)


# -- case 1: sequence keys, Y/N flags, soft deletes

GOLD_BEFORE = [
    (100, "1", "200", "500", "800"),
    (102, "6", "300", "900", "250"),
    (103, "13", "900", None, "700"),
    (104, "43", "340", "359", "9032"),
]
SALES_DDL = "DimId string, Col1 string, Col2 string, Col3 string, LoadedAt timestamp"


def test_kimball_dimension_with_sequence_keys(project: DbtProject) -> None:
    first = day("2023-05-12")
    project.load("sales", SALES_DDL, [(*row[1:], first) for row in GOLD_BEFORE])
    project.succeed("run", "--select", "dim_sales_sql", "dim_sales_py")
    # The published table starts with keys that earlier loads left behind.
    keys = " ".join(f"when '{dim_id}' then {key}" for key, dim_id, *_ in GOLD_BEFORE)
    for language in LANGUAGES:
        project.sql(f"update {{schema}}.dim_sales_{language} set SurrogateKey = case DimId {keys} end")

    load = day("2023-06-08")
    extract = [
        ("1", "200", "500", "800", load),
        ("6", "300", "900", "250", load),
        ("13", "100", None, "700", load),
        ("59", "1500", "2000", "800", load),
    ]
    project.load("sales", SALES_DDL, extract)
    results = project.succeed("run", "--select", "dim_sales_sql", "dim_sales_py")

    end = day("2999-12-31")
    expected = [
        (100, "1", "200", "500", "800", first, end, "Y", "N"),
        (102, "6", "300", "900", "250", first, end, "Y", "N"),
        (103, "13", "900", None, "700", first, load, "N", "N"),
        (104, "43", "340", "359", "9032", first, load, "Y", "Y"),
        (105, "13", "100", None, "700", load, end, "Y", "N"),
        (106, "59", "1500", "2000", "800", load, end, "Y", "N"),
    ]
    for language in LANGUAGES:
        table = f"{{schema}}.dim_sales_{language}"
        columns = "SurrogateKey, DimId, Col1, Col2, Col3, StartDate, EndDate, CurrentFlag, DeletedFlag"
        assert tuples(project.sql(f"select {columns} from {table} order by 1")) == expected
        live = project.sql(f"select DimId from {table} where CurrentFlag = 'Y' and DeletedFlag = 'N' order by 1")
        assert [row.DimId for row in live] == ["1", "13", "59", "6"]
        result = results[f"dim_sales_{language}"]
        assert result.message == "MERGE 2 opened, 1 closed, 1 deleted"
        assert result.adapter_response["rows_affected"] == 4


# -- case 2: closed intervals, 1/0 flags, single and composite key

INITIAL = day("2022-01-01")
LOAD = day("2022-09-01T14:42:01.329717")
BEFORE_LOAD = LOAD - timedelta(milliseconds=1)
EXPIRY = day("9999-12-31T23:59:59.999")


def test_full_merge_with_closed_intervals(project: DbtProject) -> None:
    ddl = "region string, customer_no string, name string, extracted_at timestamp"
    names = ["dim_customer_sql", "dim_regional_py"]
    for ts, customers in (
        (INITIAL, {"0001": "Raymond", "0002": "Kontext", "0003": "John"}),
        (LOAD, {"0001": "Ray", "0002": "Kontext", "0004": "Smith"}),
    ):
        project.load("customers", ddl, [("EU", no, name, ts) for no, name in customers.items()])
        project.succeed("run", "--select", *names)

    expected = [
        ("0001", "Raymond", 0, 0, INITIAL, BEFORE_LOAD),
        ("0001", "Ray", 1, 0, LOAD, EXPIRY),
        ("0002", "Kontext", 1, 0, INITIAL, EXPIRY),
        ("0003", "John", 0, 1, INITIAL, BEFORE_LOAD),
        ("0004", "Smith", 1, 0, LOAD, EXPIRY),
    ]
    for name in names:
        columns = "customer_no, name, is_current, is_deleted, effective_ts, expiry_ts"
        rows = project.sql(f"select {columns} from {{schema}}.{name} order by customer_no, effective_ts")
        assert tuples(rows) == expected


# -- cases 5 and 6: extracts and loads in sequence

T = [day(f"2024-03-0{n}") for n in range(1, 5)]

SEQUENCES = {
    # name: (extracts, expected intervals by id)
    "dim_city": (
        [
            (day("2020-01-01"), {1: "a", 2: "b", 3: "c"}),
            (day("2020-01-02"), {1: "x", 2: "b", 4: "d"}),
            (day("2020-01-04"), {1: "y", 3: "c", 4: "d", 5: "e"}),
        ],
        [
            (1, "a", day("2020-01-01"), day("2020-01-02")),
            (1, "x", day("2020-01-02"), day("2020-01-04")),
            (1, "y", day("2020-01-04"), None),
            (2, "b", day("2020-01-01"), day("2020-01-04")),
            (3, "c", day("2020-01-01"), day("2020-01-02")),
            (3, "c", day("2020-01-04"), None),
            (4, "d", day("2020-01-02"), None),
            (5, "e", day("2020-01-04"), None),
        ],
    ),
    "dim_load": (
        [
            (T[0], {1: "foo", 2: "bar"}),
            (T[1], {1: "upd", 2: "bar"}),
            (T[2], {1: "upd"}),
            (T[3], {1: "upd", 3: "baz"}),
        ],
        [
            (1, "foo", T[0], T[1]),
            (1, "upd", T[1], None),
            (2, "bar", T[0], T[2]),
            (3, "baz", T[3], None),
        ],
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_extracts_in_sequence(project: DbtProject, language: str) -> None:
    """In SQL one extract a run, in Python all extracts in one run."""
    batches = {
        name: [[(key, value, ts) for key, value in values.items()] for ts, values in extracts]
        for name, (extracts, _) in SEQUENCES.items()
    }
    if language == "py":
        batches = {name: [[row for extract in extracts for row in extract]] for name, extracts in batches.items()}
    for number in range(max(map(len, batches.values()))):
        given = {name: extracts[number] for name, extracts in batches.items() if number < len(extracts)}
        for name, rows in given.items():
            project.load(SOURCE_OF[name], "id int, value string, extracted_on timestamp", rows)
        project.succeed("run", "--select", *(f"{name}_{language}" for name in given))
    for name, (_, expected) in SEQUENCES.items():
        found = project.history(f"{name}_{language}", "id, value, effective_from, effective_to")
        assert with_open_ends(found) == expected, name
