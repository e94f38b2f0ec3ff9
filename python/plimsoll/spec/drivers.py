"""Which machines drive the load, as users write it: hosts, or nodes of a Ray cluster.

Deliberately not here: how engines are started there (`drive.executable`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from plimsoll.errors import Fault, SpecError
from plimsoll.spec.fields import Written, faults_of
from plimsoll.spec.system import SshDestination

if TYPE_CHECKING:
    from plimsoll.spec.study import StudySpec
    from plimsoll.spec.system import SystemSpec

LOCAL = "local"
"""The driver that is this machine."""

DRIVERS_MAX = 256

RAY = "ray"
_RAY_EXAMPLE = 'drivers = { ray = "auto", count = 8 }'

_RAY_ADDRESS = re.compile(r"auto|ray://([A-Za-z0-9_][A-Za-z0-9_.-]{0,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_CURE = "use target, or drivers on this machine"


class DriverSpec(Written):
    """A machine that drives load: one of `[study] drivers`.

    Attributes:
        ssh: Its name in your OpenSSH configuration, or what `ssh` takes in its place; this machine where not given.
        ray: The Ray cluster of which it is a node; follows from `RayDrivers`.
    """

    ssh: SshDestination | None = None
    ray: str | None = Field(default=None, exclude=True)

    @property
    def name(self) -> str:
        """As it is written; of nodes of a cluster the word that all have."""
        return self.ssh or (LOCAL if self.ray is None else RAY)

    @property
    def is_here(self) -> bool:
        """It is this machine."""
        return self.name == LOCAL


class RayDrivers(Written):
    """Nodes of a Ray cluster that drive load, in place of a list of hosts.

    Attributes:
        ray: The cluster: "auto" for the one that this machine is a node of, or "ray://host:port".
        count: How many of its nodes drive load, each with one engine.
    """

    ray: str
    count: int = Field(gt=0, le=DRIVERS_MAX)

    @field_validator("ray", mode="after")
    @classmethod
    def _an_address(cls, value: str) -> str:
        if not _RAY_ADDRESS.fullmatch(value):
            raise ValueError(f'must be "auto" or such as "ray://head.example:10001", is {value[:60]!r}')
        return value

    @property
    def drivers(self) -> tuple[DriverSpec, ...]:
        """One for each node."""
        return (DriverSpec(ray=self.ray),) * self.count


def _a_driver(value: object) -> object:
    """A text is a host; "local" is this machine."""
    if isinstance(value, str):
        return {} if value == LOCAL else {"ssh": value}
    if isinstance(value, dict) and RAY in value:
        raise ValueError(f"a Ray cluster takes the place of the list: {_RAY_EXAMPLE}")
    return value


def _a_list(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


_Hosts = Annotated[
    tuple[Annotated[DriverSpec, BeforeValidator(_a_driver)], ...],
    BeforeValidator(_a_list),
    Field(min_length=1, max_length=DRIVERS_MAX),
]


def _tag(value: object) -> str:
    return "(ray)" if isinstance(value, dict | RayDrivers) else "(hosts)"


def _one_by_one(value: tuple[DriverSpec, ...] | RayDrivers) -> tuple[DriverSpec, ...]:
    return value.drivers if isinstance(value, RayDrivers) else value


if TYPE_CHECKING:
    Drivers = tuple[DriverSpec, ...]  # what is left of either
else:
    Drivers = Annotated[
        Annotated[_Hosts, Tag("(hosts)")] | Annotated[RayDrivers, Tag("(ray)")],
        Discriminator(_tag),
        AfterValidator(_one_by_one),
    ]
"""Written as ["load1", "load2"], as tables such as { ssh = "load1" }, or as { ray = "auto", count = 8 }."""

ONE_HERE = (DriverSpec(),)
"""One engine on this machine, as it is where nobody says otherwise."""


def driver_names(drivers: Sequence[DriverSpec]) -> tuple[str, ...]:
    """A name for each that no other has.

    >>> driver_names((DriverSpec(), DriverSpec(ssh="load1"), DriverSpec()))
    ('local#1', 'load1', 'local#2')
    """
    often, seen = Counter(driver.name for driver in drivers), Counter[str]()
    names = []
    for driver in drivers:
        seen[driver.name] += 1
        names.append(driver.name if often[driver.name] == 1 else f"{driver.name}#{seen[driver.name]}")
    return tuple(names)


def parse_drivers(text: str) -> tuple[DriverSpec, ...]:
    """Reads drivers as typed, separated by commas.

    Raises:
        SpecError: The text names none, or something that is no host. Ray clusters are for study files.

    >>> [one.ssh for one in parse_drivers("local,load1")]
    [None, 'load1']
    """
    names = [name.strip() for name in text.split(",")]
    if (ray := next((name for name in names if name.startswith(f"{RAY}:")), None)) is not None:
        raise SpecError(f"{ray[:60]!r} is no host; write a Ray cluster into a study file: {_RAY_EXAMPLE}")
    try:
        return TypeAdapter(Drivers).validate_python(names)
    except ValidationError as error:
        raise SpecError(*faults_of(error)) from None


def driver_faults(spec: StudySpec) -> Iterable[Fault]:
    """What keeps these drivers from sharing this study, one line each."""
    study = spec.study
    if study.is_duet and study.drivers != ONE_HERE:
        yield Fault(
            ("study", "drivers"),
            "a duet hands over from server to server many times a minute, which one load generator on"
            " this machine does; leave drivers or design out",
        )
    for index, system in enumerate(spec.system):
        if (fault := _out_of_reach(system, study.drivers)) is not None:
            yield Fault(("system", index, "server"), fault)
    if len(study.drivers) > 1:
        yield from _few_connections(spec)


def beyond_loopback(drivers: Sequence[DriverSpec]) -> str | None:
    """Which driver cannot reach a server that Plimsoll starts on this machine, and why; None where all can."""
    if (elsewhere := _elsewhere(drivers)) is None:
        return None
    return f"a server that Plimsoll starts here listens on this machine only, and {elsewhere} cannot reach it; {_CURE}"


def _out_of_reach(system: SystemSpec, drivers: Sequence[DriverSpec]) -> str | None:
    """Why drivers cannot use a server that Plimsoll starts; None where they can, or it starts none."""
    if system.server_here is not None:
        return beyond_loopback(drivers)
    if system.server is None or system.server.managed != "mysql" or (elsewhere := _elsewhere(drivers)) is None:
        return None
    return (
        "the password for MySQL is encrypted with the server's public key, which Plimsoll copies to this machine only,"
        f" and {elsewhere} needs it; {_CURE}"
    )


def _elsewhere(drivers: Sequence[DriverSpec]) -> str | None:
    """The first driver that is another machine."""
    elsewhere = ("a node of a Ray cluster" if driver.ray else driver.name for driver in drivers if not driver.is_here)
    return next(elsewhere, None)


def _few_connections(spec: StudySpec) -> Iterable[Fault]:
    count = len(spec.study.drivers)
    for system in spec.system:
        least = min(spec.study.levels.connections) // system.instances
        if least < count:
            yield Fault(
                ("study", "drivers"),
                f"{count} drivers need at least as many connections to each server of {system.name};"
                f" the lowest level has {least}. Use higher levels, or fewer drivers",
            )


def too_few_connections(connections: int, drivers: Sequence[DriverSpec]) -> str | None:
    """What is wrong with so many connections to one server; None when nothing is."""
    if connections >= len(drivers):
        return None
    return f"--connections: must be at least {len(drivers)}, one for each driver, is {connections}"
