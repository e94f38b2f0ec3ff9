"""The bench's own arithmetic and reports. Speed itself is asserted nowhere: machines differ."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bench import __main__ as command
from bench import bare, loading
from bench.children import ChildError, Used, run_child, until_line
from bench.clients import Driven
from bench.options import QUICK
from bench.ratios import bounded, interleaved
from bench.report import BY_HAND, Report
from bench.rows import Goal, Row, Section

from plimsoll.drive.executable import find_engine
from plimsoll.errors import HostError
from plimsoll.record.store import intact_outcome, read_study


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bench builds none: what is tested here drives none."""
    monkeypatch.setenv("PLIMSOLL_ENGINE", str(find_engine()))


def test_equal_values_have_tight_bounds() -> None:
    found = bounded([2.0, 2.0, 2.0])
    assert (found.value, found.low, found.high, found.count) == pytest.approx((2.0, 2.0, 2.0, 3))


def test_known_bounds() -> None:
    """Logarithms 0, 1, 2: mean 1, standard error 1/sqrt(3), t(0.975, 2) = 4.3027."""
    found = bounded(list(np.exp([0.0, 1.0, 2.0])))
    reach = 4.302652729911275 / np.sqrt(3)
    assert (found.value, found.low, found.high) == pytest.approx(tuple(np.exp([1.0, 1.0 - reach, 1.0 + reach])))


def test_one_value_has_no_bounds() -> None:
    assert (bounded([3.0]).low, bounded([3.0]).high) == (None, None)


def test_bounds_cover_the_truth_as_often_as_they_say() -> None:
    random = np.random.default_rng(7)
    draws = np.exp(random.normal(np.log(0.8), 0.1, (4000, 5)))
    covered = [(found := bounded(list(draw))).low <= 0.8 <= found.high for draw in draws]  # type: ignore[operator]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)


def test_pairs_alternate_and_stay_together() -> None:
    ran: list[str] = []

    def run(name: str) -> str:
        ran.append(name)
        return f"{name}{len(ran)}"

    pairs = interleaved(3, lambda: run("a"), lambda: run("b"))
    assert ran == ["a", "b", "b", "a", "a", "b"]
    assert pairs == [("a1", "b2"), ("a4", "b3"), ("a5", "b6")]


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [([0.5, 0.51], "met"), ([0.5, 0.9], "likely met"), ([1.5, 0.9], "likely missed"), ([1.5, 1.51], "missed")],
)
def test_verdicts_look_at_bounds(ours: list[float], verdict: str) -> None:
    row = Row(name="x", unit="s", ours=ours, peer=[1.0, 1.0], goal=Goal(of="ratio", limit=1.0))
    assert row.verdict == verdict


def test_a_lower_limit_is_met_from_above() -> None:
    row = Row(name="x", unit="tps", ours=[9.0, 9.1], goal=Goal(of="ours", limit=5.0, at_most=False))
    assert (row.verdict, row.goal and row.goal.text("tps")) == ("met", ">= 5 tps")


def test_report_names_what_was_missed_and_what_was_skipped() -> None:
    missed = Row(name="load", unit="s", ours=[2.0, 2.1], peer=[1.0, 1.0], goal=Goal(of="ratio", limit=0.5), note="so")
    sections = (Section(title="Loading: fast", rows=(missed,)), Section(title="Other", skipped="no peer here"))
    report = Report(facts={"Machine": "small"}, sections=sections)
    for text in (report.terminal(), report.markdown()):
        assert "0 of 1 goals met or likely met; 1 comparisons skipped. Missed or likely missed: Loading, load." in text
        assert "no peer here" in text
        assert "small" in text
    assert "* load: so." in report.markdown()
    assert report.json()["sections"][0]["rows"][0]["verdict"] == "missed"


def driven(*, user_s: float, system_s: float) -> Driven:
    """1,000 statements in a second."""
    used = Used(wall_s=1.1, user_s=user_s, system_s=system_s, memory_bytes_max=0, output="")
    return Driven(transactions=1000, statements=1000, duration_s=1.0, used=used)


@pytest.mark.parametrize(("sent_bytes", "verdict"), [(150.2, "met"), (197.5, "missed")])
def test_a_bare_loop_is_a_limit_where_it_is_sent_the_same_bytes(
    sent_bytes: float, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = driven(user_s=0.001, system_s=0.009)
    engine = SimpleNamespace(drive=lambda _: driven(user_s=0.0014, system_s=0.0092))

    def answered(_: Any, drive: Any) -> bare.Answered:
        ran = drive()
        return bare.Answered(driven=ran, bytes_per_statement=sent_bytes if ran is loop else 150.0)

    monkeypatch.setattr(bare, "_build", lambda: Path("loop"))
    monkeypatch.setattr(bare, "_let_in", lambda _: None)
    monkeypatch.setattr(bare, "_drive", lambda *_: loop)
    monkeypatch.setattr(bare, "_answered", answered)
    ground: Any = SimpleNamespace(engine=engine, workload=lambda kind: kind)
    section = bare.compare_bare("oltp_read_only", ground, QUICK)
    assert len(section.rows) == 4 * len(bare.CONNECTIONS)
    cpu, user, throughput, size = section.rows[-4:]
    assert [row.ratio and row.ratio.value for row in (cpu, user, throughput)] == pytest.approx([1.06, 1.4, 1.0])
    assert [row.verdict for row in (cpu, user, throughput, size)] == ["missed", "met", "no goal", verdict]


def test_100_gb_are_calculated_from_the_rate_of_what_was_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int, int]] = []

    def loads(_ground: Any, _options: Any, workload: Any, loaders: int) -> Any:
        made.append((workload.tables, workload.table_size, loaders))
        return loading._Loads(ours_s=[10.8, 10.8], server_s=[10.0, 10.0], size_bytes=500_000_000)

    monkeypatch.setattr(loading, "_loads", loads)
    ground: Any = SimpleNamespace(sysbench=None, server=SimpleNamespace(target=None), execute=lambda *_: None)
    section = loading.compare_load(ground, QUICK)
    assert "sysbench is not installed" in section.title
    one, eight, large = section.rows
    assert made == [(1, 100_000, 2), (8, 25_000, 8)]
    assert [row.verdict for row in section.rows] == ["met", "met", "no goal"]
    assert [row.goal and row.goal.text("s") for row in (one, eight)] == ["<= 1.1 x", "<= 1.1 x"]
    assert large.value.value == pytest.approx(200 * 10.8 / 60), "200 times 500 MB"
    assert "not measured" in large.note


