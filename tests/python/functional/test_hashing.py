"""`hash_key` and `hash_diff`: macro, Python twin and oracle agree on every type, and the format is pinned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from delta_scd2 import hash_diff, hash_key
from harness import DbtProject, tuples
from hash_oracle import hash_of

ODD_STRUCT = "struct<`a b`: int not null comment 'x, >', `c``d` string, E: array<struct<e:decimal(3,1)>>>"
DEEP_MAP = "map<int, struct<x: array<decimal(5, 2)>, y: map<date, boolean>>>"

# Type, value, hash. Stored dimensions hold such hashes: none of these may ever change.
GOLDEN: list[tuple[str, Any, str]] = [
    ("string", None, "b582d3167c70c098fdfefc2c847a1aae83150febc4602a51ef83a84a175d417c"),
    ("string", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("string", "null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"),
    ("string", r"\N", "157b839cf4bc1b970e9b9aa312bd69dea5d300f92a99fa7edc59f4748cee4aa6"),
    ("string", "a|b\\c", "03d18dcfe24ac1b23ab59169897311688b433cc14be863e997bc476919b21bac"),
    ("string", "Zürich \U0001f6eb", "69db8870354ac6937d6290d2f71b4dd6c95d091f258f950040d5216bc74b1ca8"),
    ("boolean", True, "b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b"),
    ("boolean", False, "fcbcf165908dd18a9e49f7ff27810176db8e9f63b4352213741664245224f8aa"),
    ("tinyint", -128, "55e680185552dd7355632919f7ecd952df637414d8c8e2589150fe3d4a54174a"),
    ("smallint", 32767, "d8442baf6f437f1f682f0cae9dde1af2d3c595d88a36971881d36b304785d01c"),
    ("int", 2, "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"),
    ("bigint", -(2**63), "85386477f3af47e4a0b308ee3b3a688df16e8b2228105dd7d4dcd42a9807cb78"),
    ("decimal(10,2)", Decimal("2.50"), "b8736b999909049671d0ea075a42b308a5fbe2df1854899123fe09eb0ee9de61"),
    ("decimal(10,2)", Decimal("100.00"), "ad57366865126e55649ecb23ae1d48887544976efea46a48eb5d85a6eeb4d306"),
    ("decimal(10,7)", Decimal("0.0000001"), "4035c4eedb2f0cf061cb4aedac998085c68fc1a1f5a3cc5de86c5086ba770324"),
    ("decimal(10,7)", Decimal(0), "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"),
    ("decimal(38,0)", Decimal(10**37), "6c5f201a61cb22cc76946416c185ec7df1b0cf6a382ed10b85d699bcfb88012f"),
    (
        "decimal(38,18)",
        Decimal("-0.000000000000000001"),
        "a2d6fb16b4a1625211cee8a1a9cf6ccddf6d9479ba2852c05a0f8e20f48bfba6",
    ),
    (
        "decimal(38,18)",
        Decimal("-12345678901234567890.123456789012345678"),
        "9c26981e554e34f6af581bd47e0c2156c687dbc5bcd921e2e243f5ed7910211c",
    ),
    ("float", 0.5, "63028d2f2576d7036be19154c19bc81ebf95b9193f17bd098eee75e837b6889d"),
    ("float", -0.0, "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"),
    ("float", 2.0**24, "9641f70524a01757c47c6b10fe7f1c97c36f877ec9b8f7c73e010416540183da"),
    ("double", None, "b582d3167c70c098fdfefc2c847a1aae83150febc4602a51ef83a84a175d417c"),
    ("double", -0.0, "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"),
    ("double", 0.1, "b26ccbe020254d99aff01c3f21ea8ceba23954d1e69e4bf149ca78e0d0490ed3"),
    ("double", -5e-324, "b5cd694f0e45fe46ac5703855d86faa9532ef763d22f7a6b8443b570dd8be3a8"),
    ("double", 2.0**53 - 1, "f40b423c2dd95ff2b2f027e22208f438cf7242862e5e746860e697308c9add26"),
    ("double", 2.0**53, "921aaddc631ab8aad2c86cd3c545bf11533a2da30f782540e55cd890190f691e"),
    ("double", -1e300, "bfdbe2b35a6ba34c38e630ade0985a38dc20a6ce4abb2959d459fa6197987df1"),
    ("double", float("nan"), "98576ce3b07c3990de4106786e7b92211c49a055346a0d5ecbfd19544fdc50b5"),
    ("double", float("inf"), "365927691e6d4c4e673b7d3e1d8e61660ef21e71ec62ac62bb3578f30822f1d8"),
    ("double", float("-inf"), "ae5e1b9bcbc533d590bd3fc23b31b417b588419b93ae16d4bc2ddd345adac419"),
    ("date", date(1970, 1, 1), "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"),
    ("date", date(1, 1, 1), "475bb0c2c66f4cde2895c028242874738f7ae5ab62dcba1ef9cb87949738824d"),
    ("date", date(9999, 12, 31), "92b416c61d279012e588b1308fcc891f30d426baf55adcd62bc98c276fa4148d"),
    (
        "timestamp",
        datetime(2024, 3, 31, 2, 30, tzinfo=timezone(timedelta(hours=2))),
        "73295135b3079e14d320de4228c83f78562beba95b56d80c20d278c980231661",
    ),
    (
        "timestamp",
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        "1bad6b8cf97131fceab8543e81f7757195fbb1d36b376ee994ad1cf17699c464",
    ),
    (
        "timestamp",
        datetime(9999, 12, 31, tzinfo=UTC),
        "dee798de3e576762e1c996fa35b8c96332c9eb3e615c65e7ddfe8457831734aa",
    ),
    ("timestamp_ntz", datetime(2024, 3, 31, 2, 30), "148dd3f3e661435264313c192f7135a2ac429becabcac326ae5207a1c70bcec2"),
    (
        "timestamp_ntz",
        datetime(1, 1, 1, 0, 0, 0, 120000),
        "22b892b39f672fa3aec4e22ca94b81c08a3d01d4b00ca18d3669bdf9c8a1a014",
    ),
    ("binary", b"\x00\xff|", "712dd664d368d715641e84519a30e846d194059919d74ae6e68a5ca9bd9ab25e"),
    ("binary", b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("array<int>", [1, None, 3], "b624b8295be24a2ad94721debbee96a426cbd92a3471157e12f5c07671c9e1fd"),
    ("array<int>", [], "ba768b331fd86cec803be04e56ab2b3d4c0e98ef4ee4fcd4e72ad7cce61a1d1f"),
    ("array<int>", None, "b582d3167c70c098fdfefc2c847a1aae83150febc4602a51ef83a84a175d417c"),
    ("array<string>", ["", None, r"\N", "a|b"], "931865f10edbf70f3429bcf313cc932a02ff244654014cc3dfe3154f69215cfb"),
    ("array<string>", [""], "0758ffe9350a70a1adf269901b9aa458444de136e5b6d98091f8cc33580a0088"),
    (
        "array<array<double>>",
        [[0.1, None], None, []],
        "aaba42255904f87fea029d89fe513f8b339887b008eea8af1bcb3c3b0dfc46e5",
    ),
    ("struct<a:int,b:string>", (1, None), "59f5fb318cbce2f16ab151e1cd812fcba91563e96e9b4f1a7652cc39bdf8ba8b"),
    ("struct<a:int,b:string>", (None, None), "4272e93baeb8388951001997c1680c4661c2dc985f2880f0ade96a3d1d9c8038"),
    ("struct<a:int,b:string>", None, "b582d3167c70c098fdfefc2c847a1aae83150febc4602a51ef83a84a175d417c"),
    (
        ODD_STRUCT,
        (7, "x", [(Decimal("1.0"),), None]),
        "1a73c2ba74f0e09ace98196a1ea79ab4849b6fa197381e18e7ba7069346e27b3",
    ),
    (
        "map<string,int>",
        {"b": 1, "a": None, "a!": 2},
        "bc9e3bf12cae7ef5616c1bcaafd5b5a1b6d715bd5c65763730e92c3862c64c2e",
    ),
    ("map<string,int>", {}, "ba768b331fd86cec803be04e56ab2b3d4c0e98ef4ee4fcd4e72ad7cce61a1d1f"),
    ("map<string,int>", None, "b582d3167c70c098fdfefc2c847a1aae83150febc4602a51ef83a84a175d417c"),
    (
        DEEP_MAP,
        {10: ([Decimal("1.50")], {date(2020, 1, 1): True}), 9: (None, None)},
        "829e1791d0d0c1f8ef5c1b65c88c9db28c0375caf88920f86cdd566e4f8b0b87",
    ),
    (
        "array<struct<at:timestamp,x:double>>",
        [(datetime(2024, 1, 1, tzinfo=UTC), 1.5)],
        "3acfdc70ca457739712106a8f1f32e3db0ccd8851d473583532fd67a4627a38c",
    ),
]
COLUMNS = [f"c{number:02}" for number in range(len(GOLDEN))]
TYPES = {column: data_type for column, (data_type, _, _) in zip(COLUMNS, GOLDEN, strict=True)}
VALUES = tuple(value for _, value, _ in GOLDEN)
PINNED = [pinned for _, _, pinned in GOLDEN]
PINNED_IN_ORDER = "68866c75413c42a80c56442211d0a5078e261676398107c1af04c77357b692da"
PINNED_BY_NAME = "aba582090de5da9f9e8092729bd4bc8797f222a07e42d915d6d87ecc04a74e6e"

# Type as a person may write it, Spark expression, value.
ALIASES: list[tuple[str, str, Any]] = [
    ("VARCHAR( 10 )", "'a'", "a"),
    ("string collate unicode", "cast('|' as string collate unicode)", "|"),
    ("Integer", "2", 2),
    ("long", "2l", 2),
    ("numeric(10 , 2)", "cast(2.50 as decimal(10, 2))", Decimal("2.5")),
    ("dec", "cast(2 as decimal)", 2),
    ("REAL", "cast(0.5 as float)", 0.5),
    ("timestamp_ltz", "timestamp'1970-01-01 00:00:01Z'", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
    ("array<struct<e:long,`e.e`:string>>", "array(struct(1l as e, 'x' as `e.e`))", [(1, "x")]),
]

# No two of them are the same list of values.
PAIRS = [
    ("a-b", "c"),
    ("a", "b-c"),
    ("a|", "b"),
    ("a", "|b"),
    ("a|b", ""),
    ("a|b", None),
    ("a\\", "|b"),
    ("a\\|", "b"),
    (None, None),
    ("", ""),
    ("null", "null"),
    (r"\N", r"\N"),
    (r"\\N", r"\\N"),
    (None, ""),
    ("", None),
]

UNIT_TESTED = {"id": "int", "code": "string"}


def call(macro: str, columns: list[str] | dict[str, str]) -> str:
    return f"{{{{ delta_scd2.{macro}({json.dumps(columns)}) }}}}"


def select(expressions: dict[str, str], source: str) -> str:
    columns = ",\n".join(f"    {expression} as {name}" for name, expression in expressions.items())
    return f"select\n{columns}\nfrom {source}"


def good_models(golden: DataFrame) -> dict[str, str]:
    described = [{"name": name, "data_type": data_type} for name, data_type in golden.dtypes]
    aliases = {f"a{number}": alias for number, alias in enumerate(ALIASES)}
    written = ", ".join(f"{expression} as {name}" for name, (_, expression, _) in aliases.items())
    return {
        "by_yaml": select(
            {column: call("hash_key", [column]) for column in COLUMNS}
            | {"in_order": call("hash_key", COLUMNS[::-1]), "by_name": call("hash_diff", COLUMNS[::-1])},
            "golden",
        ),
        "by_described_type": select(
            {
                column["name"]: f"{{{{ delta_scd2.hash_of({json.dumps([column])}, alias='the source') }}}}"
                for column in described
            },
            "golden as `the source`",
        ),
        "by_mapping": select(
            {name: call("hash_key", {name: data_type}) for name, (data_type, _, _) in aliases.items()},
            f"(select {written})",
        ),
        "of_pairs": select({"hash": call("hash_key", {"a": "string", "b": "string"})}, "pairs"),
        "of_odd_names": select({"hash": call("hash_diff", {"it's": "string", "e`1": "int"})}, "odd"),
    }


def bad_models() -> dict[str, str]:
    return {
        "wrong_type": select({"hash": call("hash_key", {"n": "bigint"})}, "(select 1 as n)"),
        "wrong_text": select({"hash": call("hash_key", {"n": "int"})}, "(select 'x' as n)"),
        "untyped": select({"hash": call("hash_diff", ["b", "known", "a"])}, "odd"),
        "unsupported": select({"hash": call("hash_key", {"s": "struct<a:int,b:array<interval month>>"})}, "odd"),
        "no_columns": select({"hash": call("hash_key", [])}, "odd"),
    }


def properties() -> dict[str, Any]:
    """What the YAML of the project says: declared types, and a unit test of a model that hashes."""
    return {
        "models": [
            {"name": "by_yaml", "columns": [{"name": name, "data_type": type_} for name, type_ in TYPES.items()]},
            {"name": "wrong_type", "config": {"materialized": "table"}},
            {"name": "wrong_text", "config": {"materialized": "table"}},
            {"name": "staged_by_yaml", "columns": [{"name": n, "data_type": t} for n, t in UNIT_TESTED.items()]},
            {"name": "untyped", "columns": [{"name": "known", "data_type": "int"}, {"name": "a"}]},
        ],
        "unit_tests": [
            {
                "name": f"unit_test_of_{model}",
                "model": model,
                "given": [{"input": "ref('raw')", "rows": [{"id": 7, "code": "a|b"}]}],
                "expect": {"rows": [{"hash": hash_of([7, "a|b"])}]},
            }
            for model in ("staged", "staged_by_yaml")
        ],
    }


@pytest.fixture(scope="module")
def golden(spark: SparkSession) -> DataFrame:
    """One row, with one column for each golden value."""
    schema = StructType([StructField(name, DataType.fromDDL(type_)) for name, type_ in TYPES.items()])
    return spark.createDataFrame([VALUES], schema)


@pytest.fixture(scope="module")
def project(make_project, spark: SparkSession, golden: DataFrame) -> DbtProject:
    golden.createOrReplaceTempView("golden")
    spark.createDataFrame(PAIRS, "a string, b string").createOrReplaceTempView("pairs")
    spark.sql("select 2 as `e``1`, 'x' as `it's`").createOrReplaceTempView("odd")
    files = {f"models/good/{name}.sql": text for name, text in good_models(golden).items()}
    files |= {f"models/bad/{name}.sql": text for name, text in bad_models().items()}
    project: DbtProject = make_project(files)
    project.write(
        {
            "models/raw.sql": "select 1 as id, 'a' as code",
            "models/staged.sql": select(
                {"hash": call("hash_key", {"id": "int", "code": "string"})}, "{{ ref('raw') }}"
            ),
            "models/staged_by_yaml.sql": select({"hash": call("hash_key", [*UNIT_TESTED])}, "{{ ref('raw') }}"),
            "models/models.yml": json.dumps(properties()),
        }
    )
    return project


@pytest.fixture(scope="module")
def compiled(project: DbtProject) -> dict[str, str]:
    """The SQL of the good models, by name."""
    results = project.succeed("compile", "--select", "good")
    return {name: result.node.compiled_code for name, result in results.items()}


@pytest.fixture(scope="module")
def built(project: DbtProject) -> dict[str, Any]:
    """The results of building the bad models and the model with a unit test, by node."""
    return {result.node.name: result for result in project.dbt("build", "--exclude", "good").result}


@contextmanager
def settings(spark: SparkSession, values: dict[str, str]) -> Iterator[None]:
    before = {name: spark.conf.get(name) for name in values}
    try:
        for name, value in values.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def only_row(frame: DataFrame) -> Row:
    (row,) = frame.collect()
    return row


def test_oracle_gives_the_pinned_hashes() -> None:
    assert [hash_of([value]) for value in VALUES] == PINNED
    assert hash_of(VALUES[::-1]) == PINNED_IN_ORDER
    assert hash_of(VALUES) == PINNED_BY_NAME


@pytest.mark.parametrize(
    "conf",
    [
        pytest.param({"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "false"}, id="dbt"),
        pytest.param(
            {
                "spark.sql.session.timeZone": "America/New_York",
                "spark.sql.ansi.enabled": "true",
                "spark.sql.legacy.timeParserPolicy": "LEGACY",
            },
            id="other_settings",
        ),
    ],
)
def test_macro_and_twin_give_the_pinned_hashes_under(
    conf: dict[str, str], spark: SparkSession, golden: DataFrame, compiled: dict[str, str]
) -> None:
    twins = [hash_key(golden, column) for column in COLUMNS]
    twins += [hash_key(golden, COLUMNS[::-1]), hash_diff(golden, COLUMNS[::-1])]
    with settings(spark, conf):
        by_macro = only_row(spark.sql(compiled["by_yaml"]))
        by_twin = only_row(golden.select(twins))
    labels = [*TYPES.items(), "in order", "by name"]
    expected = dict(zip(labels, [*PINNED, PINNED_IN_ORDER, PINNED_BY_NAME], strict=True))
    assert dict(zip(labels, by_macro, strict=True)) == expected
    assert dict(zip(labels, by_twin, strict=True)) == expected


def test_types_may_be_those_that_spark_describes(spark: SparkSession, compiled: dict[str, str]) -> None:
    assert list(only_row(spark.sql(compiled["by_described_type"]))) == PINNED


def test_types_may_be_written_in_any_way_that_spark_reads(spark: SparkSession, compiled: dict[str, str]) -> None:
    row = only_row(spark.sql(compiled["by_mapping"]))
    assert list(row) == [hash_of([value]) for _, _, value in ALIASES]


def test_lists_of_values_that_differ_never_share_a_hash(spark: SparkSession, compiled: dict[str, str]) -> None:
    by_macro = spark.sql(compiled["of_pairs"]).collect()
    frame = spark.table("pairs")
    by_twin = frame.select(hash_key(frame, ["a", "b"])).collect()
    assert tuples(by_macro) == tuples(by_twin) == [(hash_of(pair),) for pair in PAIRS]
    assert len(set(by_twin)) == len(PAIRS)


def test_names_need_no_care(spark: SparkSession, compiled: dict[str, str]) -> None:
    frame = spark.table("odd")
    assert only_row(frame.select(hash_diff(frame, ["it's", "E`1"])))[0] == hash_of([2, "x"])
    assert only_row(spark.sql(compiled["of_odd_names"]))[0] == hash_of([2, "x"])


def test_a_unit_test_needs_a_mapping(built: dict[str, Any]) -> None:
    assert built["unit_test_of_staged"].status == "pass"
    assert "A unit test sees no YAML: there, only a mapping works" in built["unit_test_of_staged_by_yaml"].message


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("wrong_type", ["column n is declared bigint but is int", "correct the data_type"]),
        ("wrong_text", ["column n is declared int but is string"]),
        ("untyped", ["A hash in untyped needs the type of: b, a.", "Declare their data_type", "pass a mapping"]),
        (
            "unsupported",
            ["Column s of type struct<a:int,b:array<interval month>>", "interval month has no text", "Cast"],
        ),
        ("no_columns", ["A hash in no_columns has no columns"]),
    ],
)
def test_a_mistake_is_one_clear_error(model: str, parts: list[str], built: dict[str, Any]) -> None:
    assert built[model].status == "error"
    assert [part for part in parts if part not in built[model].message] == []


def test_the_twin_refuses_what_it_cannot_hash(spark: SparkSession) -> None:
    frame = spark.sql("select struct(interval '1' month as i) as s, 1 as n")
    with pytest.raises(TypeError, match=r"Column s of type struct<i:interval month>.*interval month has no text.*Cast"):
        hash_key(frame, "s")
    with pytest.raises(ValueError, match=r"No such column to hash: x, y\. The columns are: s, n\."):
        hash_diff(frame, ["x", "n", "y"])
    with pytest.raises(ValueError, match="no columns"):
        hash_key(frame, [])
