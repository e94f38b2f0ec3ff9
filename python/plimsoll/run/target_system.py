"""A system that runs already while a study runs: its tables are made, and made again.

Deliberately not here: servers that Plimsoll starts (`systems`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from pydantic import SecretStr

from plimsoll.errors import SpecError
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.record.data import DataReset
from plimsoll.record.model import SystemRecord
from plimsoll.record.price import priced
from plimsoll.run.instance import Instance, located, replicas_of
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.replicated import caught_up
from plimsoll.run.role_targets import role_instances
from plimsoll.servers.control import connect
from plimsoll.spec.reads import reads_words
from plimsoll.spec.secrets import taken
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target
from plimsoll.telemetry.exporters.sampler import Exporter


def exporters_of(spec: SystemSpec) -> tuple[Exporter, ...]:
    """A system's exporters with their tokens.

    Raises:
        SpecError: A token is not where the study says; all of them at once.
    """
    found, faults = list[Exporter](), list[str]()
    for index, one in enumerate(spec.exporters):
        key = f"exporters[{index}].bearer_env"
        try:
            token = None if one.bearer_env is None else _token(taken(one.bearer_env, key=key), key)
        except SpecError as error:
            faults += error.faults
            continue
        found.append(Exporter(url=one.url, interval_s=one.interval, token=token, device=one.device))
    if faults:
        raise SpecError(*faults)
    return tuple(found)


def _token(text: str, key: str) -> SecretStr:
    """What is sent as a token: no line break of it may end a header."""
    if not re.fullmatch(r"[!-~]+", text.strip()):
        raise SpecError(f"{key}: the variable must hold a token of visible ASCII characters without spaces")
    return SecretStr(text.strip())


def _located(instance: Instance) -> Instance:
    with connect(instance.target) as control:
        return located(instance, control)


class TargetSystem:
    """A server that runs already, perhaps with replicas. Only tables that Plimsoll made are made again."""

    def __init__(self, spec: SystemSpec, target: Target, keeper: DataKeeper, host: Host = HERE) -> None:
        self._spec, self._keeper = spec, keeper
        source = Instance(name=f"{spec.name}/0", target=target, host=host, exporters=exporters_of(spec))
        self._instances = role_instances(spec, source)
        self._data_reset: DataReset | None = None
        self._is_pristine = False

    @property
    def record(self) -> SystemRecord:
        """The system as recordings name it."""
        target = self._source
        factors = {"target": target.endpoint, "tls": target.tls.mode, **self._spec.hook_factors}
        if replicas := replicas_of(self._instances):
            factors["replicas"] = ", ".join(one.target.endpoint for one in replicas)
            factors["reads"] = reads_words(self._spec.reads)
        return SystemRecord(
            name=self._spec.name,
            factors=factors,
            factor_values=self._spec.factor_values,
            environment=self._spec.environment,
            **priced(self._spec.price),
        )

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The server, and its replicas."""
        return self._instances

    @property
    def _source(self) -> Target:
        return self._instances[0].target

    def start(self, judge: Callable[[], None] = lambda: None) -> None:
        """Makes the tables, or takes them as they are when they fit; replicas then have them. `judge` comes before."""
        judge()
        self._is_pristine = self._keeper.ensure(self._source)
        caught_up(self._instances)
        self._data_reset = DataReset(way="fresh" if self._is_pristine else "left")

    def locate(self) -> None:
        """Looks where the connections to its servers end.

        Raises:
            TargetError: One does not answer.
        """
        self._instances = tuple(_located(one) for one in self._instances)

    def reset(self) -> None:
        """Drops the tables that Plimsoll made and makes them again; freshly made ones are as prepared already."""
        if not self._is_pristine:
            began_s = time.monotonic()
            self._keeper.reset(self._source)
            caught_up(self._instances)
            self._data_reset = DataReset(way="prepare", duration_s=time.monotonic() - began_s)
        self._is_pristine = False

    def leave(self) -> None:
        """Nothing."""
        if not self._is_pristine:
            self._data_reset = DataReset(way="left")
        self._is_pristine = False

    @property
    def data_reset(self) -> DataReset | None:
        """How the data came to be as it is now."""
        return self._data_reset

    def stop(self) -> None:
        """Nothing: it is not ours."""

    def close(self) -> None:
        """Nothing: it is not ours, and its tables may be wanted again."""