def test_a_child_is_measured() -> None:
    busy = "import sys\nx = bytearray(50_000_000)\nwhile __import__('time').process_time() < 0.5: pass\nprint(input())"
    used = run_child([sys.executable, "-c", busy], given=b"heard\n", watch_memory=True)
    assert used.output == "heard\n"
    assert 0.4 < used.user_s + used.system_s < 5
    assert used.wall_s > 0.4
    assert 50e6 < used.memory_bytes_max < 90e6


def test_a_child_is_ended_at_a_line() -> None:
    code = "import os, sys, time\nfor word in ('one', os.environ['WORD'], 'three'): print(word, file=sys.stderr)"
    took_s, line = until_line([sys.executable, "-c", f"{code}\ntime.sleep(600)"], 2, {"WORD": "two"})
    assert line == "two\n"
    assert 0 < took_s < 600
    with pytest.raises(ChildError, match="ended before line 4: one\ntwo\nthree"):
        until_line([sys.executable, "-c", code], 4, {"WORD": "two"})


def test_a_child_that_fails_says_why() -> None:
    with pytest.raises(ChildError, match="ended with 3: no such thing"):
        run_child([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])


def test_made_up_recordings_can_be_read(tmp_path: Path) -> None:
    from bench.recordings import SECONDS, write_study

    write_study(tmp_path, 12)
    study = read_study(tmp_path)
    assert len(study.recordings) == 12
    assert not study.damaged
    histograms = study.recordings[0].histograms()
    assert histograms is not None
    assert histograms.height == SECONDS * 4


def test_copies_of_a_recording_can_be_read(tmp_path: Path) -> None:
    from bench.recordings import SHORT_S, write_copies

    write_copies(tmp_path, 120)
    study = read_study(tmp_path)
    assert not study.damaged
    assert len({recording.trial.trial_id for recording in study.recordings}) == 120
    assert {recording.trial.repetition for recording in study.recordings} == {0, 1}
    for one in (study.recordings[0], study.recordings[-1]):
        assert intact_outcome(one.path) == one.outcome
        assert (intervals := one.intervals()) is not None
        assert intervals.height == SHORT_S


def test_what_was_measured_by_hand_is_the_end_of_the_page() -> None:
    by_hand = BY_HAND.read_text(encoding="utf-8")
    assert (command.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").endswith(f"\n\n{by_hand}")
    assert Report(facts={}, sections=()).markdown().endswith(by_hand)


def test_parts_leave_the_page_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bench").mkdir()
    monkeypatch.setattr(command, "ROOT", tmp_path)
    assert command.main(["--quick", "--only", "help"]) == 0
    told = capsys.readouterr()
    assert "plimsoll --help" in told.out
    assert "docs/benchmarks.md stays as it is" in told.err
    assert json.loads((tmp_path / "bench" / "last.json").read_text())["format"] == 1
    assert not (tmp_path / "docs").exists()


@pytest.mark.parametrize("error", [ChildError("no such child"), KeyError("no such child")])
def test_a_comparison_that_fails_does_not_take_the_others_with_it(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: object) -> Section:
        raise error

    (tmp_path / "bench").mkdir()
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(command, "ROOT", tmp_path)
    rows = (Row(name="x", unit="s", ours=[1.0]),)
    monkeypatch.setattr(command, "ON_A_SERVER", {})
    monkeypatch.setattr(command, "ALONE", {"help": fails, "guide": lambda _: Section(title="guides", rows=rows)})
    assert command.main([]) == 1
    report = json.loads((tmp_path / "bench" / "last.json").read_text())
    assert [("no such child" in one["failed"], len(one["rows"])) for one in report["sections"]] == [
        (True, 0),
        (False, 1),
    ]
    output = capsys.readouterr()
    assert "guides" in output.out
    assert output.err.splitlines()[-1].startswith("bench: help: ")
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "## help\n\nFailed: " in page
    assert "| x | 1.000 (one value) s |" in page


def test_without_a_server_what_needs_none_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_ground(_: int) -> None:
        raise HostError("no server here")

    (tmp_path / "bench").mkdir()
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "ground", no_ground)
    monkeypatch.setattr(command, "ALONE", {"help": lambda _: Section(title="help")})
    assert command.main(["--quick", "--only", "load", "--only", "memory", "--only", "help"]) == 1
    sections = json.loads((tmp_path / "bench" / "last.json").read_text())["sections"]
    assert [section["failed"] for section in sections] == ["no server here", "no server here", ""]
    assert "bench: memory: no server here" in capsys.readouterr().err
