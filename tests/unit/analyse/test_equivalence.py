"""Systems side by side: planted differences of data and plans are found, spellings and estimates are no difference."""

from __future__ import annotations

import pytest

from plimsoll.analyse.explain.equivalence import check_equivalence, equivalence
from plimsoll.analyse.explain.equivalence_model import Aspect, Equivalence
from plimsoll.analyse.findings.catalogue import placed_warnings, severity_of
from plimsoll.analyse.findings.doubts import Severity
from plimsoll.analyse.model import SystemSummary
from plimsoll.analyse.study.factors import compare_factors, factors_of
from plimsoll.guide.words import evidence_sentence
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts, PlacementFacts
from plimsoll.record.server_facts import ColumnFacts, DataFacts, IndexFacts, PlanStep, StatementPlan, TableFacts

COLUMNS = {
    "id": ColumnFacts(type="int", extra="auto_increment"),
    "k": ColumnFacts(type="int", default="0"),
    "c": ColumnFacts(type="char(120)", default="", character_set="latin1", collation="latin1_swedish_ci"),
}
INDEXES = {
    "PRIMARY": IndexFacts(columns=("id",), unique=True, cardinality=9_900),
    "k_1": IndexFacts(columns=("k",), cardinality=6_000),
}
STEP = PlanStep(table="t", access="range", index="PRIMARY", rows=100, extra="Using where")


def data(*, plan: PlanStep | None = STEP, **changes: object) -> DataFacts:
    values: dict[str, object] = {"engine": "InnoDB", "row_format": "Dynamic", "collation": "latin1_swedish_ci",
              "rows_count": 10_000, "rows_estimate": 9_900, "columns": COLUMNS, "indexes": INDEXES}  # fmt: skip
    table = TableFacts(**{**values, **changes})  # type: ignore[arg-type]
    refused = None if plan else "no"
    one = StatementPlan(
        workload="rw", statement="ranges", sql="SELECT 1", steps=(plan,) if plan else (), refused=refused
    )
    return DataFacts(tables={"t": table}, tables_count=1, plans=(one,))


def system(name: str, *of_instances: DataFacts | None, factors: dict[str, str] | None = None) -> SystemSummary:
    instances = tuple(InstanceFacts(name=f"{name}/{n}", data=instance) for n, instance in enumerate(of_instances))
    environment = Environment(instances=instances)
    return SystemSummary(name=name, instances=len(instances), factors=factors or {}, environment=environment)


def differing(*systems: SystemSummary) -> dict[Aspect, list[str]]:
    found = equivalence(systems, ())
    return {one.aspect: [each.what for each in one.differences] for one in found if one.differences}


def of(aspect: Aspect, *systems: SystemSummary) -> Equivalence:
    return next(one for one in equivalence(systems, ()) if one.aspect is aspect)


UTF8 = {"c": ColumnFacts(type="char(120)", default="", character_set="utf8mb4", collation="utf8mb4_0900_ai_ci")}
PLANTED = [
    (data(collation="utf8mb4_bin"), Aspect.CHARACTER_SETS, ["t: collation"]),
    (data(columns=COLUMNS | UTF8), Aspect.CHARACTER_SETS, ["t.c: collation"]),
    (data(indexes={"PRIMARY": INDEXES["PRIMARY"]}), Aspect.DEFINITIONS, ["t: index k_1"]),
    (data(columns=COLUMNS | {"k": ColumnFacts(type="bigint", default="0")}), Aspect.DEFINITIONS, ["t.k"]),
    (data(columns=COLUMNS | {"k": ColumnFacts(type="int", nullable=True)}), Aspect.DEFINITIONS, ["t.k"]),
    (data(engine="MyISAM"), Aspect.DEFINITIONS, ["t: engine"]),
    (data(row_format="Compressed"), Aspect.DEFINITIONS, ["t: row format"]),
    (data(options="key_block_size=8"), Aspect.DEFINITIONS, ["t: options"]),
    (data(rows_count=9_999), Aspect.ROWS, ["t: rows"]),
    (data(rows_count=None, rows_estimate=7_000), Aspect.ROWS, ["t: rows"]),
    (data(plan=STEP.model_copy(update={"index": None, "access": "ALL"})), Aspect.PLANS, ["rw: ranges"]),
    (data(plan=STEP.model_copy(update={"extra": "Using filesort"})), Aspect.PLANS, ["rw: ranges"]),
]


