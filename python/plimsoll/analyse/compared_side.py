"""The two systems of a comparison, with their trials and searches, and how they were measured against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.capacities import capacities, deciding_runs
from plimsoll.analyse.compare_model import ComparedSide, Sessions
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.capacity import SearchRecord


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two systems; it has a trial, or a run of a search.

    Attributes:
        facts: What it is.
        trials: Complete trials of one system, all in one environment, without those of searches.
        searched: Complete runs of searches for a capacity: no levels, since each search chooses its own.
        searches: Those searches.
    """

    facts: ComparedSide
    trials: Sequence[TrialSummary]
    searched: Sequence[TrialSummary] = ()
    searches: Sequence[SearchRecord] = ()

    @property
    def all_trials(self) -> Sequence[TrialSummary]:
        """Every complete trial, runs of searches included."""
        return (*self.trials, *self.searched)

    @property
    def ramps(self) -> Sequence[TrialSummary]:
        """Those runs of searches whose rate rose."""
        return [one for one in self.searched if one.trial.ramp is not None]

    @property
    def answering(self) -> Sequence[TrialSummary]:
        """Without those runs of searches that are not the answer: what is wrong at other rates was asked for."""
        deciding = deciding_runs(capacities(self.searches))
        return (*self.trials, *(one for one in self.searched if one.trial.trial_id in deciding))


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How two sides were measured against each other.

    Attributes:
        is_paired: Equal repetitions of both were measured next to each other, as within one study.
        at_any_look: Repetitions of a side went on until the answer of its study was decided.
        sessions: Across what they were replicated.
        session_numbers: Of the trials of both sides, by id, where sessions alternate: the unit is then the session.
        baselines: Other sessions of the first side, where sessions are apart.
        questions_count: How many comparisons share the 5 % of such a study: those of this pair alone where it is less.
    """

    is_paired: bool
    at_any_look: bool = False
    sessions: Sessions = Sessions.UNKNOWN
    session_numbers: tuple[Mapping[str, int], Mapping[str, int]] | None = None
    baselines: Sequence[Side] = ()
    questions_count: int = 0

    @property
    def is_of_single_sessions(self) -> bool:
        """Whether there was one session of each side, so that repetitions show only what is within them."""
        return self.sessions in (Sessions.APART, Sessions.BASELINE)

    @property
    def is_of_sessions(self) -> bool:
        """Whether two studies are compared of which it is known when they were measured."""
        return self.is_of_single_sessions or self.sessions is Sessions.ALTERNATING
