"""A system whose servers Plimsoll does not start itself, and the choice of the system that a study file asks for.

A server that runs already: its tables are made, and made again. A server with hooks around it runs elsewhere, or not
yet: it is started, stopped and put back by commands. Deliberately not here: servers that Plimsoll starts (`systems`),
and the hooks `configure`, which belongs to a block (`execution`), and `collect` (`trial`).
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Sequence

from pydantic import SecretStr

from plimsoll.errors import Fault, HookError, Loc, SpecError, TargetError
from plimsoll.hosts.host import Host
from plimsoll.hosts.local import HERE
from plimsoll.record.model import DataReset, SystemRecord, priced
from plimsoll.run.hooks import SystemHooks
from plimsoll.run.instance import Instance, located, replicas_of
from plimsoll.run.replicas import caught_up, role_instances, role_targets
from plimsoll.run.system_data import DataKeeper
from plimsoll.run.systems import Machines, ManagedSystem, System
from plimsoll.servers.control import connect
from plimsoll.spec.replicas import reads_words
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target, taken
from plimsoll.telemetry.exporters.sampler import Exporter


def exporters_of(spec: SystemSpec) -> tuple[Exporter, ...]:
    """A system's exporters with their tokens.

    Raises:
        SpecError: A token is not where the study says; all of them at once.
    """
    exporters, faults = list[Exporter](), list[Fault]()
    for index, exporter in enumerate(spec.exporters):
        key: Loc = ("exporters", index, "bearer_env")
        try:
            token = None if exporter.bearer_env is None else _token(taken(exporter.bearer_env, key=key), key)
        except SpecError as error:
            faults += error.faults
            continue
        exporters.append(Exporter(url=exporter.url, interval_s=exporter.interval, token=token, device=exporter.device))
    if faults:
        raise SpecError(*faults)
    return tuple(exporters)


def _token(text: str, key: Loc) -> SecretStr:
    """What is sent as a token: no line break of it may end a header."""
    if not re.fullmatch(r"[!-~]+", text.strip()):
        raise SpecError(Fault(key, "the variable must hold a token of visible ASCII characters without spaces"))
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
            factors["replicas"] = ", ".join(replica.target.endpoint for replica in replicas)
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
        self._instances = tuple(_located(instance) for instance in self._instances)

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


_NOT_YET = frozenset({1040, 1053, 1927, 2002, 2003, 2006, 2013, 2055, 3169})
"""What a server that starts or stops may answer: too many connections, shutdown, no connection or a lost one."""

_POLL_S = 0.2
_ANSWER_S = 5.0


class HookedTarget:
    """A target whose hooks bring it up, down and back. What its hooks leave undone is done as for any target."""

    def __init__(self, inner: TargetSystem, hooks: SystemHooks, keeper: DataKeeper, *, resets: bool) -> None:
        """Nothing runs yet.

        Args:
            inner: The target.
            hooks: Its hooks.
            keeper: Keeps the rows that all workloads of the study use.
            resets: Whether the hook `reset` puts data back.
        """
        self._inner, self._hooks, self._keeper, self._resets = inner, hooks, keeper, resets
        self._data_reset: DataReset | None = None

    @property
    def record(self) -> SystemRecord:
        """The system as recordings name it."""
        return self._inner.record

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The one server."""
        return self._inner.instances

    def start(self, judge: Callable[[], None] = lambda: None) -> None:
        """Starts the server, waits until it answers, and makes its tables where there are none.

        Args:
            judge: Called before any table is made; may refuse the server.

        Raises:
            HookError: A hook failed, or the server did not answer in time.
        """
        try:
            self._hooks.run("start")
            self._wait("start" if self._hooks.has("start") else "configure", "start", "configure")
            self._inner.start(judge)
            self._data_reset = self._inner.data_reset
            if self._data_reset is not None and self._data_reset.way == "fresh" and self._hooks.has("snapshot"):
                self._hooks.run("snapshot")
                self._wait("snapshot", "snapshot")
        except BaseException:
            with contextlib.suppress(HookError):
                self.stop()  # the command that failed or was interrupted may have brought it up already
            raise

    def locate(self) -> None:
        """Looks where the connection to it ends."""
        self._inner.locate()

    def reset(self) -> None:
        """Puts the data back by the hook, and checks that it is there.

        Raises:
            HookError: The hook failed, the server did not answer in time, or lacks rows.
        """
        if not self._resets:
            self._inner.reset()
            self._data_reset = self._inner.data_reset
            return
        began_s = time.monotonic()
        self._hooks.run("reset")
        self._wait("reset", "reset")
        duration_s = time.monotonic() - began_s
        try:
            self._keeper.check(self._inner.instances[0].target)
        except TargetError as error:
            raise HookError(f"after the hook reset the data is not as prepared: {error}") from None
        self._data_reset = DataReset(way="hook", duration_s=duration_s)

    def leave(self) -> None:
        """Nothing."""
        self._inner.leave()
        self._data_reset = self._inner.data_reset

    @property
    def data_reset(self) -> DataReset | None:
        """How the data came to be as it is now."""
        return self._data_reset

    def stop(self) -> None:
        """Ends the server, where a hook does.

        Raises:
            HookError: The hook failed.
        """
        self._hooks.run("stop")

    def close(self) -> None:
        """Nothing: it is not ours, and its tables may be wanted again."""

    def _wait(self, after: str, *hooks: str) -> None:
        """Waits until the server answers: as long as those hooks that there are may take."""
        limit_s = self._hooks.limit_s(*hooks)
        if limit_s:
            wait_until_it_answers(self._inner, limit_s, after)


