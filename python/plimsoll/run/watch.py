"""Telemetry of one trial: collected while it runs, its stocks readable live, its rows taken piece by piece."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import polars as pl

from plimsoll.record.model import TrialWarning
from plimsoll.run.systems import Instance
from plimsoll.run.warm import STOCKS
from plimsoll.telemetry.collector import Collector
from plimsoll.telemetry.sampler import Sample, Sampler
from plimsoll.telemetry.standard import WatchedInstance, trial_samplers


class Watch:
    """What telemetry saw of a trial.

    Attributes:
        faults: What could not be sampled, once for each sampler.
        stocks: By instance and status variable, one value for each second.
    """

    def __init__(self) -> None:
        self.faults: tuple[str, ...] = ()
        self.stocks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.collector: Collector | None = None

    def series(self) -> Mapping[str, Sequence[float]]:
        """The servers' stocks so far, of all instances together: one value for each second, by status variable."""
        seen = [dict(of_one) for of_one in list(self.stocks.values())]
        names = dict.fromkeys(name for of_one in seen for name in of_one)
        return {
            name: tuple(map(sum, zip(*(list(of_one[name]) for of_one in seen if name in of_one), strict=False)))
            for name in names
        }

    def take(self, *others: pl.DataFrame) -> pl.DataFrame:
        """Rows of the telemetry table since they were last taken, with rows from elsewhere, in order of time."""
        collected = () if self.collector is None else (self.collector.take(),)
        table: pl.DataFrame = pl.concat([*collected, *others])
        return table.sort("unix_s", maintain_order=True)


class _Tapped(Sampler):
    """A sampler whose stocks are also kept where the running trial can see them."""

    def __init__(self, sampler: Sampler, stocks: dict[str, list[float]]) -> None:
        self._sampler, self._stocks = sampler, stocks

    @property
    def source(self) -> str:  # type: ignore[override]  # as `waits`
        """Where the samples come from."""
        return self._sampler.source

    @property
    def waits(self) -> bool:  # type: ignore[override]  # the class's constant becomes that of the sampler inside
        """Whether a sample may wait for another process."""
        return self._sampler.waits

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Looks once."""
        samples = self._sampler.sample(at_unix_s)
        for sample in samples:
            if sample.metric in STOCKS:
                self._stocks[sample.metric].append(sample.value)
        return samples

    def close(self) -> None:
        """Gives up what is held."""
        self._sampler.close()


@contextmanager
def watching(instances: Sequence[Instance], *, host: str, engine_pid: int, watch: Watch) -> Iterator[None]:
    """Collects telemetry for the time of a trial's load.

    Args:
        instances: The servers that the load runs on.
        host: The name of this machine.
        engine_pid: The process that drives the load.
        watch: Receives what is seen.
    """
    watched = [
        WatchedInstance(
            name=instance.name,
            target=instance.target,
            is_here=instance.is_here,
            pid=instance.pid,
            data_dir=instance.data_dir,
        )
        for instance in instances
    ]
    placed = [
        replace(place, sampler=_Tapped(place.sampler, watch.stocks[place.instance])) if place.instance else place
        for place in trial_samplers(host=host, instances=watched, client_pid=engine_pid)
    ]
    collector = watch.collector = Collector(placed, driver=host)
    collector.start()
    try:
        yield
    finally:
        collector.stop()
        watch.faults = collector.faults


def unseen(instances: Sequence[Instance]) -> list[str]:
    """Why servers on this machine cannot be watched as processes, one fault for each."""
    return [f"{one.name} runs on this machine, and {one.unwatched}" for one in instances if one.unwatched is not None]


def unwatched(fault: str) -> TrialWarning:
    """The doubt that something which could not be watched gives rise to."""
    return TrialWarning(
        code="telemetry-missing",
        evidence=f"Not everything could be watched: {fault}.",
        advice="Remove the cause and measure again; until then what rests on it is not judged.",
    )