@pytest.mark.parametrize(("other", "aspect", "names"), PLANTED)
def test_a_planted_difference_is_found_where_it_is(other: DataFacts, aspect: Aspect, names: list[str]) -> None:
    assert differing(system("a", data()), system("b", other))[aspect] == names


STATISTICS = INDEXES | {"k_1": IndexFacts(columns=("k",), cardinality=2_000)}
ALIKE = [
    data(),
    data(columns=COLUMNS | {"k": ColumnFacts(type="int(11)", default="'0'")}),
    data(columns=COLUMNS | {"id": ColumnFacts(type="int(10)", default="NULL", extra="AUTO_INCREMENT")}),
    data(row_format="DYNAMIC", options="row_format=DYNAMIC"),
    data(rows_count=None, rows_estimate=11_000),
    data(indexes=INDEXES | {"k_1": IndexFacts(columns=("k",), cardinality=9_000)}),
    data(plan=STEP.model_copy(update={"rows": 5_000, "extra": "Using index condition"})),
    data(plan=None),
]


@pytest.mark.parametrize("other", ALIKE)
def test_spellings_and_estimates_are_no_difference(other: DataFacts) -> None:
    assert differing(system("a", data()), system("b", other)) == {}


def test_stale_statistics_are_found() -> None:
    found = differing(system("a", data()), system("b", data(indexes=STATISTICS)))
    assert found == {Aspect.STATISTICS: ["t: distinct values of index k_1"]}


def test_a_table_that_is_missing_in_one_system() -> None:
    found = differing(system("a", data()), system("b", DataFacts(plans=data().plans)))
    assert "t: rows" in found[Aspect.ROWS]
    assert "t: engine" in found[Aspect.DEFINITIONS]


@pytest.mark.parametrize(
    ("factor", "other", "aspect"),
    [
        ("server.character_set", data(collation="utf8mb4_bin"), Aspect.CHARACTER_SETS),
        ("collation-server", data(collation="utf8mb4_bin"), Aspect.CHARACTER_SETS),
        ("table_options", data(row_format="Compressed"), Aspect.DEFINITIONS),
    ],
)
def test_a_factor_explains_its_difference(factor: str, other: DataFacts, aspect: Aspect) -> None:
    systems = system("a", data(), factors={factor: "x"}), system("b", other, factors={factor: "y"})
    assert of(aspect, *systems).differences == ()
    assert of(aspect, *systems).expected
    same = system("a", data(), factors={factor: "x"}), system("b", other, factors={factor: "x"})
    assert of(aspect, *same).differences, "a factor with one value explains nothing"


def test_what_is_unknown_of_a_system_is_told_and_is_no_difference() -> None:
    found = of(Aspect.ROWS, system("a", data()), system("b", None))
    assert (found.differences, found.unknown, found.compared_count) == ((), ("b",), 0)
    assert equivalence([system("a", data())], ()) == ()


def test_instances_that_divide_the_rows_are_compared_by_definition_only() -> None:
    half = data(rows_count=5_000)
    assert differing(system("one", data()), system("two", half, half)) == {}
    unlike = differing(system("one", data()), system("two", half, data(engine="MyISAM")))
    assert unlike == {Aspect.DEFINITIONS: ["t: engine"]}


def test_differences_become_warnings_the_gravest_evidence_first() -> None:
    other = data(collation="utf8mb4_bin", rows_count=1, plan=STEP.model_copy(update={"index": "k_1"}))
    warnings = placed_warnings(check_equivalence(equivalence([system("a", data()), system("b", other)], ())))
    assert [warning.code for warning in warnings] == ["data-differs", "plans-differ"]
    said = evidence_sentence(warnings[0])
    assert "haracter sets or collations differ: t: collation is latin1_swedish_ci (a), utf8mb4_bin (b)" in said


