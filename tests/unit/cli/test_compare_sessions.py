"""`plimsoll compare` of two studies: across sessions, with and without other sessions of the first side."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from plimsoll.cli.main import command_line
from plimsoll.errors import SpecError
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts
from plimsoll.record.model import State, StateMark
from plimsoll.record.store import write_recording
from support.made import measured
from unit.cli.test_compare_capacities import search

DAY_S = 86_400.0
HOST = HostFacts(name="bench-1", kernel="6.8")


def began(unix_s: float) -> tuple[StateMark, ...]:
    return (StateMark(state=State.WARM, began_unix_s=unix_s),)


def study(
    folder: Path,
    tps: float,
    day: float,
    *,
    host: HostFacts = HOST,
    levels: tuple[int, ...] = (4,),
    days: tuple[float, ...] = (),
) -> Path:
    """Four repetitions at each level, a minute apart, on one day or each on its own."""
    random = np.random.default_rng(round(tps))
    server = InstanceFacts(name="one", version="10.11.14", flavour="mariadb")
    around = Environment(host=host, instances=(server,), client=ClientFacts(on_server_host=False))
    for repetition, begins in enumerate(days or (day,) * 4):
        for level in levels:
            made = measured(
                tps * level * random.normal(1, 0.005) * random.normal(1, 0.02, 20),
                response_ns=(np.arange(1, 2001) * 1e7 / tps).astype(int),
                connections=level,
                repetition=repetition,
                environment=around,
                states=began(begins * DAY_S + 60.0 * repetition),
            )
            write_recording(folder, made.trial, made.environment, made.outcome, **made.tables)
    return folder


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(command_line(), ["compare", *map(str, arguments)], env={"COLUMNS": "160"})


def answer(*arguments: object) -> dict[str, object]:
    ran = compare(*arguments, "--json")
    assert ran.exit_code in (0, 1, 7), ran.output
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def baselines(folder: Path, *rates_tps: float) -> list[object]:
    studies = [study(folder / f"night-{number}", tps, number + 1) for number, tps in enumerate(rates_tps)]
    return [word for one in studies for word in ("--baseline", one)]


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two studies, a day apart, of which the second found a third less."""
    return study(tmp_path / "one", 1000.0, 10), study(tmp_path / "two", 670.0, 11)


def test_two_studies_one_after_the_other_have_no_verdict_and_show_what_is_within_them(sides: tuple[Path, Path]) -> None:
    found = answer(*sides, "--fail-if", "slower:5%")
    assert (found["verdict"], found["basis"], found["sessions"]) == ("untestable", "within-study", "apart")
    assert found["low"] < found["ratio"] < found["high"] < 0.7  # type: ignore[operator]
    assert (found["repetitions_needed"], found["smallest_effect"]) == (None, None)
    (cell,) = found["comparisons"]  # type: ignore[misc]
    assert (cell["verdict"], cell["p99"]["verdict"]) == ("untestable", "untestable")
    assert [one["outcome"] for one in found["gates"]] == ["undecided"]  # type: ignore[attr-defined]
    text = str(found["text"])
    assert "not testable: sessions of this machine were not compared" in text
    assert "(within the studies -3" in text
    assert "CI" not in text
    (note,) = found["notes"]  # type: ignore[misc]
    assert note["code"] == "sessions-not-compared"
    assert "say nothing of how it moves between studies" in note["text"]


def test_its_gate_ends_as_an_undecided_one(sides: tuple[Path, Path]) -> None:
    ran = compare(*sides, "--fail-if", "slower:5%")
    assert ran.exit_code == 7
    assert "sessions of this machine were not compared" in ran.stderr
    assert compare(*sides, "--fail-if", "slower:5%", "--fail-if", "undecided").exit_code == 1
    assert "slower than" not in ran.stdout
    assert "hold for these two sessions alone" in " ".join(ran.stdout.split())


def test_sessions_that_hardly_move_show_the_difference(sides: tuple[Path, Path], tmp_path: Path) -> None:
    near = baselines(tmp_path, 1003.0, 997.0, 1001.0, 999.0)
    found = answer(*sides, *near, "--fail-if", "slower:5%")
    assert (found["verdict"], found["basis"], found["sessions"]) == ("slower", "sessions", "baseline")
    assert [one["outcome"] for one in found["gates"]] == ["failed"]  # type: ignore[attr-defined]
    assert [one["study"] for one in found["baselines"]] == ["made"] * 4  # type: ignore[attr-defined]
    apart = answer(*sides)
    assert found["ratio"] == apart["ratio"], "the figure is the same, its interval is another"
    assert found["low"] < apart["low"]  # type: ignore[operator]
    assert compare(*sides, *near, "--fail-if", "slower:5%").exit_code == 1


def test_sessions_that_move_as_far_leave_it_open_and_say_what_could_have_been_seen(
    sides: tuple[Path, Path], tmp_path: Path
) -> None:
    far = baselines(tmp_path, 700.0, 1400.0, 900.0)
    found = answer(*sides, *far, "--fail-if", "slower:5%")
    assert (found["verdict"], found["repetitions_needed"]) == ("unresolved", None)
    assert found["smallest_effect"] > 1.5  # type: ignore[operator]
    assert "would probably have been seen" in str(found["text"])
    ran = compare(*sides, *far, "--fail-if", "slower:5%")
    assert ran.exit_code == 7
    assert "would probably have been seen" in ran.stderr


