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
        more_max: How many further repetitions would decide all, if nothing changes; None where that is not known.
        text: What is known of each question, a line each.
    """

    type: Literal["answer_progressed"] = "answer_progressed"
    is_duet: bool = False
    repetitions: int
    is_decided: bool
    more_max: int | None
    text: tuple[str, ...]


class DuetProgressed(Document):
    """How two systems of a duet compare so far.

    Attributes:
        system: What is compared, with `base`.
        pair_count: Pairs of turns of the running round that count so far; None between rounds.
        pairs_planned: Of each round.
        rounds_count: Rounds that are over.
        rounds_planned: Of the study.
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
    rounds_planned: int
    ratio: float
    low: float | None = None
    high: float | None = None
