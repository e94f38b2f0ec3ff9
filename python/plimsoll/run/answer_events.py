"""What a study knows of its answer while it runs, as events."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.document import Document


class AnswerProgressed(Document):
    """What a study that goes on until its answer is decided knows after a repetition, in a duet after a round.

    Attributes:
        is_duet: Repetitions are rounds.
        repetitions: So many are complete.
        is_decided: Nothing is open; the study ends.
        is_over_budget: Something is open, but another repetition would exceed the budget; the study ends.
        more_max: How many further repetitions decide all, if the ratios stay; None where that is not known.
        trials_left: How many further trials that is expected to take, or all that are planned where it is not known;
            None in events of earlier versions.
        text: What is known of each question, a line each; last, if the budget ended the study, that.
    """

    type: Literal["answer_progressed"] = "answer_progressed"
    is_duet: bool = False
    repetitions: int
    is_decided: bool
    is_over_budget: bool = False
    more_max: int | None
    trials_left: int | None = None
    text: tuple[str, ...]


class DuetProgressed(Document):
    """How two systems of a duet compare so far.

    Attributes:
        system: What is compared, with `base`.
        pair_count: Pairs of turns of the running round that count so far; None between rounds.
        pairs_planned: Of each round.
        rounds_count: Rounds that are over.
        rounds_planned: Of the study; None where it goes on until its answer is decided.
        ratio: Throughput of `system` over that of `base`: in the running round, between rounds in all that are over.
        low: Lower end of its 95 % interval; None within a round and after the first one.
        high: Upper end.
    """

    type: Literal["duet_progressed"] = "duet_progressed"
    workload: str
    connections: int
    base: str
    system: str
    pair_count: int | None = None
    pairs_planned: int
    rounds_count: int
    rounds_planned: int | None
    ratio: float
    low: float | None = None
    high: float | None = None