def machine(
    name: str, cpus: int | None, gib: float | None, *, placement: PlacementFacts | None = None, **factors: str
) -> SystemSummary:
    """A system that is the only one of its environment."""
    host = HostFacts(cpu_threads=cpus, memory_bytes=None if gib is None else round(gib * 2**30))
    instance = InstanceFacts(name=f"{name}/0", placement=placement)
    return SystemSummary(
        name=name,
        factors={"environment": name, **factors},
        in_environment=name,
        environment=Environment(host=host, instances=(instance,)),
    )


FOUR = PlacementFacts(cpus=(0, 1, 2, 3), memory_limit_bytes=8 * 2**30)


@pytest.mark.parametrize(
    ("guest", "differing"),
    [
        (machine("virtual", 8, 31.3), []),
        (machine("virtual", 7, 31.3), ["CPUs"]),
        (machine("virtual", 8, 24), ["memory"]),
        (machine("virtual", 7, 24), ["CPUs", "memory"]),
        (machine("virtual", None, None), []),
        (machine("virtual", 16, 32, placement=PlacementFacts(cpus=tuple(range(8)))), []),
        (machine("virtual", 8, 32, placement=PlacementFacts(cpu_quota=7.5)), ["CPUs"]),
    ],
)
def test_machines_of_environments_have_equal_cpus_and_memory(guest: SystemSummary, differing: list[str]) -> None:
    found = of(Aspect.MACHINES, machine("metal", 8, 32), guest)
    assert [difference.what for difference in found.differences] == differing


def test_a_guest_with_one_cpu_fewer_is_a_grave_warning() -> None:
    (warning,) = placed_warnings(check_equivalence(equivalence([machine("metal", 4, 8), machine("vm", 3, 8)], ())))
    assert warning.code == "machines-differ"
    assert severity_of(warning.code) is Severity.GRAVE
    assert "CPUs is 4 (metal), 3 (vm)" in evidence_sentence(warning)


def test_placement_makes_a_large_machine_equal_to_a_small_guest() -> None:
    assert not of(Aspect.MACHINES, machine("metal", 64, 256, placement=FOUR), machine("vm", 4, 7.8)).differences


def test_a_stated_factor_explains_fewer_cpus_but_not_less_memory() -> None:
    found = of(Aspect.MACHINES, machine("metal", 8, 32, cpu_count="8"), machine("vm", 4, 16, cpu_count="4"))
    assert [difference.what for difference in found.differences] == ["memory"]
    assert found.expected == ("CPUs",)


def test_a_limit_that_only_one_side_states_explains_nothing() -> None:
    """It is there to make a large machine equal to the guest, and here it fails to."""
    metal = machine("metal", 64, 256, placement=FOUR, cpu_count="4", memory_limit_bytes=str(8 * 2**30))
    found = of(Aspect.MACHINES, metal, machine("vm", 3, 4))
    assert [difference.what for difference in found.differences] == ["CPUs", "memory"]
    assert found.expected == ()


def test_limits_that_make_machines_equal_are_no_further_difference_of_the_systems() -> None:
    metal = machine("metal", 64, 256, placement=FOUR, cpu_count="4", memory_limit_bytes=str(8 * 2**30))
    for guest, left in ((machine("vm", 4, 7.8), set()), (machine("vm", 3, 7.8), {"cpu_count"})):
        compared = compare_factors(factors_of(metal), factors_of(guest))
        assert {name for name, *_ in compared.one_sided} == left
        assert [name for name, *_ in compared.differing] == ["environment"]


def test_machines_of_one_environment_are_not_compared() -> None:
    one, other = machine("a", 8, 32), machine("b", 4, 16).model_copy(update={"in_environment": "a"})
    assert Aspect.MACHINES not in {found.aspect for found in equivalence([one, other], ())}
