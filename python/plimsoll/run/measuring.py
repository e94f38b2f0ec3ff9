"""When the measurement of a trial ends, and the reference loads around it.

Deliberately not here: the states of a trial (`trial`), and the statistics (`plimsoll.analyse.length`).
"""

from __future__ import annotations

import numpy as np

from plimsoll.analyse.doubts import Code
from plimsoll.analyse.length import INTERVALS_LEAST, half_width_ratio, is_long_enough
from plimsoll.prose.catalogue import warning
from plimsoll.record.weather import ReferenceTimes, Weather
from plimsoll.run.progressing import INTERVAL_S, Progressing, TrialTask
from plimsoll.run.systems import System
from plimsoll.servers.reference_load import reference_times
from plimsoll.units import format_duration, format_percent


def ends(task: TrialTask, progressing: Progressing) -> bool:
    """Whether the interval that was measured last is the last one; a target that was missed becomes a warning."""
    study, rates = task.study, progressing.measured.rates_tps
    measured_s = len(rates) * INTERVAL_S
    if study.duration is not None:
        return measured_s >= study.duration
    series = np.asarray(rates)
    if is_long_enough(series, study.target_interval):
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
