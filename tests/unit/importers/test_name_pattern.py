"""Names of files: what a pattern reads from them, factors that make systems, and what counts as a repetition."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.errors import SpecError
from plimsoll.importers.log_places import LogOptions, NamePattern, Place
from plimsoll.importers.log_runs import doubtful_cells
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.trials import ImportResult, write_import
from plimsoll.record.store import read_study
from support.sysbench_logs import LOG_1_0

CLOUD = "{factor:vendor}/{factor:version}/Tier{factor:gb}_RW_{connections}th"


def bring_in(folder: Path, *names: str, pattern: str, **options: str) -> ImportResult:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LOG_1_0.replace("Number of threads: 4\n", "") + f"{number}\n")
    paths = [folder / name for name in names]
    told = {"workload": "mix", **options}
    return import_sysbench(paths, study_name="s", options=LogOptions(pattern=pattern, **told))


def test_factors_make_systems_and_are_kept(tmp_path: Path) -> None:
    names = ("google/5.7/Tier64_RW_4th", "google/8.0/Tier64_RW_4th", "aws/8.0/Tier128_RW_4th")
    result = bring_in(tmp_path / "logs", *names, pattern=CLOUD)
    assert {trial.trial.system.name: trial.trial.system.factors for trial in result.trials} == {
        "google, version=5.7, gb=64": {"vendor": "google", "version": "5.7", "gb": "64"},
        "google, version=8.0, gb=64": {"vendor": "google", "version": "8.0", "gb": "64"},
        "aws, version=8.0, gb=128": {"vendor": "aws", "version": "8.0", "gb": "128"},
    }
    write_import(tmp_path / "study", result)
    analysis = analyse("s", read_study(tmp_path / "study").recordings)
    assert [system.factors["gb"] for system in analysis.systems] == ["64", "64", "128"]


def test_a_system_that_is_named_has_its_factors_behind_its_name(tmp_path: Path) -> None:
    for pattern, told in (
        ("{system}/{factor:disk}_{connections}", {}),
        ("x/{factor:disk}_{connections}", {"system": "x"}),
    ):
        (one,) = bring_in(tmp_path, "x/ssd_4", pattern=pattern, **told).trials
        assert (one.trial.system.name, one.trial.system.factors) == ("x, ssd", {"disk": "ssd"})


def test_several_parts_of_one_key_are_one_name(tmp_path: Path) -> None:
    (one,) = bring_in(
        tmp_path, "a/b/c/r/w/4", pattern="{system}/{system}/{factor:z}/{workload}/{workload}/{connections}", workload=""
    ).trials
    assert (one.trial.system.name, one.trial.workload.name) == ("a b, c", "r w")


def test_a_packed_log_needs_no_other_pattern() -> None:
    read = NamePattern("{system}-{connections}.log").read(Path("x/db1-016.log.gz"))
    assert read.fields == {"system": "db1", "connections": "16"}
    assert NamePattern("{system}.log.gz").read(Path("db1.log.gz")).fields == {"system": "db1"}


def test_a_name_that_can_be_read_in_two_ways_is_refused() -> None:
    with pytest.raises(SpecError, match=r"in several ways: a 'x', b 'y-z' or a 'x-y', b 'z'"):
        NamePattern("{factor:a}-{factor:b}").read(Path("x-y-z"))


def doubts(*texts: str) -> dict[tuple[str, str, int], str]:
    return doubtful_cells(Place("db1", "mix", 4, passed_over=(text,)) for text in texts)


@pytest.mark.parametrize(
    "texts",
    [("1", "2", "3"), ("r1", "r2"), ("run-01", "run-02", "run-03"), ("", "2"), ("20260131", "20260201"), ("x", "x"),
     ("2026-01-31T10:00:00", "2026-01-31T11:00:00"), ("_20260131_1015", "_20260131_1130")],
)  # fmt: skip
def test_numbers_that_follow_each_other_and_dates_are_repetitions(texts: tuple[str, ...]) -> None:
    assert doubts(*texts) == {}


@pytest.mark.parametrize(
    "texts", [("ssd", "hdd"), ("64", "128"), ("8.0", "5.7"), ("r1-ssd", "r1-hdd"), ("", "tuned"), ("gb1", "gb9")]
)
def test_other_texts_may_be_other_configurations(texts: tuple[str, str]) -> None:
    assert doubts(*texts) == {("db1", "mix", 4): f"{texts[0]!r}, {texts[1]!r}"}


def test_other_levels_are_looked_at_apart() -> None:
    places = [Place("db1", "mix", level, passed_over=(text,)) for level, text in ((4, "a"), (8, "b"), (8, "b"))]
    assert doubtful_cells(places) == {}


def test_the_doubt_is_told_and_stays_with_the_numbers(tmp_path: Path) -> None:
    result = bring_in(tmp_path / "logs", "db1-4-ssd", "db1-4-hdd", "db2-4-ssd", pattern="{system}-{connections}-{any}")
    (line,) = [line for line in result.skipped if line.startswith("warning: ")]
    assert "system db1, workload mix, 4 connections: Runs that count as repetitions" in line
    assert "'ssd', 'hdd'" in line
    write_import(tmp_path / "study", result)
    analysis = analyse("s", read_study(tmp_path / "study").recordings)
    assert [warning.code for warning in analysis.warnings].count("repetitions-may-differ") == 1
    codes = [[warning.code for warning in trial.outcome.warnings] for trial in result.trials]
    assert codes == [["repetitions-may-differ"], ["repetitions-may-differ"], []]