def test_baselines_of_few_hours_say_so_about_studies_that_are_days_apart(tmp_path: Path) -> None:
    one, two = study(tmp_path / "one", 1000.0, 10), study(tmp_path / "two", 1000.5, 20)
    hours = [study(tmp_path / f"hour-{number}", 1000.0 + number, 10 + number / 24) for number in (1, 2, 3)]
    found = answer(one, two, *(word for each in hours for word in ("--baseline", each)))
    notes = {each["code"]: each["text"] for each in found["notes"]}  # type: ignore[attr-defined]
    assert notes.keys() == {"baselines", "baselines-shorter"}
    assert "does not show in them" in notes["baselines-shorter"]


def test_studies_that_go_on_after_each_other_are_compared_by_sessions(tmp_path: Path) -> None:
    one = study(tmp_path / "one", 1000.0, 0, days=(1, 3, 5, 5))
    two = study(tmp_path / "two", 670.0, 0, days=(2, 4, 6, 6))
    found = answer(one, two)
    assert (found["sessions"], found["verdict"], found["basis"]) == ("alternating", "slower", "repetitions")
    assert (found["base_repetitions"], found["system_repetitions"]) == (3, 3), "the last two are one session"
    both = study(tmp_path / "both", 670.0, 0, days=(2, 2, 2, 6))
    assert answer(study(tmp_path / "short", 1000.0, 0, days=(1, 1, 3, 3)), both)["sessions"] == "alternating"
    assert answer(study(tmp_path / "once", 1000.0, 0, days=(1, 1, 3, 3)), two)["sessions"] == "alternating"
    assert answer(study(tmp_path / "apart", 1000.0, 0, days=(1, 1, 3, 3)), study(tmp_path / "mid", 700.0, 2))[
        "sessions"
    ] == ("apart"), "only two alternations"


def test_two_recordings_of_other_times_decide_no_rule(tmp_path: Path) -> None:
    paths = [study(tmp_path / name, tps, day, days=(day,)) for name, tps, day in (("a", 1000.0, 1), ("b", 500.0, 2))]
    found = answer(*paths, "--fail-if", "slower:5%")
    assert (found["verdict"], found["basis"]) == ("untestable", "within-run")
    assert found["gates"][0]["outcome"] == "undecided"  # type: ignore[index]


def test_capacities_of_two_studies_are_no_other(tmp_path: Path) -> None:
    rates = {"one": (1500.0, 1510.0, 1490.0), "two": (1000.0, 1005.0, 995.0)}
    rates |= {f"night-{number}": (1500.0 + number, 1510.0, 1490.0) for number in (1, 2, 3)}
    for number, (name, found_tps) in enumerate(rates.items()):
        search(tmp_path / name, list(found_tps), unix_s=DAY_S * (1 + number))
    one, two = tmp_path / "one", tmp_path / "two"
    found = answer(one, two, "--fail-if", "slower:5%")
    (capacity,) = found["capacities"]  # type: ignore[misc]
    assert (capacity["verdict"], capacity["basis"]) == ("untestable", "within-study")
    assert found["gates"][0]["outcome"] == "undecided"  # type: ignore[index]
    nights = [word for number in (1, 2, 3) for word in ("--baseline", tmp_path / f"night-{number}")]
    found = answer(one, two, *nights, "--fail-if", "slower:5%")
    (capacity,) = found["capacities"]  # type: ignore[misc]
    assert (capacity["verdict"], capacity["basis"]) == ("slower", "sessions")
    assert found["gates"][0]["outcome"] == "failed"  # type: ignore[index]


def test_what_is_no_other_session_of_the_base_is_refused(sides: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = sides
    good = study(tmp_path / "good", 1000.0, 1)
    elsewhere = study(tmp_path / "elsewhere", 1000.0, 2, host=HOST.model_copy(update={"name": "bench-2"}))
    other_level = study(tmp_path / "levels", 1000.0, 3, levels=(8,))
    same_time = shutil.copytree(one, tmp_path / "copy")
    for wrong, part in (
        (elsewhere, "is not of what A is: host is bench-2, not bench-1"),
        (other_level, "lacks 1 of 1 levels and capacities"),
        (same_time, "were measured at the same time, so they are one session"),
    ):
        ran = compare(one, two, "--baseline", good, "--baseline", wrong)
        assert isinstance(ran.exception, SpecError)
        assert part in str(ran.exception)
    assert "name at least 2 studies" in str(compare(one, two, "--baseline", good).exception)
    without = study(tmp_path / "timeless", 1000.0, 0, days=(0.0,))
    assert "is not known" in str(compare(without, two, "--baseline", good, "--baseline", good).exception)


def test_the_grade_says_what_the_answer_rests_on(sides: tuple[Path, Path], tmp_path: Path) -> None:
    near = baselines(tmp_path, 1003.0, 997.0, 1001.0)
    assert answer(*sides)["grade"] == "indicated", "one session of each"
    found = answer(*sides, *near)
    assert (found["grade"], found["comparisons"][0]["p99"]["grade"]) == ("measured", "measured")  # type: ignore[index]
    assert "Grade: measured." in " ".join(compare(*sides, *near).stdout.split())
