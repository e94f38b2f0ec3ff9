"""When the measurement of a trial ends, and the reference loads around it.

Deliberately not here: the states of a trial (`trial`), and the statistics (`plimsoll.analyse.length`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plimsoll.analyse.doubts import Code
from plimsoll.analyse.length import INTERVALS_LEAST, half_width_ratio, is_long_enough
from plimsoll.plan.model import PlannedTrial
from plimsoll.prose.catalogue import warning
from plimsoll.record.fitted import REPETITIONS_MIN
from plimsoll.record.weather import ReferenceTimes, Weather
from plimsoll.run.progressing import INTERVAL_S, Progressing, TrialTask
from plimsoll.run.systems import System
from plimsoll.servers.reference_load import reference_times
from plimsoll.spec.study_section import StudySection
from plimsoll.units import format_duration, format_percent

SHARED_REPETITIONS = 2 * REPETITIONS_MIN
"""With repetitions = "auto" the budget is shared among the trials of so many, then among those of the running one."""


def ends(task: TrialTask, progressing: Progressing, stocks: Mapping[str, Sequence[float]]) -> bool:
    """Whether the interval that was measured last is the last one; a target that was missed becomes a warning.

    Args:
        task: The trial.
        progressing: What is known of it.
        stocks: The state of InnoDB lately, one value for each second, by status variable.
    """
    study, rates = task.study, progressing.measured.rates_tps
    measured_s = len(rates) * task.interval_s
    if study.duration is not None:
        return measured_s >= study.duration
    series = np.asarray(rates)
    innodb = {name: np.asarray(values[-series.size :], dtype=float) for name, values in stocks.items()}
    if is_long_enough(series, study.target_interval, innodb):
        return True
    limit_s = min(study.duration_limit, max(task.limit_s, INTERVALS_LEAST * INTERVAL_S))
    if measured_s < limit_s:
        return False
    width = half_width_ratio(series)
    known = "is not known" if width is None else f"is ±{format_percent(width)}"
    progressing.warnings.append(
        warning(
            Code.TARGET_INTERVAL_MISSED,
            f"After {format_duration(measured_s)} of measurement the 95 % confidence interval of throughput {known};"
            f" ±{format_percent(study.target_interval)} was wanted, without a cycle that is cut short.",
        )
    )
    return True


def trials_sharing(study: StudySection, planned: PlannedTrial, later: Sequence[PlannedTrial]) -> int:
    """Among how many trials the budget is shared.

    A study that goes on until it is decided plans more repetitions than most need. Shared among all of them, the budget
    would leave each trial less time than it needs to be measured well.

    Args:
        study: What it says of repetitions.
        planned: The trial that runs next.
        later: The trials of the plan from that one on; none for one that is measured again.
    """
    end = max(SHARED_REPETITIONS, planned.repetition + 1)
    return len(later) if not study.is_until_decided else sum(one.repetition < end for one in later)


def weather_before(system: System) -> Weather:
    """How fast the machine is before a trial's load.

    Raises:
        HostError: The data directory of a managed server cannot be written to.
    """
    return Weather(before=_reference_times(system))


def weather_after(system: System, weather: Weather) -> Weather:
    """The same with how fast it is after the load."""
    return weather.model_copy(update={"after": _reference_times(system)})


def _reference_times(system: System) -> ReferenceTimes:
    """Of the machine that the first server is watched through, and of the data directory of the first managed one."""
    data_dir = next((one.data_dir for one in system.instances if one.is_managed), None)
    host = system.instances[0].host
    times = host.call(reference_times, data_dir)
    return times.model_copy(update={"at_unix_s": times.at_unix_s - host.clock().ahead_s})
