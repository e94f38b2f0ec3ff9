"""Running a study or a search for a person: progress while it runs, the result and the guide's path at the end.

A search for a capacity shows each step with its last minute, the bracket, and the time left.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console, Group

from plimsoll.cli.panel import LastMinute, Panel, left_words, line_of, panel_on, stderr_console
from plimsoll.cli.progress import PHASES, study_display
from plimsoll.cli.streams import show
from plimsoll.cli.watching import told_both
from plimsoll.drive.protocol import Interval, Progress
from plimsoll.errors import PlimsollError, RecordError
from plimsoll.plan.capacity import Step
from plimsoll.prose.capacity import bracket_words, run_words, step_words
from plimsoll.run.capacity_search import Searched
from plimsoll.run.capacity_target import SearchListeners
from plimsoll.run.rows import response_ms_p99
from plimsoll.run.status import how_far, study_status
from plimsoll.run.study import run_study
from plimsoll.units import format_duration, format_ms, format_rate, printable
from plimsoll.wording import counted

if TYPE_CHECKING:
    from plimsoll.analyse.model import Analysis
    from plimsoll.metrics.totals import Totals
    from plimsoll.spec.study import StudySpec

INVALID = 4
SWITCH = 6
"""The study goes on in another environment, to which the user switches."""


@dataclass(frozen=True, slots=True)
class Running:
    """How a study runs.

    Attributes:
        quiet: Without progress.
        plain: Lines in place of a live panel.
        strict: Refuse to measure if pre-flight findings make figures wrong or uncertain.
        fit_budget: Reduce repetitions until the plan fits the study's budget.
        environment: The one that is there; None where that is not said.
        labels: What is said of the version that is measured.
    """

    quiet: bool = False
    plain: bool = False
    strict: bool = False
    fit_budget: bool = False
    environment: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guided:
    """A study that ran, and its guide.

    Attributes:
        analysis: Of all its recordings.
        path: The guide's HTML file.
        exit_code: 0, or 4 when trials failed or are invalid: the guide then lacks them and says so. 6 when the study
            goes on in another environment.
        following: That environment; None for none.
    """

    analysis: Analysis
    path: Path
    exit_code: int
    following: str | None = None


def again_command(study: Path, to: Path | None, how: Running) -> str:
    """The command that goes on with a study, without its environment.

    >>> again_command(Path("my study.toml"), None, Running(strict=True))
    "plimsoll study run 'my study.toml' --strict"
    """
    words = ["plimsoll", "study", "run", str(study), *([] if to is None else ["--to", str(to)])]
    options = {
        "--quiet": how.quiet,
        "--no-progress": how.plain,
        "--strict": how.strict,
        "--fit-budget": how.fit_budget,
    }
    return shlex.join([*words, *(name for name, is_said in options.items() if is_said)])


def run_and_show(
    file: Path, spec: StudySpec, folder: Path, how: Running, *, again: str, totals: Totals | None = None
) -> int:
    """Runs what is missing, then shows the analysis and writes the guide.

    Args:
        file: The study file.
        spec: What it says.
        folder: Where everything about the study is kept.
        how: The user's options.
        again: The command that goes on with the study.
        totals: Metrics that somebody reads meanwhile; None for none.

    Returns:
        The exit code, as `Guided` has it.

    Raises:
        PlimsollError, KeyboardInterrupt: It stopped before its end; what is missing was told.
    """
    guide = run_and_guide(file, spec, folder, how, totals)
    from plimsoll.guide.terminal import render_terminal

    show(render_terminal(guide.analysis))
    typer.echo(f"Guide: {guide.path}")
    if guide.following is not None:
        needs_option = how.environment is not None or not _has_check(spec, guide.following)
        option = f" --environment {shlex.quote(guide.following)}" if needs_option else ""
        line = f"plimsoll: switch to {guide.following!r}, then run the study again: {again}{option}"
        Console(stderr=True).print(printable(line), soft_wrap=not sys.stderr.isatty(), markup=False, highlight=False)
    return guide.exit_code


def _has_check(spec: StudySpec, environment: str) -> bool:
    return environment in spec.environment and spec.environment[environment].check is not None


def run_and_guide(
    file: Path, spec: StudySpec, folder: Path, how: Running = Running(), totals: Totals | None = None
) -> Guided:
    """Runs what is missing and writes the guide; raises as `run_and_show` does."""
    try:
        with study_display(folder, quiet=how.quiet, plain=how.plain) as display:
            result = run_study(
                file,
                spec,
                folder,
                told_both(display.show, totals),
                strict=how.strict,
                fit_budget=how.fit_budget,
                environment=how.environment,
                labels=how.labels,
            )
    except (KeyboardInterrupt, PlimsollError):
        if display.has_begun:
            _tell_how_far(folder)
        raise
    from plimsoll.guide.build import build_guide  # not before there is something to show: it takes long to import

    analysis, paths = build_guide(folder)
    if result.failed_count:
        Console(stderr=True).print(
            f"plimsoll: {counted(result.failed_count, 'trial')} failed; run the same command again to measure what is"
            " missing",
            soft_wrap=not sys.stderr.isatty(),
        )
    exit_code = INVALID if result.failed_count else 0 if result.following is None else SWITCH
    return Guided(analysis, paths[0], exit_code, result.following)


def _tell_how_far(folder: Path) -> None:
    """Names what has not run, for the person who stopped it or who mends what did."""
    try:
        lines = how_far(study_status(folder))
    except RecordError:
        return  # it was moved or removed, which is told already
    for line in (*lines, "run the same command again to continue"):
        Console(stderr=True).print(printable(line), soft_wrap=not sys.stderr.isatty(), markup=False, highlight=False)


class SearchDisplay:
    """Lines for a person, on a terminal above a panel with the last minute of the run that goes on."""

    def __init__(self, console: Console, panel: Panel | None) -> None:
        self._console, self._panel = console, panel
        self._minute = LastMinute()
        self._now, self._ends_at_s = "", time.monotonic()

    @property
    def listeners(self) -> SearchListeners:
        """What it shows of a search."""
        return SearchListeners(
            begins=self._begins,
            step=self._step,
            interval=self._interval,
            searched=self._searched,
            loading=self._loading,
            note=self.say,
        )

    def say(self, text: str) -> None:
        """Says a line, above the panel."""
        self._console.print(printable(text), markup=False, highlight=False)

    def _begins(self, expected_s: float) -> None:
        self._ends_at_s = time.monotonic() + expected_s
        self.say(f"searching for the capacity, about {format_duration(expected_s)}")

    def _step(self, step: Step) -> None:
        self._minute.clear()
        self._show(step_words(step))

    def _interval(self, interval: Interval) -> None:
        if self._panel is not None:  # percentiles of what nobody sees
            self._minute.add(interval.throughput_tps, response_ms_p99([interval]))
            self._show(self._now, is_rare=False)

    def _searched(self, searched: Searched) -> None:
        self._ends_at_s = time.monotonic() + searched.remaining_s
        self.say(searched_line(searched))

    def _loading(self, progress: Progress) -> None:
        phase = PHASES.get(progress.phase, progress.phase)
        self._show(f"{phase} {progress.done_count / max(progress.total_count, 1):.0%}", is_rare=False)

    def _show(self, now: str, *, is_rare: bool = True) -> None:
        self._now = now
        if self._panel is not None:
            left = line_of(f"  {left_words(self._ends_at_s - time.monotonic())}")
            self._panel.update(Group(line_of(f"  {now}"), left, self._minute), is_rare=is_rare)


def say(text: str) -> None:
    """Says a line, in the place of the seconds of a run."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{clear}{printable(text)}", file=sys.stderr, flush=True)


def show_interval(interval: Interval) -> None:
    """The last second of a run, on a terminal in one line that is written over."""
    if not sys.stderr.isatty():
        return
    p99 = response_ms_p99([interval])
    times = "" if p99 is None else f", p99 {format_ms(p99)}"
    seconds = f"\r\x1b[K  {interval.to_ns / 1e9:.0f} s: {format_rate(interval.throughput_tps)}{times}"
    print(seconds, end="", file=sys.stderr, flush=True)


def searched_line(searched: Searched) -> str:
    """What a run said, where the capacity lies by now, and how long it will still take."""
    left = f"; about {format_duration(searched.remaining_s)} left" if searched.remaining_s else ""
    return f"{run_words(searched.run)}{bracket_words(searched.low_tps, searched.high_tps)}{left}"


@contextmanager
def searching(*, plain: bool = False) -> Iterator[SearchDisplay]:
    """A display for the time that a search runs.

    Args:
        plain: Lines alone, on a terminal too.
    """
    console = stderr_console()
    with panel_on(console, is_wanted=not plain) as panel:
        yield SearchDisplay(console, panel)
