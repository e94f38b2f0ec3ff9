"""The live panel: what it shows at any width, and that it is drawn where a terminal can, a few times a second."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from rich.console import Console, RenderableType

from plimsoll.cli.panel import LAST, Bar, CellTable, LastMinute, panel_on, sparkline, stderr_console
from plimsoll.cli.progress import StudyDisplay
from plimsoll.cli.running import SearchDisplay
from plimsoll.drive.protocol import Progress
from plimsoll.plan.capacity import Step
from plimsoll.plan.model import Estimates, Plan, PlannedSearch, PlannedTrial
from plimsoll.record.capacity import CapacityObjective, RunRole
from plimsoll.record.model import State, Verdict
from plimsoll.run.events import (
    Event,
    EventLog,
    IntervalEnded,
    SearchBegan,
    SearchEnded,
    StateBegan,
    StudyBegan,
    TrialBegan,
    TrialEnded,
)
from support.printed import printed
from support.terminal import Terminal, lines_of

SYSTEMS = ("innodb_flush_log_at_trx_commit=1", "innodb_flush_log_at_trx_commit=2")
LEVELS = tuple(2**power for power in range(12))


def planned(system: str, connections: int) -> PlannedTrial:
    return PlannedTrial(
        trial_id=f"{system[-1]}-{connections}", system=system, workload="w", connections=connections, repetition=0,
        block=0, seed=0,
    )  # fmt: skip


PLAN = Plan(
    study="s",
    trials=tuple(planned(system, level) for system in SYSTEMS for level in LEVELS),
    estimates=Estimates(trial_s=10, total_s=240, disk_bytes=0),
)
BEGAN = StudyBegan(study="s", trial_count=24, finished_count=0, estimated_s=240)


def began(system: str, connections: int) -> TrialBegan:
    cell = {"trial_id": f"{system[-1]}-{connections}", "system": system, "workload": "w", "connections": connections}
    return TrialBegan(**cell, repetition=0, position=1, remaining_s=230)


def ended(system: str, connections: int, tps: float | None) -> TrialEnded:
    cell = {"trial_id": f"{system[-1]}-{connections}", "system": system, "workload": "w", "connections": connections}
    verdict = Verdict.FAILED if tps is None else Verdict.COMPLETE
    return TrialEnded(**cell, verdict=verdict, reason="x", throughput_tps=tps, response_ms_p99=None)


def interval(index: int) -> IntervalEnded:
    figures = {"throughput_tps": 1000.0 + index, "response_ms_p99": 2.5, "error_count": 0}
    return IntervalEnded(index=index, state=State.MEASURE, **figures)


def shown(what: RenderableType, width: int, height: int = 40) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, height=height).print(what)
    return file.getvalue().splitlines()


def test_a_sparkline_reaches_from_zero_to_the_maximum() -> None:
    assert sparkline([0, 7, 3.5], 60) == "▁█▅"
    assert sparkline([None, 5.0], 60) == " █"
    assert sparkline([0.0, 0.0], 60) == "▁▁"
    assert sparkline([], 60) == ""
    assert sparkline(range(100), 3) == "███"


def test_the_last_minute_is_shown_with_its_last_figures() -> None:
    minute = LastMinute()
    assert shown(minute, 80) == []
    for second in range(2 * LAST):
        minute.add(float(second), None if second == 2 * LAST - 1 else 1.5)
    rate, p99 = shown(minute, 120)
    assert rate.startswith("  throughput  ")
    assert rate.endswith("█ 119 tps")
    assert len(rate) == len("  throughput  ") + LAST + len(" 119 tps")
    assert p99.rstrip().endswith("█")
    minute.clear()
    assert shown(minute, 80) == []


@pytest.mark.parametrize("width", [200, 80, 40, 20, 10])
def test_nothing_is_wider_than_the_terminal_or_goes_on_below(width: int) -> None:
    minute, cells = LastMinute(), CellTable(((system, "w"), str(level)) for system in SYSTEMS for level in LEVELS)
    minute.add(123_456.7, 12.3)
    cells.end((SYSTEMS[0], "w"), "1024", 1_234_567.0)
    for what, count in ((minute, 2), (cells, 4), (Bar(0.5, "12/40 trials, about 2 h 05 min left"), 1)):
        lines = shown(what, width)
        assert all(len(line) <= width for line in lines), lines
        assert len(lines) <= count


def test_a_bar_makes_room_for_its_words() -> None:
    assert shown(Bar(0.5, "6/12"), 80) == [f"{'━' * 15}{'─' * 15} 6/12"]
    assert shown(Bar(2.0, "13/12"), 16) == [f"{'━' * 10} 13/12"]
    assert shown(Bar(0.5, "12/40 trials"), 14) == ["12/40 trials"]


def test_cells_fill_and_the_one_that_runs_is_in_sight() -> None:
    rows = [(f"system {number}", "w") for number in range(20)]
    cells = CellTable((row, str(level)) for row in rows for level in LEVELS)
    cells.end(rows[10], "256", 412.0)
    cells.end(rows[10], "256", 414.0)
    cells.end(rows[11], "256", None)
    cells.begin(rows[11], "512")
    heading, *lines, more = shown(cells, 40)
    assert heading.split() == ["tps", "256", "512", "1024"]
    (row,) = [line for line in lines if line.startswith("system 10")]
    assert row.split() == ["system", "10", "413", ".", "."]
    (row,) = [line for line in lines if line.startswith("system 11")]
    assert row.split() == ["system", "11", "failed", "...", "."]
    assert (len(lines), more) == (8, "and 12 more rows and 9 more levels")
    assert len(shown(cells, 40, height=14)) == 4, "a low terminal shows fewer rows"


def test_a_single_cell_is_no_table() -> None:
    assert shown(CellTable([(("a", "w"), "4")]), 80) == []


def test_rows_are_named_by_what_tells_them_apart() -> None:
    assert [line.split("  ")[0] for line in shown(CellTable([(("a", "w"), "4"), (("b", "w"), "4")]), 80)[1:]] == [
        "a",
        "b",
    ]
    assert "a, x" in "\n".join(shown(CellTable([(("a", "w"), "4"), (("a", "x"), "4")]), 80))


def test_a_terminal_without_blocks_gets_ascii() -> None:
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="latin-1"), width=60, height=20)
    minute = LastMinute()
    minute.add(5.0, 1.0)
    for what in (minute, Bar(0.5, "1/2"), CellTable([(("a", "w"), "4"), (("b", "w"), "4")])):
        console.print(what)  # the encoding would refuse others


class Counted:
    """A picture that counts how often it is drawn."""

    def __init__(self) -> None:
        self.count = 0

    def __rich_console__(self, *_: object) -> list[str]:
        self.count += 1
        return ["picture"]


def test_what_goes_on_all_the_time_is_drawn_a_few_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("plimsoll.cli.panel.time.monotonic", lambda: now_s)
    console, picture = Console(file=io.StringIO(), force_terminal=True, width=40, height=10), Counted()
    with panel_on(console) as panel:
        assert panel is not None
        before = picture.count
        for _ in range(1_000):
            panel.update(picture, is_rare=False)  # type: ignore[arg-type]
            now_s += 0.01
        each = [picture.count - before]
        panel.update(picture)  # type: ignore[arg-type]
    assert 39 <= each[0] <= 41, "in ten seconds"


@pytest.mark.parametrize(
    "options",
    [{"force_terminal": False}, {"force_terminal": True, "_environ": {"TERM": "dumb"}}],
    ids=["pipe", "dumb"],
)
def test_there_is_no_panel_where_nothing_can_be_written_over(options: dict[str, object]) -> None:
    with panel_on(Console(file=io.StringIO(), **options)) as panel:  # type: ignore[arg-type]
        assert panel is None


def test_a_variable_makes_no_terminal_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert Console(stderr=True).is_terminal
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with panel_on(stderr_console()) as panel:
        assert panel is None


def test_a_study_shows_the_cells_of_its_plan_with_what_ran_before(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(PLAN.model_dump_json())
    log = EventLog(tmp_path / "events.jsonl", lambda _: None, lambda: None)
    for event in (ended(SYSTEMS[0], 1, 500.0), ended(SYSTEMS[0], 1, 510.0), ended(SYSTEMS[0], 2, None)):
        log.say(event)
    log.close()
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=40)
    with panel_on(console) as panel:
        display = StudyDisplay(console, panel, tmp_path)
        display.show(BEGAN)
        display.show(began(SYSTEMS[1], 1))
        display.show(interval(1))
        picture = printed(display._picture(), width=80)
    assert re.search(r"^innodb_.*=1 +510 +\. ", picture, re.MULTILINE), picture
    assert re.search(r"^innodb_.*=2 +\.\.\. ", picture, re.MULTILINE), picture
    assert "throughput  █ 1,001 tps" in picture
    assert "p99         █ 2.50 ms" in picture


def test_a_study_of_capacities_has_a_column_of_them(tmp_path: Path) -> None:
    searches = tuple(
        PlannedSearch(search_id=system[-1], system=system, workload="w", repetition=0, block=0) for system in SYSTEMS
    )
    (tmp_path / "plan.json").write_text(PLAN.model_copy(update={"searches": searches, "trials": ()}).model_dump_json())
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=40)
    search = {"search_id": "1", "system": SYSTEMS[0], "workload": "w", "repetition": 0}
    with panel_on(console) as panel:
        display = StudyDisplay(console, panel, tmp_path)
        for event in (BEGAN, SearchBegan(**search), began(SYSTEMS[0], 64), ended(SYSTEMS[0], 64, 900.0)):
            display.show(event)
        objective = CapacityObjective(response_ms_p99=20.0)
        display.show(SearchEnded(**search, capacity_tps=850.0, objective=objective))
        picture = printed(display._picture(), width=80)
    assert re.search(r"tps +capacit", picture)
    assert re.search(r"=1 +850$", picture, re.MULTILINE), picture


SCRIPT = """
import sys
from pathlib import Path
from pydantic import TypeAdapter
from plimsoll.cli.progress import study_display
from plimsoll.run.events import Event
events = TypeAdapter(Event)
with study_display(Path(sys.argv[1]), plain="plain" in sys.argv) as display:
    for line in sys.stdin:
        display.show(events.validate_json(line))