def wait_until_it_answers(target: TargetSystem, limit_s: float, after: str) -> None:
    """Waits for a server that is coming up.

    Raises:
        HookError: It does not answer in time.
        TargetError: It answers, and lets nobody in.
    """
    until_s = time.monotonic() + limit_s
    while True:
        try:
            with connect(target.instances[0].target, connect_limit_s=_ANSWER_S, read_limit_s=_ANSWER_S) as control:
                control.value("SELECT 1")
        except TargetError as error:
            if error.code not in _NOT_YET:
                raise
            if time.monotonic() >= until_s:
                raise HookError(f"the server does not answer {limit_s:g} s after the hook {after}: {error}") from None
            time.sleep(_POLL_S)
        else:
            return


def open_system(
    spec: SystemSpec,
    keeper: DataKeeper,
    machines: Machines,
    *,
    resets: bool,
    together_count: int = 1,
    client_cpus: Sequence[int] = (),
    host: Host = HERE,
    hooks: SystemHooks | None = None,
    resets_by_hook: bool = False,
) -> System:
    """The system that a study file describes; nothing is started yet.

    Args:
        spec: What the user wrote.
        keeper: Keeps the rows that all workloads of the study use.
        machines: Says what managed servers are sized to.
        resets: Whether data will be put back, so that a pristine copy is worth its space.
        together_count: How many systems of as many servers run on this machine at the same time, and share its memory.
        client_cpus: CPUs of the load generator; those that are chosen for servers are others, as far as there are any.
        host: Where its servers run, or are started.
        hooks: Of a target.
        resets_by_hook: Whether the hook `reset` puts its data back.

    Raises:
        SpecError, HostError: A password or a server command is missing.
    """
    if spec.server is not None:
        return ManagedSystem(
            spec,
            spec.server,
            keeper,
            machines,
            resets=resets,
            together_count=together_count,
            client_cpus=client_cpus,
            host=host,
        )
    target, *_ = role_targets(spec)
    system = TargetSystem(spec, target, keeper, host)
    if hooks is None or not hooks.spec.written:
        return system
    hooks.masked = (target.password.get_secret_value(),)
    return HookedTarget(system, hooks, keeper, resets=resets_by_hook)
