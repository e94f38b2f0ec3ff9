"""Made-up histories of studies with a planted truth, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plimsoll.analyse.answers.compare_model import ComparedSide
from plimsoll.analyse.answers.compare_sides import Side
from plimsoll.analyse.answers.trend import PastStudy
from plimsoll.analyse.trial.samples import MachineSeconds
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State, StateMark, Verdict
from support.made import trial_record

DAY_S = 86_400.0
OUTCOME = Outcome(verdict=Verdict.COMPLETE)


def history(
    logs: Sequence[float] | np.ndarray,
    *,
    repetitions: int | Sequence[int] = 1,
    noise: float = 0.0,
    labels: Sequence[Mapping[str, str]] | None = None,
    environments: Mapping[int, Environment] | None = None,
    machines: Mapping[int, MachineSeconds] | None = None,
    connections: Sequence[int] = (4,),
    seed: int = 0,
    **changes: object,
) -> list[PastStudy]:
    """A study a day, of one system and workload, whose levels all move alike.

    Args:
        logs: What each study adds to the logarithm of throughput.
        repetitions: Of each level in each study.
        noise: Of one repetition, standard deviation of the logarithm.
        labels: Of each study.
        environments: From these studies on.
        machines: What trials of these studies met.
        connections: The levels.
        seed: Of the noise.
        changes: Of the trials' records.
    """
    random = np.random.default_rng(seed)
    counts = [repetitions] * len(logs) if isinstance(repetitions, int) else repetitions
    environment, studies = Environment(), []
    for day, (log, count) in enumerate(zip(logs, counts, strict=True)):
        environment = (environments or {}).get(day, environment)
        trials = [
            TrialSummary(
                trial=trial_record(
                    connections=level,
                    repetition=repetition,
                    labels=dict(labels[day]) if labels else {},
                    states=(StateMark(state=State.MEASURE, began_unix_s=DAY_S * (day + 1) + repetition),),
                    **changes,
                ),
                environment=environment,
                outcome=OUTCOME,
                throughput_tps=float(1000 * level * np.exp(log + noise * random.normal())),
                machine=(machines or {}).get(day),
            )
            for repetition in range(count)
            for level in connections
        ]
        facts = ComparedSide(name="a", study="nights", system="a", trials_count=len(trials))
        studies.append(PastStudy(f"nights/{day:02d}", [Side(facts, trials)]))
    return studies


def machine(*, slow: bool = False, slow_s: int = 0) -> MachineSeconds:
    """A minute of a machine of two CPUs.

    Args:
        slow: Others keep server and client from half of them all the time.
        slow_s: They do so for so many seconds.
    """
    seconds = np.arange(60) < (60 if slow else slow_s)
    return MachineSeconds(
        began_unix_s=DAY_S,
        host="here",
        cpu_count=2,
        in_service=4.0,
        throughput_tps=1000.0,
        server_cpu_s=np.where(seconds, 0.6, 1.2),
        server_wait_s=np.where(seconds, 2.0, 0.6),
        client_cpu_s=np.where(seconds, 0.15, 0.3),
        client_wait_s=np.where(seconds, 0.4, 0.1),
        free_ratio=np.where(seconds, 0.0, 0.25),
        steal_ratio=np.zeros(60),
        frequency_hz=np.full(60, 3e9),
    )