"""
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


def tell(terminal: Terminal, *events: Event) -> None:
    terminal.tell("".join(f"{event.model_dump_json()}\n" for event in events))


def displayed(folder: Path, columns: int, *words: str, env: dict[str, str] | None = None) -> Terminal:
    (folder / "plan.json").write_text(PLAN.model_dump_json())
    return Terminal([sys.executable, "-c", SCRIPT, str(folder), *words], columns=columns, env=env or {})


def test_the_panel_is_as_wide_as_the_terminal_also_when_that_changes(tmp_path: Path) -> None:
    with displayed(tmp_path, 80, env={"NO_COLOR": "1"}) as terminal:
        tell(terminal, BEGAN, began(SYSTEMS[0], 64), interval(1), StateBegan(state=State.VERIFY))
        at = terminal.wait_for("verify")  # the last picture says so, however many there were before it
        at = terminal.wait_for("and 6 more levels", after=at)
        wide = terminal.written()[:at]
        assert "1,001 tps" in wide
        assert max(map(len, lines_of(wide))) <= 80
        assert "0/24 trials, about " in wide
        terminal.resize(40)
        tell(terminal, ended(SYSTEMS[0], 64, 1234.0), began(SYSTEMS[1], 64))
        end = terminal.wait_for("and 9 more levels", after=at)
        narrow = terminal.written()[at:end]
        terminal.resize(80)
        tell(terminal, began(SYSTEMS[1], 128))
        terminal.wait_for("and 6 more levels", after=end)
        _, written = terminal.finish()
    after = lines_of(narrow)
    assert any(re.search(r"=1 .* 1,234", line) for line in after), after
    assert max(map(len, after)) <= 40, after
    assert not re.search(r"\x1b\[(?:\d+;)*[349]\d", written), "colours, and NO_COLOR is set"
    assert written[written.rindex("more levels") :].count("\x1b[2K") >= 7, "the panel is gone at the end"


@pytest.mark.parametrize(("words", "env"), [((), {"TERM": "dumb"}), (("plain",), {})], ids=["dumb", "no progress"])
def test_plain_lines_hold_on_a_terminal_too(tmp_path: Path, words: tuple[str, ...], env: dict[str, str]) -> None:
    with displayed(tmp_path, 80, *words, env=env) as terminal:
        tell(terminal, BEGAN, began(SYSTEMS[0], 64), interval(1), ended(SYSTEMS[0], 64, 1234.0))
        _, written = terminal.finish()
    assert "\x1b[2K" not in written
    assert "throughput" not in written
    assert "[1/24]" in written
    assert "1,234 tps" in written


def searched(console: Console, *, plain: bool) -> None:
    """A search as it is told of."""
    with panel_on(console, is_wanted=not plain) as panel:
        display = SearchDisplay(console, panel)
        listeners = display.listeners
        listeners.begins(130.0)
        listeners.step(Step(role=RunRole.SWEEP, connections=4, rate_tps=None, duration_s=1.0))
        listeners.loading(Progress(type="progress", phase="load", done_count=1, total_count=4))
        listeners.note("a :smile: of\x1b the server")


def test_a_search_has_the_same_lines_with_a_panel_and_without_one() -> None:
    plain, live = io.StringIO(), io.StringIO()
    searched(Console(file=plain, width=80, emoji=False), plain=True)
    assert plain.getvalue() == "searching for the capacity, about 2 min 10 s\na :smile: of\\x1b the server\n"
    searched(Console(file=live, width=80, force_terminal=True, color_system=None, emoji=False), plain=False)
    lines = lines_of(live.getvalue())
    assert [line for line in plain.getvalue().splitlines() if line not in lines] == []
    assert "  sweep: 4 connections in a closed loop for 1 s" in lines
