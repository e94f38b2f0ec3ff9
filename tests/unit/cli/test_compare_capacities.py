"""`plimsoll compare` of searches for a capacity: their runs are no levels, and the rules are about the capacities."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from plimsoll.cli.main import command_line
from plimsoll.errors import SpecError
from plimsoll.record.capacity import (
    Capacity,
    CapacityDocument,
    CapacityObjective,
    CapacityRun,
    RunRole,
    RunVerdict,
    SearchRecord,
)
from plimsoll.record.level import Level
from plimsoll.record.model import State, StateMark
from plimsoll.record.store import write_recording
from support.disturbed import DISTURBED, QUIET, SHARED, machine_table
from support.made import measured

SWEPT = (1, 4)
WITHIN_20_MS = CapacityObjective(response_ms_p99=20.0)


def search(
    folder: Path,
    capacities_tps: list[float | None],
    *,
    system: str = "managed",
    workload: str = "read-write",
    objective: CapacityObjective = WITHIN_20_MS,
    finished: bool = True,
    confirm_s: float = 30.0,
    second: dict[str, float] | None = None,
    unix_s: float | None = None,
) -> Path:
    """Adds searches to a folder, whose sweeps all found the same: 1,000 tps for each connection.

    `second` is what telemetry says of each second of their runs, if anything; `unix_s` is when they began.
    """
    searches = []
    for number, tps in enumerate(capacities_tps):
        name = f"search-{system}-{workload}-{objective.response_ms_p99:g}-{number}"
        place = {"search_id": name, "system": system, "workload": workload, "repetition": number}
        steps = [(RunRole.SWEEP, Level(connections=connections), 5.0) for connections in SWEPT]
        steps += [(RunRole.CONFIRM, Level(connections=4, rate_tps=tps), confirm_s)] if tps is not None else []
        runs = tuple(run(folder, place, *step, second=second, unix_s=unix_s) for step in steps)
        low = None if tps is None else tps * 0.94
        capacity = Capacity(capacity_tps=tps, low=low, objective=objective, runs=runs)
        searches.append(SearchRecord(**place, is_finished=finished, capacity=capacity))
    kept = folder / "capacity.json"
    known = CapacityDocument.model_validate_json(kept.read_bytes()).searches if kept.exists() else ()
    kept.write_text(CapacityDocument(searches=(*known, *searches)).model_dump_json())
    return folder


def run(
    folder: Path,
    place: dict[str, object],
    role: RunRole,
    level: Level,
    length_s: float,
    *,
    second: dict[str, float] | None = None,
    unix_s: float | None = None,
) -> CapacityRun:
    tps = level.rate_tps or 1000.0 * level.connections
    watched = {} if second is None else {"environment": SHARED, "telemetry": machine_table([second] * int(length_s))}
    watched |= {} if unix_s is None else {"states": (StateMark(state=State.WARM, began_unix_s=unix_s),)}
    made = measured(
        tps * np.random.default_rng(1).normal(1, 0.02, int(length_s)),
        response_ns=np.arange(1, 2001) * 10_000,
        duration_s=length_s,
        search_role=role,
        **watched,
        **place,
    )
    trial_id = f"{place['search_id']}-{role.value}-{level.connections}"
    trial = made.trial.model_copy(update={"trial_id": trial_id, "level": level})
    write_recording(folder, trial, made.environment, made.outcome, **made.tables)
    return CapacityRun(
        trial_id=trial_id,
        role=role,
        connections=level.connections,
        rate_tps=level.rate_tps,
        throughput_tps=tps,
        over_ratio=0.0,
        duration_s=length_s,
        verdict=RunVerdict.NOT_JUDGED if role is RunRole.SWEEP else RunVerdict.HOLDS,
    )


def levels(folder: Path, tps: float) -> Path:
    """Adds four repetitions of a level to a folder."""
    random = np.random.default_rng(1)
    for repetition in range(4):
        rates_tps = tps * random.normal(1, 0.01) * random.normal(1, 0.02, 20)
        made = measured(rates_tps, system="managed", repetition=repetition)
        write_recording(folder, made.trial, made.environment, made.outcome, **made.tables)
    return folder


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(command_line(), ["compare", *map(str, arguments)], env={"COLUMNS": "160"})


def answer(*arguments: object) -> dict[str, object]:
    ran = compare(*arguments, "--json")
    assert ran.exit_code in (0, 1, 7), ran.output
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def test_a_capacity_that_fell_by_a_third_is_a_regression_though_the_sweeps_are_equal(tmp_path: Path) -> None:
    one, two = search(tmp_path / "one", [1500.0, 1510.0, 1490.0]), search(tmp_path / "two", [1000.0, 1005.0, 995.0])
    found = answer(one, two, "--fail-if", "slower:5%")
    assert found["comparisons"] == [], "runs of a sweep are no levels"
    (capacity,) = found["capacities"]
    names = ("ratio", "low", "high", "verdict", "repetitions_needed", "base_value", "base_repetitions")
    assert {name: found[name] for name in names} == {name: capacity[name] for name in names}
    assert found["ratio"] == pytest.approx(2 / 3, rel=0.001)
    assert found["low"] < found["ratio"] < found["high"] < 0.8
    assert (found["verdict"], found["repetitions_needed"]) == ("slower", 0)
    assert (capacity["workload"], capacity["objective"]["response_ms_p99"]) == ("read-write", 20.0)
    assert found["differing"] == []
    (gate,) = found["gates"]
    assert (gate["outcome"], gate["failed_at"]) == ("failed", [["read-write", "capacity at p99 20.0 ms"]])
    ran = compare(one, two, "--fail-if", "slower:5%")
    assert ran.exit_code == 1
    text = " ".join(ran.stdout.split())
    assert text.startswith("Regression (capacity more than 5.0 % lower at read-write, capacity at p99 20.0 ms): the ")
    assert f"capacity of {two} is lower than that of {one} under read-write with p99 response time within 20" in text
    passed = compare(two, one, "--fail-if", "slower:5%")
    assert (passed.exit_code, passed.stdout.startswith("No regression (capacity")) == (0, True)


def test_systems_of_one_study_are_compared_within_the_repetitions_of_their_searches(tmp_path: Path) -> None:
    search(tmp_path / "s", [1000.0, 1500.0, 2000.0], system="a")
    search(tmp_path / "s", [900.0, 1350.0, 1800.0], system="b")
    found = answer(f"{tmp_path}/s:a", f"{tmp_path}/s:b")
    assert (found["is_paired"], found["verdict"]) == (True, "slower")
    assert found["capacities"][0]["method"].startswith("paired t")
    apart = answer(
        search(tmp_path / "one", [1000.0, 1500.0, 2000.0]), search(tmp_path / "two", [900.0, 1350.0, 1800.0])
    )
    assert (apart["is_paired"], apart["verdict"]) == (False, "unresolved"), "searches of two studies share nothing"
    assert apart["capacities"][0]["method"].startswith("Welch")


def test_single_searches_cannot_pass(tmp_path: Path) -> None:
    one, two = search(tmp_path / "one", [1000.0]), search(tmp_path / "two", [1000.0])
    ran = compare(one, two, "--fail-if", "slower:5%", "--fail-if", "undecided")
    assert (ran.exit_code, "warning: undecided" in ran.stderr) == (1, True)
    assert compare(one, two, "--fail-if", "slower:5%").exit_code == 7
    assert "no regression" not in ran.stdout.lower()


@pytest.mark.parametrize(("second_tps", "outcome"), [(1600.0, "passed"), (1000.0, "undecided"), (700.0, "failed")])
def test_single_searches_of_one_study_decide_a_rule_by_their_intervals(
    tmp_path: Path, second_tps: float, outcome: str
) -> None:
    for system, tps in (("a", 1000.0), ("b", second_tps)):
        folder = search(tmp_path / "study", [tps], system=system)
    kept = folder / "capacity.json"
    known = CapacityDocument.model_validate_json(kept.read_bytes()).searches
    found = [one.capacity.model_copy(update={"high": (one.capacity.capacity_tps or 0.0) * 1.06}) for one in known]
    whole = [one.model_copy(update={"capacity": capacity}) for one, capacity in zip(known, found, strict=True)]
    kept.write_text(CapacityDocument(searches=tuple(whole)).model_dump_json())
    (gate,) = answer(f"{folder}:a", f"{folder}:b", "--fail-if", "slower:5%")["gates"]
    assert gate["outcome"] == outcome


def test_a_capacity_that_only_one_side_has_is_named_first_and_nothing_passes_without_it(tmp_path: Path) -> None:
    one, two = levels(tmp_path / "one", 1000.0), search(levels(tmp_path / "two", 1000.0), [1500.0])
    found = answer(one, two, "--fail-if", "slower:20%")
    assert [(each["what"], each["base"], each["system"]) for each in found["differing"]] == [
        ("objective of the capacity under read-write", "none searched for", "p99 20.0 ms")
    ]
    assert found["text"].startswith("Measured under unlike conditions (objective of the capacity under read-write): ")
    assert [each["verdict"] for each in found["comparisons"]] == ["equal"]
    (gate,) = found["gates"]
    assert (gate["outcome"], gate["undecided_at"]) == ("undecided", [["read-write", "capacity at p99 20.0 ms"]])


def test_nothing_in_common_is_refused_and_says_what_there_is(tmp_path: Path) -> None:
    strict = CapacityObjective(response_ms_p99=5.0)
    one, two = search(tmp_path / "one", [1500.0]), search(tmp_path / "two", [1500.0], objective=strict)
    at_level = levels(tmp_path / "levels", 1000.0)
    for other, has in ((two, "a capacity (p99 5.00 ms)"), (at_level, "4 connections")):
        ran = compare(one, other, "--fail-if", "slower:5%", "--json")
        assert isinstance(ran.exception, SpecError)
        assert f"{one} has read-write at a capacity (p99 20.0 ms); {other} has read-write at {has}" in str(
            ran.exception
        )
        assert ran.stdout == ""


def test_a_side_on_which_no_rate_holds_fails(tmp_path: Path) -> None:
    one, two = search(tmp_path / "one", [1500.0, 1500.0]), search(tmp_path / "two", [None, None])
    ran = compare(one, two, "--fail-if", "slower:5%")
    assert ran.exit_code == 1
    found = answer(one, two, "--fail-if", "slower:5%")
    assert (found["ratio"], found["verdict"], found["base_value"], found["system_value"]) == (
        None, "untestable", pytest.approx(1500), None,
    )  # fmt: skip
    assert f"no capacity under read-write with p99 response time within 20.0 ms is known of {two}" in str(found["text"])


def test_an_unfinished_search_is_undecided_and_said(tmp_path: Path) -> None:
    one, two = search(tmp_path / "one", [1500.0] * 3), search(tmp_path / "two", [1000.0] * 3, finished=False)
    found = answer(one, two, "--fail-if", "slower:5%")
    assert (found["gates"][0]["outcome"], found["system"]["unfinished_count"]) == ("undecided", 3)
    assert [note["text"] for note in found["notes"] if note["code"] == "searches-unfinished"] == [
        f"3 searches of {two} not finished: run the study again."
    ]


def test_a_rule_about_p99_is_not_passed_by_capacities(tmp_path: Path) -> None:
    one, two = search(tmp_path / "one", [1500.0] * 3), search(tmp_path / "two", [1500.0] * 3)
    ran = compare(one, two, "--fail-if", "p99:10%")
    assert ran.stdout.startswith("Undecided (p99 is not known of both sides)")
    assert (ran.exit_code, "warning: undecided" in ran.stderr) == (7, True)
    assert compare(one, two, "--fail-if", "slower:5%", "--fail-if", "undecided").exit_code == 0


def test_several_objectives_are_shown_apart_and_together(tmp_path: Path) -> None:
    for name, factor in (("one", 1.0), ("two", 0.9)):
        for workload, tps in (("read-write", 1000.0), ("read-only", 3000.0)):
            values = [tps * factor * noise for noise in (1.0, 1.01, 0.99)]
            search(tmp_path / name, values, workload=workload)
    found = answer(tmp_path / "one", tmp_path / "two", "--fail-if", "slower:5%")
    assert [(each["workload"], each["verdict"]) for each in found["capacities"]] == [
        ("read-write", "slower"),
        ("read-only", "slower"),
    ]
    assert found["ratio"] == pytest.approx(0.9)
    assert "is lower than that of" in str(found["text"])
    assert "over 2 objectives together" in str(found["text"])
    lines = compare(tmp_path / "one", tmp_path / "two", "--markdown").stdout.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert [row.split(" | ")[1] for row in rows[2:]] == ["capacity at p99 20.0 ms"] * 2
    assert len({row.count("|") for row in rows}) == 1


def test_how_searches_were_made_is_a_difference(tmp_path: Path) -> None:
    one, two = search(tmp_path / "one", [1500.0] * 2), search(tmp_path / "two", [1500.0] * 2, confirm_s=10.0)
    assert [each["what"] for each in answer(one, two)["differing"]] == ["window of steady runs"]


def test_runs_of_a_search_that_are_named_themselves_are_compared(tmp_path: Path) -> None:
    paths = [search(tmp_path / name, [1500.0]) / "recordings" for name in ("one", "two")]
    swept = "search-managed-read-write-20-0-sweep-4"
    found = answer(paths[0] / swept, paths[1] / swept)
    assert (len(found["comparisons"]), found["basis"]) == (1, "within-run")


def test_capacities_of_an_unlike_machine_name_no_winner_and_decide_no_rule(tmp_path: Path) -> None:
    one = search(tmp_path / "one", [1500.0, 1510.0, 1490.0], second=QUIET)
    two = search(tmp_path / "two", [1000.0, 1005.0, 995.0], second=DISTURBED)
    found = answer(one, two, "--fail-if", "slower:5%")
    assert (found["verdict"], found["low"], found["repetitions_needed"]) == ("disturbed", None, None)
    assert [place["outcome"] for place in found["gates"]] == ["undecided"]
    assert str(found["text"]).startswith("Disturbed: while ")
    assert "cannot be compared" in str(found["text"])
    alike = search(tmp_path / "three", [1000.0, 1005.0, 995.0], second=QUIET)
    assert answer(one, alike, "--fail-if", "slower:5%")["verdict"] == "slower"


def test_a_guide_and_a_size_by_searches_of_a_disturbed_machine_confirm_nothing(tmp_path: Path) -> None:
    folder = search(tmp_path / "one", [1500.0, 1510.0, 1490.0], system="a", second=QUIET)
    search(folder, [1000.0, 1005.0, 995.0], system="b", second=DISTURBED)
    analysis = json.loads(CliRunner().invoke(command_line(), ["guide", str(folder), "--json"]).stdout)
    assert [one["code"] for one in analysis["answer"]][:1] == ["disturbed"]
    (ratio,) = analysis["capacity_ratios"]
    assert (ratio["verdict"], ratio["ratio"]["bounds"]) == ("disturbed", None)
    own = {one["system"]: one for one in analysis["capacities"]}
    assert own["a"]["capacity_tps"]["bounds"] is not None
    assert (own["b"]["is_disturbed"], own["b"]["capacity_tps"]["bounds"], own["b"]["next_low"]) == (True, None, None)
    texts = " ".join(one["text"] for one in analysis["answer"])
    assert "b has no capacity with p99 response time within 20.0 ms: the machine was disturbed" in texts
    sized = CliRunner().invoke(command_line(), ["size", str(folder), "--tps", "100", "--json"])
    found = json.loads(sized.stdout)
    assert {one["system"]: one["verdict"] for one in found["systems"]} == {"a": "fits", "b": "disturbed"}
