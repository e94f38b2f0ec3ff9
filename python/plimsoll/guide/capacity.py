"""Capacities as tables: the runs of a search, and the systems of a study beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analyse.capacity_model import CapacityRatio, SystemCapacity
from plimsoll.analyse.model import Analysis
from plimsoll.guide.numbers import NOT_KNOWN, show_change, show_rate
from plimsoll.guide.sources import capacity_sources
from plimsoll.guide.tables import Column, Entry, Table
from plimsoll.prose.capacity import VERDICTS, objective_words, share_words
from plimsoll.prose.phrases import counted, listed
from plimsoll.record.capacity import Capacity, CapacityRun
from plimsoll.units import format_number, format_rate

NOTE = (
    "Capacity is the rate at which as many arrivals are over the objective as it allows, from all runs of a search"
    " together; of several searches the geometric mean. The limits are the ends of the 95 % confidence intervals of the"
    " searches, the lowest and the highest; an upper limit is not known where runs of a search contradict each other."
)
RAMPS_NOTE = (
    "Compared by {} of ramps: the rate of each system rose until most answers were late, in turn and in random order."
    " The ratio is that of these rates; the interval holds whenever it was looked at, and has what starts of a server"
    " are taken to differ by."
)
_VERDICTS = {
    "faster": "higher",
    "slower": "lower",
    "equal": "equal",
    "unresolved": "not resolved",
    "untestable": "not resolved by one search each",
    "disturbed": "disturbed",
}


def runs_table(found: Capacity, caption: str = "Runs of the search") -> Table:
    """Every run of a search, in the order in which they ran."""
    columns = (
        Column(heading="run for", numeric=False),
        Column(heading="connections"),
        Column(heading="rate tps"),
        Column(heading="completed tps"),
        Column(heading="p99 ms"),
        Column(heading="over the objective"),
        Column(heading="s"),
        Column(heading="verdict", numeric=False),
    )
    notes = (f"Objective: {objective_words(found.objective)}.",)
    return Table(caption=caption, columns=columns, rows=tuple(_run(one) for one in found.runs), notes=notes)


def _run(run: CapacityRun) -> tuple[Entry, ...]:
    figures = (
        f"{run.connections:,}",
        NOT_KNOWN if run.rate_tps is None else format_number(run.rate_tps),
        format_number(run.throughput_tps),
        NOT_KNOWN if run.response_ms_p99 is None else format_number(run.response_ms_p99),
        NOT_KNOWN if run.rate_tps is None else share_words(run.over_ratio),
        f"{run.duration_s:g}",
    )
    linked = (Entry(text, sources=() if text == NOT_KNOWN else (run.trial_id,)) for text in figures)
    return (
        Entry(run.role.value),
        *linked,
        Entry(_verdict(run)),
    )


def _verdict(run: CapacityRun) -> str:
    if run.made_again:
        return "disturbed, made again"
    if run.pair is not None:
        return "no knee" if run.knee_tps is None else f"pair {run.pair + 1}: knee at {format_rate(run.knee_tps)}"
    return VERDICTS[run.verdict] + (": replica lag grows" if run.lag_grows else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPart:
    """What a guide says about capacities besides charts.

    Attributes:
        systems: Every system with its capacity.
        ratios: Systems compared; None where there was nothing to compare.
        runs: The runs of each search.
    """

    systems: Table
    ratios: Table | None
    runs: tuple[Table, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Those that are shown before the single runs."""
        return (self.systems,) if self.ratios is None else (self.systems, self.ratios)


def capacity_part(analysis: Analysis, workload: str | None = None) -> CapacityPart | None:
    """Tables of a study's capacities; None where none was searched for.

    Args:
        analysis: Of the study.
        workload: The one that they are about; None for all, which tables then name.
    """
    capacities = [one for one in analysis.capacities if workload in (None, one.workload)]
    if not capacities:
        return None
    ratios = [one for one in analysis.capacity_ratios if workload in (None, one.workload)]
    units = {one.name: one.rate_unit for one in analysis.workloads}
    columns = (
        Column(heading="system", numeric=False),
        Column(heading="workload", numeric=False),
        Column(heading="capacity"),
        Column(heading="lower limit"),
        Column(heading="upper limit"),
        Column(heading="searches"),
        Column(heading="objective", numeric=False),
    )
    rows = tuple(_system(one, units.get(one.workload, "tps")) for one in capacities)
    systems = Table(caption="Capacity at the objective", columns=columns, rows=rows, notes=(NOTE,))
    runs = tuple(
        runs_table(
            search.capacity,
            (f"{search.system}, {search.workload}" if workload is None else search.system)
            + f", repetition {search.repetition + 1}"
            + ("" if search.is_finished else ", stopped" if search.stopped is not None else ", not finished"),
        )
        for one in capacities
        for search in one.searches
    )
    compared = _ratios(ratios)
    if workload is not None:
        systems, compared = systems.without("workload"), compared and compared.without("workload")
    return CapacityPart(systems=systems, ratios=compared, runs=runs)


def _system(one: SystemCapacity, unit: str) -> tuple[Entry, ...]:
    shown = None if one.capacity_tps is None else show_rate(one.capacity_tps, unit)
    return (
        Entry(one.system),
        Entry(one.workload),
        Entry("not known")
        if shown is None
        else Entry(f"{shown.value} {unit}", shown.bounds, sources=capacity_sources(one)),
        Entry(NOT_KNOWN if one.low is None else format_rate(one.low, unit)),
        Entry(NOT_KNOWN if one.high is None else format_rate(one.high, unit)),
        Entry(str(len(one.searches))),
        Entry(objective_words(one.objective)),
    )


def _ratios(ratios: Sequence[CapacityRatio]) -> Table | None:
    if not ratios:
        return None
    columns = (
        Column(heading="compared", numeric=False),
        Column(heading="workload", numeric=False),
        Column(heading="capacity"),
        Column(heading="verdict", numeric=False),
        Column(heading="more repetitions to decide"),
    )
    rows = tuple(_ratio(one) for one in ratios)
    pairs = [one.pairs_count for one in ratios if one.pairs_count]
    notes = (RAMPS_NOTE.format(listed(list(dict.fromkeys(counted(one, "pair") for one in pairs)))),) if pairs else ()
    return Table(caption="Capacities compared", columns=columns, rows=rows, notes=notes)


def _ratio(one: CapacityRatio) -> tuple[Entry, ...]:
    change = show_change(one.ratio)
    needed = NOT_KNOWN if one.repetitions_needed is None else str(one.repetitions_needed)
    pair = Entry(f"{one.system} against {one.base}")
    verdict = _VERDICTS.get(one.verdict, one.verdict)
    if one.verdict == "untestable" and one.pairs_count:
        verdict = "not resolved"
    return (pair, Entry(one.workload), Entry(change.value, change.bounds), Entry(verdict), Entry(needed))
