"""`plimsoll compare` judges as the guide does: studies that stop by themselves, duets, trials that were replaced."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

from plimsoll.analyse.model import Analysis
from plimsoll.cli.main import command_line
from plimsoll.guide.build import analyse_folder
from plimsoll.record.frames import TURNS
from plimsoll.record.level import Level
from plimsoll.record.model import SystemRecord
from plimsoll.record.store import write_recording
from support.made import measured

STUDY = """
[study]
name = "made"
levels = {{ connections = {levels} }}
duration = "20s"
{more}

[[workload]]
name = "read-write"
kind = "oltp_read_write"
table_size = 2000
"""
SYSTEM = '[[system]]\nname = "{name}"\n[system.server]\nmanaged = "mariadb"\nbuffer_pool = "64M"\n'
AUTO = 'repetitions = "auto"'


def study(folder: Path, logs: dict[str, np.ndarray], more: str = AUTO, levels: tuple[int, ...] = (4,)) -> Path:
    """A study with the logarithms of throughput by system, over 1,000 tps: an array of repetitions and levels."""
    folder.mkdir(parents=True)
    systems = "".join(SYSTEM.format(name=name) for name in logs)
    (folder / "study.toml").write_text(STUDY.format(levels=list(levels), more=more) + systems)
    for name, values in logs.items():
        for (repetition, place), log in np.ndenumerate(values):
            add(folder, float(np.exp(log)) * 1000, system=name, repetition=repetition, connections=levels[place])
    return folder


def add(folder: Path, tps: float, **trial: object) -> None:
    made = measured(np.full(20, tps), response_ns=(np.arange(1, 2001) * 1e7 / tps).astype(int), **trial)
    write_recording(folder, made.trial, made.environment, made.outcome, **made.tables)


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(command_line(), ["compare", *map(str, arguments)], env={"COLUMNS": "160"})


def answer(*arguments: object) -> dict[str, object]:
    ran = compare(*arguments, "--json")
    assert ran.exit_code in (0, 1, 7), ran.output
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def assert_as_guide(found: dict[str, object], analysis: Analysis, base: str, system: str) -> None:
    """Verdict, further repetitions, ratio and interval are those of the guide, at each level."""
    differences = [
        difference
        for difference in analysis.differences
        if difference.level and (difference.base, difference.system) == (base, system)
    ]
    cells = found["comparisons"]
    assert len(cells) == len(differences) > 0
    for cell, difference in zip(cells, differences, strict=True):
        assert (cell["verdict"], cell["repetitions_needed"]) == (difference.verdict, difference.repetitions_needed)
        bounds = difference.ratio.bounds
        expected = (difference.ratio.value, *((None, None) if bounds is None else (bounds.low, bounds.high)))
        assert (cell["ratio"], cell["low"], cell["high"]) == pytest.approx(expected)


def noise(seed: int, shape: tuple[int, ...], shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, 0.02, shape)


def test_a_study_that_stops_by_itself_is_judged_as_its_guide_judges_it(tmp_path: Path) -> None:
    shape, levels = (5, 2), (1, 4)
    logs = {"a": noise(1, shape), "b": noise(2, shape, 0.03), "c": noise(3, shape, -0.3)}
    folder = study(tmp_path / "s", logs, levels=levels)
    analysis = analyse_folder(folder)
    for system in "bc":
        found = answer(f"{folder}:a", f"{folder}:{system}")
        assert_as_guide(found, analysis, "a", system)
        assert (found["at_any_look"], found["is_paired"]) == (True, True)
    assert [one["verdict"] for one in found["comparisons"]] == ["slower"] * 2
    assert found["verdict"] == "slower", "what holds at each place holds for all together"
    assert "so that intervals hold after each of them" in " ".join(compare(f"{folder}:a", f"{folder}:c").stdout.split())


def test_what_a_t_test_would_call_faster_is_open_where_somebody_looked_at_it_before(tmp_path: Path) -> None:
    base = noise(4, (4, 1))
    differences = np.array([0.01, 0.02, 0.025, 0.03])[:, np.newaxis]
    fixed = study(tmp_path / "fixed", {"a": base, "b": base + differences}, "repetitions = 4")
    looked = study(tmp_path / "looked", {"a": base, "b": base + differences})
    found = [answer(f"{one}:a", f"{one}:b", "--equal-within", "1%") for one in (fixed, looked)]
    assert [one["verdict"] for one in found] == ["faster", "unresolved"]
    gates = [answer(f"{one}:b", f"{one}:a", "--fail-if", "slower:0%")["gates"][0] for one in (fixed, looked)]
    assert [gate["outcome"] for gate in gates] == ["failed", "undecided"]
    assert 0 < gates[1]["repetitions_needed"] < 20


def test_the_rules_pass_and_fail_where_repetitions_went_on(tmp_path: Path) -> None:
    base = noise(5, (8, 1))
    folder = study(tmp_path / "s", {"a": base, "b": base + noise(6, (8, 1)) / 4, "c": base + noise(7, (8, 1)) - 0.2})
    rules = ("--fail-if", "slower:5%", "--fail-if", "p99:5%")
    assert compare(f"{folder}:a", f"{folder}:b", *rules, "--fail-if", "undecided").exit_code == 0
    failed = answer(f"{folder}:a", f"{folder}:c", *rules)["gates"]
    assert [(one["metric"], one["outcome"]) for one in failed] == [("throughput", "failed"), ("p99", "failed")]


def test_two_studies_of_which_one_stopped_by_itself_are_compared_repetition_by_repetition(tmp_path: Path) -> None:
    one = study(tmp_path / "one", {"a": noise(8, (6, 1))})
    two = study(tmp_path / "two", {"a": noise(9, (4, 1), -0.3)}, "repetitions = 4")
    found = answer(one, two)
    assert (found["is_paired"], found["at_any_look"], found["verdict"]) == (False, True, "slower")
    assert found["method"].startswith("confidence sequence")
    assert "repetition by repetition of two studies" in " ".join(compare(one, two).stdout.split())


def turns(folder: Path, system: str, against: str, repetition: int, completed: np.ndarray) -> None:
    count = len(completed)
    begins = np.arange(count, dtype=float)
    columns: dict[str, object] = {name: [""] * count for name in TURNS}
    columns |= {name: np.zeros(count, dtype=int) for name in ("completed_besides", "failed")}
    columns |= {"interval": np.arange(count), "pair": np.arange(count), "position": np.arange(count) % 2}
    columns |= {"against": [against] * count, "completed": completed, "from_s": begins, "counted_from_s": begins}
    columns |= {"to_s": begins + 1.0, "drained_s": begins + 1.0, "begun": [None] * count, "running_s": [None] * count}
    made = measured(completed.astype(float), warm_count=0, system=system, repetition=repetition)
    table = pl.DataFrame(columns, schema=TURNS)
    write_recording(folder, made.trial, made.environment, made.outcome, **made.tables, turns=table)


def duet(folder: Path, more: str) -> Path:
    """Turns whose machine varies by half, while pairs agree to 1 %: b is 3 % faster."""
    study(folder, {"a": np.zeros((0, 1)), "b": np.zeros((0, 1))}, f'design = "duet"\n{more}')
    random = np.random.default_rng(10)
    for repetition in range(4):
        machine = 1000 * np.exp(random.normal(0, 0.5, 25))
        for system, against, factor in (("a", "b", 1.0), ("b", "a", 1.03)):
            completed = (machine * factor * random.normal(1, 0.01, 25)).astype(int)
            turns(folder, system, against, repetition, completed)
    return folder


def test_a_duet_is_compared_by_the_pairs_of_its_turns(tmp_path: Path) -> None:
    folder = duet(tmp_path / "s", "rounds = 4")
    found = answer(f"{folder}:a", f"{folder}:b")
    assert_as_guide(found, analyse_folder(folder), "a", "b")
    assert (found["verdict"], found["is_duet"]) == ("faster", True)
    assert found["method"].startswith("duet: ")
    assert "by the pairs of turns of a duet" in " ".join(compare(f"{folder}:a", f"{folder}:b").stdout.split())


def test_a_duet_that_stops_by_itself_is_judged_as_its_guide_judges_it(tmp_path: Path) -> None:
    folder = duet(tmp_path / "s", 'rounds = "auto"')
    found = answer(f"{folder}:a", f"{folder}:b")
    assert_as_guide(found, analyse_folder(folder), "a", "b")
    assert found["at_any_look"] is True


def test_a_trial_that_was_measured_again_does_not_count_twice(tmp_path: Path) -> None:
    folder = study(tmp_path / "s", {"a": noise(11, (4, 1)), "b": noise(12, (4, 1))}, "repetitions = 4")
    before = answer(f"{folder}:a", f"{folder}:b")
    (again,) = (folder / "recordings").glob("b-*-2")
    made = measured(np.full(20, 500.0), system="b", repetition=2)
    trial = made.trial.model_copy(update={"trial_id": f"{again.name}-again", "repeats": again.name})
    write_recording(folder, trial, made.environment, made.outcome, **made.tables)
    found = answer(f"{folder}:a", f"{folder}:b")
    assert found["system_repetitions"] == before["system_repetitions"] == 4
    assert found["ratio"] < before["ratio"]
    assert found["method"].startswith("paired t")


def at_rate(folder: Path, connections: int) -> Path:
    for repetition in range(4):
        rates_tps = 500 * np.random.default_rng(repetition + connections).normal(1, 0.01) * np.ones(20)
        made = measured(rates_tps, repetition=repetition)
        trial = made.trial.model_copy(
            update={"level": Level(connections=connections, rate_tps=500.0), "system": SystemRecord(name="a")}
        )
        write_recording(folder, trial, made.environment, made.outcome, **made.tables)
    return folder


def test_other_connections_at_an_equal_rate_are_a_difference_and_named_before_the_rule(tmp_path: Path) -> None:
    one, two = at_rate(tmp_path / "one", 4), at_rate(tmp_path / "two", 256)
    found = answer(one, two, "--fail-if", "slower:5%")
    assert [(each["what"], each["base"], each["system"], each["is_compared"]) for each in found["differing"]] == [
        ("connections that serve the rates of read-write", "4", "256", False)
    ]
    text = str(found["text"])
    assert text.startswith("Measured under unlike conditions (connections that serve the rates of read-write): ")
    assert 0 < text.index("no regression (throughput") < text.index("equal within"), "difference, rule, figures"


def test_an_interval_wider_than_a_factor_of_three_is_said_in_words(tmp_path: Path) -> None:
    base = np.zeros((3, 1))
    wide = np.array([0.5, -0.5, 0.1])[:, np.newaxis]
    folder = study(tmp_path / "s", {"a": base, "b": base + wide}, "repetitions = 3")
    found = answer(f"{folder}:a", f"{folder}:b")
    assert 3 < found["high"] / found["low"] < 20
    assert "not known within a factor of 3: repetitions differ too much" in str(found["text"])
    assert "CI" not in str(found["text"])
    lines = compare(f"{folder}:a", f"{folder}:b", "--markdown").stdout.splitlines()
    (row,) = [line for line in lines if "| read" in line]
    assert "(‡)" in row
    assert any("‡ not known within a factor of 3" in line for line in lines if line != row)


def test_json_is_valid_where_nothing_completed_on_either_side(tmp_path: Path) -> None:
    for name in ("a", "b"):
        for repetition in range(3):
            made = measured(np.zeros(20), system=name, repetition=repetition)
            write_recording(tmp_path / "s", made.trial, made.environment, made.outcome, **made.tables)
    found = answer(f"{tmp_path}/s:a", f"{tmp_path}/s:b", "--fail-if", "slower:5%", "--fail-if", "p99:5%")
    assert (found["ratio"], found["low"], found["verdict"]) == (None, None, "untestable")
    assert [one["outcome"] for one in found["gates"]] == ["undecided"] * 2
