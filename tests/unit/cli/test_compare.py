"""`plimsoll compare`: what can be compared, its verdicts, exit codes, JSON and Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from plimsoll.cli.main import command_line
from plimsoll.errors import SpecError
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts
from plimsoll.record.store import write_recording
from support.disturbed import DISTURBED, QUIET, SHARED, machine_table
from support.made import measured

NAMES = ("ratio", "low", "high", "verdict", "repetitions_needed")
HOST = HostFacts(name="bench-1", kernel="6.8", cpu_cores=4)


def environment(kernel: str = "6.8", **variables: str) -> Environment:
    server = InstanceFacts(name="one", version="10.11.14", flavour="mariadb", variables=variables)
    host = HOST.model_copy(update={"kernel": kernel})
    return Environment(host=host, instances=(server,), client=ClientFacts(on_server_host=False))


def write(folder: Path, system: str, tps: float, *, repetitions: int = 4, slow_ns: float = 1.0, **more: object) -> Path:
    """Two levels; repetitions differ by 1 % in the same way each time."""
    random = np.random.default_rng(len(system) + round(tps))
    for repetition in range(repetitions):
        for connections in (1, 4):
            noise = random.normal(1, 0.01)
            made = measured(
                tps * connections * noise * random.normal(1, 0.02, 20),
                response_ns=(np.arange(1, 2001) * 10_000 * slow_ns / noise).astype(int),
                system=system,
                connections=connections,
                repetition=repetition,
                **{"environment": environment(), **more},
            )
            trial = made.trial.model_copy(update={"trial_id": made.trial.trial_id.translate(str.maketrans(".:", "--"))})
            path = write_recording(folder, trial, made.environment, made.outcome, **made.tables)
    return path


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(command_line(), ["compare", *map(str, arguments)], env={"COLUMNS": "160"})


def answer(*arguments: object) -> dict[str, object]:
    ran = compare(*arguments, "--json")
    assert ran.exit_code in (0, 1, 7), ran.output
    return json.loads(ran.stdout)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """One study, three systems: b is equal to a, slow is 20 % slower with a p99 that is half as long again."""
    write(tmp_path / "s", "a", 1000.0)
    write(tmp_path / "s", "bb", 1003.0)
    write(tmp_path / "s", "slow", 800.0, slow_ns=1.5)
    return tmp_path / "s"


def test_two_systems_of_a_study(study: Path) -> None:
    found = answer(f"{study}:a", f"{study}:slow")
    assert set(NAMES) <= found.keys()
    assert (found["verdict"], found["is_paired"], found["repetitions_needed"]) == ("slower", True, 0)
    assert found["low"] < found["ratio"] < found["high"] < 0.85
    assert found["ratio"] == pytest.approx(0.8, rel=0.03)
    for cell in found["comparisons"]:
        assert set(NAMES) <= cell.keys()
        assert cell["verdict"] == "slower"
        assert cell["p99"]["ratio"] == pytest.approx(1.5, rel=0.05)
        assert cell["p99"]["verdict"] == "slower", "a higher p99 is slower"
    assert answer(f"{study}:a", f"{study}:bb")["verdict"] == "equal"


def test_names_stay_as_they_were_typed(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.parent)
    assert str(answer("s:a", "s:slow")["text"]).startswith("s:slow is slower than s:a")


def test_the_gate_and_its_exit_codes(study: Path) -> None:
    base = f"{study}:a"
    assert compare(base, f"{study}:slow").exit_code == 0, "without a rule nothing fails"
    failed = compare(base, f"{study}:slow", "--fail-if", "slower:5%", "--fail-if", "p99:10%")
    assert failed.exit_code == 1
    assert failed.stdout.startswith("Regression (throughput more than 5.0 % lower at read-write, 1 connection")
    passed = compare(base, f"{study}:bb", "--fail-if", "slower:5%")
    assert (passed.exit_code, passed.stdout.startswith("No regression")) == (0, True)
    assert compare(f"{study}:slow", base, "--fail-if", "slower:5%").exit_code == 0, "faster is no regression"


def test_what_is_undecided_has_an_exit_code_of_its_own_unless_asked_otherwise(study: Path) -> None:
    words = [f"{study}:a", f"{study}:slow", "--fail-if", "slower:20%"]
    ran = compare(*words)
    assert (ran.exit_code, "warning: undecided" in ran.stderr) == (7, True)
    assert compare(*words, "--fail-if", "undecided").exit_code == 1
    assert compare(*words, "--pass-if", "undecided").exit_code == 0


def test_two_studies_say_what_is_not_the_same_first(study: Path, tmp_path: Path) -> None:
    write(tmp_path / "other", "a", 1001.0, environment=environment("6.9", innodb_io_capacity="200"))
    found = answer(f"{study}:a", tmp_path / "other")
    assert (found["is_paired"], found["verdict"]) == (False, "equal")
    assert [(one["what"], one["base"], one["system"], one["is_compared"]) for one in found["differing"]] == [
        ("kernel", "6.8", "6.9", False)
    ]
    assert found["text"].startswith("Measured under unlike conditions (kernel): ")


def test_what_the_systems_differ_in_is_compared_and_no_doubt(tmp_path: Path) -> None:
    write(tmp_path / "s", "a", 1000.0, environment=environment(sync_binlog="1"), factors={"sync_binlog": "1"})
    write(tmp_path / "s", "bb", 1000.0, environment=environment(sync_binlog="0"), factors={"sync_binlog": "0"})
    found = answer(f"{tmp_path}/s:a", f"{tmp_path}/s:bb")
    assert [(one["what"], one["is_compared"]) for one in found["differing"]] == [("sync_binlog", True)]
    assert "unlike" not in found["text"]


def test_two_recordings_are_never_called_faster(tmp_path: Path) -> None:
    one = write(tmp_path / "one", "a", 1000.0, repetitions=1)
    other = write(tmp_path / "other", "bb", 700.0, repetitions=1)
    found = answer(one, other, "--fail-if", "slower:5%")
    assert (found["verdict"], found["basis"], found["repetitions_needed"]) == ("untestable", "within-run", None)
    assert found["low"] < found["ratio"] < found["high"] < 0.75
    assert found["notes"][0]["code"] == "within-run-only"
    ran = compare(one, other, "--fail-if", "slower:5%")
    assert ran.exit_code == 1
    assert "false alarms are more frequent" in " ".join(ran.stdout.split())


def test_markdown_is_a_table_with_the_answer_on_top(study: Path) -> None:
    lines = compare(f"{study}:a", f"{study}:slow", "--markdown").stdout.splitlines()
    assert lines[0].startswith("**")
    assert "is slower than" in lines[0]
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 2
    assert len({line.count("|") for line in table}) == 1


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["{s}", "{s}:a"], "name one: {s}:a, {s}:bb, {s}:slow"),
        (["{s}:a", "{s}:gone"], "there is no such system"),
        (["{s}:a", "{s}:a"], "is the same system"),
        (["{s}:a", "{s}:bb", "--fail-if", "slower"], "must be slower:5%"),
        (["{s}:a", "{s}:bb", "--fail-if", "slower:300%"], "below 100%"),
        (["{s}:a", "{s}:bb", "--fail-if", "undecided"], "needs another rule"),
        (["{s}:a", "{s}:bb", "--pass-if", "undecided"], "--pass-if: must be undecided, beside a rule"),
        (["{s}:a", "{s}:bb", "--fail-if", "slower:5%", "--pass-if", "slower"], "--pass-if: must be undecided"),
    ],
)
def test_misuse_is_named(study: Path, words: list[str], part: str) -> None:
    ran = compare(*(word.format(s=study) for word in words))
    assert isinstance(ran.exception, SpecError)
    assert part.format(s=study) in str(ran.exception)


def test_folders_with_one_system_each_need_no_name_and_names_may_be_addresses(study: Path, tmp_path: Path) -> None:
    write(tmp_path / "one", "127.0.0.1:3306", 1000.0)
    write(tmp_path / "other", "127.0.0.1:3307", 800.0)
    for sides in (("one", "other/"), ("one:127.0.0.1:3306", "other:127.0.0.1:3307")):
        found = answer(*(f"{tmp_path}/{side}" for side in sides))
        assert found["base"]["system"] == "127.0.0.1:3306"  # type: ignore[index]
        assert found["system"]["system"] == "127.0.0.1:3307"  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["{s}", "a", "{s}", "slow"], "plimsoll compare {s}:a {s}:slow"),
        (["{s}", "a", "slow"], "plimsoll compare {s}:a {s}:slow"),
        (["{s}", "{t}", "a"], "plimsoll compare {s} {t}:a"),
        (["{s}", "a", "bb", "slow"], "plimsoll compare STUDY:SYSTEM STUDY:SYSTEM"),
    ],
)
def test_words_that_are_too_many_are_answered_by_the_right_form(
    study: Path, tmp_path: Path, words: list[str], form: str
) -> None:
    ran = compare(*(word.format(s=study, t=tmp_path) for word in words))
    assert isinstance(ran.exception, SpecError)
    assert str(ran.exception).endswith(form.format(s=study, t=tmp_path))


@pytest.fixture
def disturbed(tmp_path: Path) -> Path:
    """One study: other programs ran beside b, and beside nobody else; c is as slow as b without them."""
    sides = (("a", 1000.0, QUIET), ("b", 500.0, DISTURBED), ("c", 505.0, QUIET))
    for system, tps, seconds in sides:
        write(tmp_path / "s", system, tps, environment=SHARED, telemetry=machine_table([seconds] * 20))
    return tmp_path / "s"


def test_a_disturbed_comparison_says_so_first_and_names_no_winner(disturbed: Path) -> None:
    ran = compare(f"{disturbed}:a", f"{disturbed}:b", "--fail-if", "slower:5%", "--fail-if", "p99:5%")
    assert ran.exit_code == 7, ran.output
    assert ran.stdout.startswith("Disturbed: while ")
    assert "times as slow as at its best" in " ".join(ran.stdout.split())
    assert "faster" not in ran.stdout
    found = answer(f"{disturbed}:a", f"{disturbed}:b", "--fail-if", "slower:5%", "--fail-if", "p99:5%")
    assert (found["verdict"], found["low"], found["high"]) == ("disturbed", None, None)
    assert found["unlike"]["system"]["slow_ratio"] == 1.0  # type: ignore[index]
    for one in found["comparisons"]:  # type: ignore[attr-defined]
        assert (one["verdict"], one["p99"]["verdict"], one["p99"]["low"]) == ("disturbed", "disturbed", None)
    assert [one["outcome"] for one in found["gates"]] == ["undecided", "undecided"]  # type: ignore[attr-defined]


def test_a_disturbed_gate_fails_where_undecided_does(disturbed: Path) -> None:
    ran = compare(f"{disturbed}:a", f"{disturbed}:b", "--fail-if", "slower:5%", "--fail-if", "undecided")
    assert ran.exit_code == 1


def test_like_conditions_are_compared_as_ever(disturbed: Path) -> None:
    found = answer(f"{disturbed}:a", f"{disturbed}:c", "--fail-if", "slower:5%")
    assert found["verdict"] == "slower"
    assert found["unlike"] is None
    assert found["gates"][0]["outcome"] == "failed"  # type: ignore[index]
    assert not str(found["text"]).startswith("Disturbed")


def test_junit_has_a_case_for_each_place_with_its_doubts(study: Path, disturbed: Path, tmp_path: Path) -> None:
    file = tmp_path / "compare.xml"
    assert compare(f"{study}:a", f"{study}:slow", "--fail-if", "slower:5%", "--junit", file).exit_code == 1
    cases = list(ElementTree.parse(file).getroot().iter("testcase"))
    assert [(case.attrib["classname"], case.attrib["name"]) for case in cases] == [
        ("plimsoll.compare.read-write", "1 connection"),
        ("plimsoll.compare.read-write", "4 connections"),
        ("plimsoll.compare.all", "all together"),
    ]
    assert [case[0].tag for case in cases] == ["failure"] * 3
    assert compare(f"{disturbed}:a", f"{disturbed}:b", "--fail-if", "slower:5%", "--junit", file).exit_code == 7
    errors = list(ElementTree.parse(file).getroot().iter("error"))
    assert errors
    assert all((error.text or "").startswith("Disturbed: while ") for error in errors)
    refused = compare(f"{study}:a", f"{study}:slow", "--junit", file)
    assert "--junit: needs a rule" in str(refused.exception)
