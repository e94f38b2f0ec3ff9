"""One system as users write it: a server to start, or one that is running.

Deliberately not here: what a system must fit in with, such as workloads and levels (`study`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator

from plimsoll.errors import SpecError
from plimsoll.record.price import Price
from plimsoll.spec.exporters import Exporters, ExporterSpec, exporter_faults
from plimsoll.spec.fields import Name, Place, PlainValue, SizeBytes, VariableName, Written
from plimsoll.spec.hooks import HooksSpec, parameter_text
from plimsoll.spec.hosts import HostSpec
from plimsoll.spec.origin import Origin
from plimsoll.spec.paths import FileKeys, path_faults
from plimsoll.spec.placement import IoLimits, Placement, placement_faults
from plimsoll.spec.prices import PriceSpec
from plimsoll.spec.reads import Reads, ReadsOrSource
from plimsoll.spec.replicas import ReplicaSpec, ReplicationKeys, replication_faults
from plimsoll.spec.role_targets import RoleTargetSpec, role_target_faults
from plimsoll.spec.server_options import checked_arguments, checked_options
from plimsoll.spec.shares import INSTANCES_MAX
from plimsoll.spec.target import Target, parse_target
from plimsoll.spec.tls import KEYS, TlsMode, said_of

Reset = Literal["per_trial", "per_system", "never", "hook"]


class ServerSpec(FileKeys, Placement, ReplicationKeys):
    """Servers that Plimsoll starts, each in a directory of its own, and removes at the end.

    Attributes:
        instances: Number of servers. Connections, rates, rows, buffer pool and memory are those of all servers together
            and are divided among them.
        managed: `mariadb` or `mysql`.
        command: Full command of the server, if it is not on PATH or needs a wrapper such as numactl.
        profile: Base of the server's options: `production`, `server-defaults` or `bare`.
        buffer_pool: Size of the buffer pools of all instances together, such as "2G". Default: the profile chooses.
        options: Server options, as in an option file; they override those of the profile.
        data_dir: Where the directory for data, socket and logs is made. Default: below /var/tmp.
    """

    managed: Literal["mariadb", "mysql"]
    instances: Annotated[int, Field(gt=0, le=INSTANCES_MAX)] = 1
    command: tuple[Place, ...] | None = None
    profile: Literal["production", "server-defaults", "bare"] = "production"
    buffer_pool: Annotated[SizeBytes, Field(gt=0)] | None = None
    options: dict[str, PlainValue] = Field(default_factory=dict)
    data_dir: Place | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        """Where directories of its servers are made, as far as that was written."""
        own = (self.data_dir, self.replica.data_dir if self.replicas else None)
        return (*(one for one in own if one is not None), *self.role_dirs.values())

    @property
    def each_replica(self) -> ServerSpec:
        """A replica as a server of its own, besides its CPUs: what is not said of replicas is as for the source."""
        own = self.replica
        changes = {"memory_limit": own.memory_limit, "buffer_pool": own.buffer_pool, "data_dir": own.data_dir}
        written = {name: value for name, value in changes.items() if value is not None}
        options = checked_options(self.options) | checked_options(own.options)
        return self.model_copy(update={**written, "options": options, "replicas": 0})

    @field_validator("command", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


class SystemSpec(Written):
    """One `[[system]]`: a server, or several, that could carry the load. Either `server`, `target` or `targets`.

    Attributes:
        name: Name of the system in the guide.
        cost_per_month: Cost per month. `cost` also has currency, term and date.
        cost: Price with currency, term and date; excludes `cost_per_month`.
        host: Machine of the servers, reached over SSH. This machine if not given.
        server: A managed server: Plimsoll starts and removes it. Excludes `target`.
        target: URL of a running server, without password, such as "mysql://bench@db1/sbtest". Excludes `server`.
        targets: Running servers that replicate: one with role `source`, the others with role `replica`. Excludes
            `server` and `target`; what is said of `target` below holds for all of them.
        reads: How transactions that only read are spread over replicas: "source" keeps them on the source. Default:
            replicas take reads; see [spreading reads](read-spreading.md).
        password_env: Name of the environment variable that holds the password for `target`.
        defaults_file: Option file whose [client] section holds user and password for `target`.
        tls: Encryption of connections to `target`: `disabled`, `preferred` (the default), `required`, `verify-ca` or
            `verify-identity`.
        ca: File of the certificate authorities to trust, PEM.
        cert: File of the client certificate, PEM.
        key: File of the private key of the client certificate, PEM.
        server_public_key_path: File of the server's RSA public key, PEM. It encrypts the password on a connection
            without TLS.
        get_server_public_key: Accept whatever public key the server sends. An impostor could then read the password.
        reset: When the data is put back; overrides `reset` of the study.
        exporters: URLs of Prometheus exporters to read telemetry from, for a target on another machine; see
            [telemetry](telemetry.md#exporters).
        hooks: Commands that configure, start, stop and reset it.
        parameters: Values that only its hooks know. They get each as an environment variable, and the guide names them.
        environment: Name of the environment in which it is measured. Systems of one environment are measured together.
        origin: What it came from, where `[factors]` made it. Users do not write it, and it is no part of a trial's id,
            which the values themselves are.
    """

    name: Name
    cost_per_month: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cost: PriceSpec | None = None
    host: HostSpec | None = None
    server: ServerSpec | None = None
    target: str | None = None
    targets: tuple[RoleTargetSpec, ...] = ()
    reads: ReadsOrSource = Reads()
    password_env: VariableName | None = None
    defaults_file: Place | None = None
    tls: TlsMode | None = None
    ca: Place | None = None
    cert: Place | None = None
    key: Place | None = None
    server_public_key_path: Place | None = None
    get_server_public_key: bool | None = None
    reset: Reset | None = None
    exporters: Exporters = ()
    hooks: HooksSpec | None = None
    parameters: dict[Name, PlainValue] = Field(default_factory=dict)
    environment: Name | None = None
    origin: Origin | None = Field(default=None, exclude=True)

    @property
    def factor_values(self) -> dict[str, str]:
        """Its value of each of the study's factors, by the factor's name; empty where it was written out."""
        return {} if self.origin is None else self.origin.values

    @property
    def hook_factors(self) -> dict[str, str]:
        """What tells it from other systems besides its server: parameters as text, and its environment."""
        environment = {} if self.environment is None else {"environment": self.environment}
        return environment | {name: parameter_text(value) for name, value in self.parameters.items()}

    @property
    def price(self) -> Price | None:
        """What it costs, however that was written."""
        if self.cost is not None:
            return self.cost.price()
        return None if self.cost_per_month is None else Price(per_month=self.cost_per_month)

    @property
    def server_here(self) -> ServerSpec | None:
        """The server that Plimsoll starts on this machine; None where it starts none, or on another host."""
        return self.server if self.host is None else None

    @property
    def instances(self) -> int:
        """How many servers its data and its load are divided among; replicas repeat them."""
        return 1 if self.server is None else self.server.instances

    @property
    def replicas(self) -> int:
        """How many servers repeat its source."""
        return self.server.replicas if self.server is not None else max(len(self.targets) - 1, 0)

    def parsed_target(self) -> Target:
        """The target, or the source among several, without a password."""
        source = next((one.url for one in self.targets if one.role == "source"), self.target)
        assert source is not None, "a system without a target was asked for it"
        return self._with_tls(parse_target(source))

    def parsed_replicas(self) -> tuple[Target, ...]:
        """The replicas among its targets, without passwords."""
        return tuple(self._with_tls(one.parsed()) for one in self.targets if one.role == "replica")

    def _with_tls(self, target: Target) -> Target:
        return target.with_tls(said_of({key: getattr(self, key) for key in KEYS}))

    @field_validator("targets", mode="before")
    @classmethod
    def _a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


SYSTEM_KEYS = {
    "system": tuple(key for key in SystemSpec.model_fields if key != "origin"),
    "system.cost": tuple(PriceSpec.model_fields),
    "system.host": tuple(HostSpec.model_fields),
    "system.exporters": tuple(ExporterSpec.model_fields),
    "system.server": tuple(ServerSpec.model_fields),
    "system.server.io_limits": tuple(IoLimits.model_fields),
    "system.server.replica": tuple(ReplicaSpec.model_fields),
    "system.targets": tuple(RoleTargetSpec.model_fields),
    "system.reads": tuple(Reads.model_fields),
}
"""By the path of each table the keys that it may have, to suggest the nearest."""


def system_faults(place: str, system: SystemSpec, *, needs_reset: bool) -> Iterable[str]:
    """What is wrong with a system by itself, one line each, which begins with its place."""
    if system.cost is not None and system.cost_per_month is not None:
        yield f"{place}.cost_per_month: cost says the price already; keep one of them"
    yield from exporter_faults(place, system.exporters, is_managed=system.server is not None)
    if [system.server is None, system.target is None, not system.targets].count(False) != 1:
        yield (
            f"{place}: must have either server (Plimsoll starts it) or target (it is running already), or targets (they"
            " run already and replicate)"
        )
    if "reads" in system.model_fields_set and not (system.replicas or _says_replicas(system)):
        yield f"{place}.reads: this system has no replicas; leave it out"
    if system.target is None and not system.targets:
        yield from _faults_of_managed(place, system)
        return
    if system.targets and system.host is not None:
        yield f"{place}.host: is for one server; leave it out, and targets are reached by their URLs"
    if system.targets:
        yield from role_target_faults(place, system.targets)
        if system.hooks is not None and system.hooks.written:
            yield f"{place}.hooks: are for one target; leave them out, or name one server as target"
    if system.target is not None:
        yield from _faults_of_target(place, system)
    if needs_reset and system.reset is None:
        yield (
            f"{place}.reset: a workload writes to a server that Plimsoll does not manage; say per_trial or per_system"
            " (the tables that Plimsoll made are made again) or never (drift is recorded)"
        )


def _says_replicas(system: SystemSpec) -> bool:
    """Whether the number of replicas was written, be it 0: a factor may have that value."""
    return system.server is not None and "replicas" in system.server.model_fields_set


def _faults_of_target(place: str, system: SystemSpec) -> Iterator[str]:
    try:
        if system.parsed_target().password.get_secret_value():
            yield f"{place}.target: holds a password, and study files are kept; use password_env or defaults_file"
    except SpecError as error:
        yield from (f"{place}.{fault}" for fault in error.faults)


def _faults_elsewhere(place: str, server: ServerSpec) -> Iterator[str]:
    """What cannot be had on another host."""
    for key in ("aged_data", "keep_data"):
        if getattr(server, key) is not None:
            yield f"{place}.server.{key}: data is kept on this machine only; leave it out, or leave host out"


def _faults_of_managed(place: str, system: SystemSpec) -> Iterator[str]:
    for key in ("password_env", "defaults_file"):
        if getattr(system, key) is not None:
            yield f"{place}.{key}: belongs to a target; a managed server needs no password"
    for key in KEYS:
        if getattr(system, key) is not None:
            yield f"{place}.{key}: belongs to a target; a managed server is reached in plain, on this machine"
    if (server := system.server) is None:
        return
    if system.host is not None:
        yield from _faults_elsewhere(place, server)
    try:
        options = checked_options(server.options)
        yield from path_faults(
            f"{place}.server",
            server,
            profile=server.profile,
            buffer_pool=server.buffer_pool,
            options={**options, "log_bin": True} if server.replicas else options,
            flavour=server.managed,
        )
        yield from replication_faults(
            f"{place}.server",
            server,
            flavour=server.managed,
            instances=server.instances,
            cpus=server.cpus,
            options=options,
            is_elsewhere=system.host is not None,
        )
    except SpecError as error:
        yield from (f"{place}.server.{fault}" for fault in error.faults)
    try:
        checked_options(server.replica.options)
    except SpecError as error:
        yield from (f"{place}.server.replica.{fault}" for fault in error.faults)
    try:
        checked_arguments(server.command or ())
    except SpecError as error:
        yield from (f"{place}.server.command: {fault}" for fault in error.faults)
    yield from placement_faults(f"{place}.server", server, instances=server.instances, buffer_pool=server.buffer_pool)
