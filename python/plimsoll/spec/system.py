"""One system as users write it: a server to start, or one that is running.

Deliberately not here: what a system must fit in with, such as workloads and levels (`study`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator

from plimsoll.errors import SpecError
from plimsoll.spec.fields import Name, Place, SizeBytes, VariableName, Written
from plimsoll.spec.server_options import OptionValue, checked_arguments, checked_options
from plimsoll.spec.shares import INSTANCES_MAX
from plimsoll.spec.target import Target, parse_target
from plimsoll.spec.tls import KEYS, TlsMode, said_of

Reset = Literal["per_trial", "per_system", "never"]


def _plain_value(value: object) -> object:
    if not isinstance(value, OptionValue):
        raise ValueError(f"must be text, a number, true or false, is {str(value)[:60]!r}")
    return value


class ServerSpec(Written):
    """Servers that Plimsoll starts, each in a directory of its own, and removes.

    Attributes:
        instances: How many; what the study says of connections, rates, rows and memory is of all of them together.
        managed: Which: `mariadb` or `mysql`.
        command: The full command when it is not found on PATH, a loader and its arguments included.
        profile: Base of its options.
        buffer_pool: Of all instances together.
        options: Options of each server, as written, over those of the profile.
        data_dir: Where directories are made; below /var/tmp when not given.
    """

    managed: Literal["mariadb", "mysql"]
    instances: Annotated[int, Field(gt=0, le=INSTANCES_MAX)] = 1
    command: tuple[Place, ...] | None = None
    profile: Literal["production", "server-defaults", "bare"] = "production"
    buffer_pool: Annotated[SizeBytes, Field(gt=0)] | None = None
    options: dict[str, Annotated[OptionValue, BeforeValidator(_plain_value)]] = Field(default_factory=dict)
    data_dir: Place | None = None

    @field_validator("command", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


class SystemSpec(Written):
    """One `[[system]]`: a candidate that could carry the load.

    Attributes:
        server: A server to start; excludes `target`.
        target: A running server, as URL without password; excludes `server`.
        password_env: Name of the environment variable that holds the target's password.
        defaults_file: Option file whose [client] section holds user and password.
        tls: How the target's connections are encrypted; `preferred` where nothing is said.
        ca: File of the authorities that vouch for the target, PEM.
        cert: File of the certificate shown to the target, PEM.
        key: File of its private key, PEM.
        reset: When data is put back as prepared; overrides the study's.
    """

    name: Name
    cost_per_month: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    server: ServerSpec | None = None
    target: str | None = None
    password_env: VariableName | None = None
    defaults_file: Place | None = None
    tls: TlsMode | None = None
    ca: Place | None = None
    cert: Place | None = None
    key: Place | None = None
    server_public_key_path: Place | None = None
    get_server_public_key: bool | None = None
    reset: Reset | None = None

    @property
    def instances(self) -> int:
        """How many servers it consists of."""
        return 1 if self.server is None else self.server.instances

    def parsed_target(self) -> Target:
        """The target, without a password."""
        assert self.target is not None, "a system without a target was asked for it"
        return parse_target(self.target).with_tls(said_of({key: getattr(self, key) for key in KEYS}))


def system_faults(place: str, system: SystemSpec, *, needs_reset: bool) -> Iterable[str]:
    """What is wrong with a system by itself, one line each, which begins with its place."""
    if (system.server is None) == (system.target is None):
        yield f"{place}: must have either server (Plimsoll starts it) or target (it is running already)"
    if system.target is None:
        yield from _faults_of_managed(place, system)
        return
    try:
        if system.parsed_target().password.get_secret_value():
            yield f"{place}.target: holds a password, and study files are kept; use password_env or defaults_file"
    except SpecError as error:
        yield from (f"{place}.{fault}" for fault in error.faults)
    if needs_reset and system.reset is None:
        yield (
            f"{place}.reset: a workload writes to a server that Plimsoll does not manage; say per_trial or per_system"
            " (the tables that Plimsoll made are made again) or never (drift is recorded)"
        )


def _faults_of_managed(place: str, system: SystemSpec) -> Iterator[str]:
    for key in ("password_env", "defaults_file"):
        if getattr(system, key) is not None:
            yield f"{place}.{key}: belongs to a target; a managed server needs no password"
    for key in KEYS:
        if getattr(system, key) is not None:
            yield f"{place}.{key}: belongs to a target; a managed server is reached in plain, on this machine"
    if (server := system.server) is None:
        return
    try:
        checked_options(server.options)
    except SpecError as error:
        yield from (f"{place}.server.{fault}" for fault in error.faults)
    try:
        checked_arguments(server.command or ())
    except SpecError as error:
        yield from (f"{place}.server.command: {fault}" for fault in error.faults)
