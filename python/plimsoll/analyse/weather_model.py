"""What was slow about a machine around a trial; part of the analysis."""

from __future__ import annotations

from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.analyse.steady_model import SteadyState
from plimsoll.record.document import Document


class SlowFigure(Document):
    """A figure in which the machine was slower around one trial than around the others.

    Attributes:
        figure: `processor-before`, `memory-before`, `flush-before` and the same `-after`: times of the reference load;
            `steal`, `other-processes`: processor time that others took; `frequency`.
        ratio: How many times as slow as the median of the trials that it is compared with.
        limit_ratio: From which ratio on it counts, by the spread of those trials.
    """

    figure: str
    ratio: float
    limit_ratio: float


class TrialCondition(Document):
    """Under which conditions one trial of a cell was measured.

    Attributes:
        trial_id: Its recording.
        repetition: 0, 1, 2, …
        throughput_tps: Completed transactions per second.
        steady: Its state while it was measured; null for published figures without intervals.
        slower: In what its machine was slower than around other trials, the slowest first; empty for nothing.
        disturbance: How slow its machine was while it was measured; null where the recording does not say.
    """

    trial_id: str
    repetition: int
    throughput_tps: float
    steady: SteadyState | None = None
    slower: tuple[SlowFigure, ...] = ()
    disturbance: Disturbance | None = None
