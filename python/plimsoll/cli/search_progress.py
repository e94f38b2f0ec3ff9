"""Progress of a search for a capacity on standard error: each step and its seconds, the bracket, the time left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.cli.load_progress import load_progress
from plimsoll.drive.protocol import Interval
from plimsoll.plan.capacity import Step
from plimsoll.prose.capacity import bracket_words, run_words, step_words
from plimsoll.run.capacity_target import Told
from plimsoll.run.rows import response_ms_p99
from plimsoll.run.searching import Searched
from plimsoll.units import format_duration, format_ms, format_rate, printable


class SearchDisplay:
    """Lines for a person; the seconds of a run only on a terminal, in one line that is written over."""

    def __init__(self, told: Told) -> None:
        self.told = told

    def begins(self, expected_s: float) -> None:
        """Says about how long it will take."""
        say(f"searching for the capacity, about {format_duration(expected_s)}")

    def ends(self, text: str) -> None:
        """Says why it ended before its end, in the place of the seconds of a run."""
        say(text)


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


def _step(step: Step) -> None:
    if sys.stderr.isatty():
        say(f"{step_words(step)} ...")


def searched_line(searched: Searched) -> str:
    """What a run said, where the capacity lies by now, and how long it will still take."""
    left = f"; about {format_duration(searched.remaining_s)} left" if searched.remaining_s else ""
    return f"{run_words(searched.run)}{bracket_words(searched.low_tps, searched.high_tps)}{left}"


@contextmanager
def searching() -> Iterator[SearchDisplay]:
    """A display for the time that a search runs."""
    with load_progress() as loading:
        yield SearchDisplay(
            Told(
                step=_step,
                interval=show_interval,
                searched=lambda searched: say(searched_line(searched)),
                loading=loading.show,
                note=say,
            )
        )
