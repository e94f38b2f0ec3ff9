"""Outages as a table."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.outage_model import TrialOutage
from plimsoll.guide.tables import Column, Entry, Table

_COLUMNS = (
    Column(heading="system", numeric=False),
    Column(heading="workload", numeric=False),
    Column(heading="level"),
    Column(heading="repetition"),
    Column(heading="began"),
    Column(heading="lasted"),
    Column(heading="connections lost"),
    Column(heading="transactions lost"),
    Column(heading="in the figures", numeric=False),
)


def outage_table(analysis: Analysis) -> Table | None:
    """The longest outages of the trials that figures rest on; None when there was none."""
    if not analysis.outages:
        return None
    more = analysis.outages_count - len(analysis.outages)
    notes = ["An outage lasts from the first connection that was lost until they were back, as the client saw it."]
    notes += [f"{more:,} shorter ones are not listed."] if more else []
    return Table(
        caption="Outages",
        columns=_COLUMNS,
        rows=tuple(_row(one, _trials(one, analysis)) for one in analysis.outages),
        notes=tuple(notes),
    )


def _trials(one: TrialOutage, analysis: Analysis) -> tuple[str, ...]:
    """The recording in which it was seen; none where the guide does not list it."""
    place = (one.system, one.workload, one.level, one.repetition)
    return tuple(
        trial.trial_id
        for trial in analysis.trials
        if (trial.system, trial.workload, trial.level, trial.repetition) == place
    )


def _row(one: TrialOutage, trials: tuple[str, ...]) -> tuple[Entry, ...]:
    lasted = f"{one.length_s:.1f} s"
    return (
        Entry(one.system),
        Entry(one.workload),
        Entry(one.level.label()),
        Entry(f"{one.repetition + 1}"),
        Entry(f"{one.from_s:.1f} s", sources=trials),
        Entry(lasted if one.is_over else f"{lasted}, to the end", sources=trials),
        Entry(f"{one.connections_count:,}"),
        Entry(f"{one.lost_count:,}"),
        Entry("yes" if one.is_measured else "no: outside of what was measured"),
    )
