"""One system as users write it: a server to start, or one that is running, its host, exporters and price.

A host is another machine on which a system's servers run. Exporters are pages in Prometheus' text format that tell how
a server and the machine below it do. Prices stand with a system of a study, or in a file of their own:

    utilisation = 0.5

    [price."system name"]
    per_month = 310
    currency = "EUR"
    term = "1 year reserved"
    date = 2026-11-01

Each instance of a system has a share of its workload. Totals are those that the user wrote: the rows of all instances
together are the data set of the workload, and each row is on one of them. So a system of four instances is compared
with one of a single instance on the same load.

Deliberately not here: what a system must fit in with, such as workloads and levels (`study`), reaching a host (package
`hosts`), reading exporters (`plimsoll.telemetry.exporters`), and the shares of connections and rates (`drive.plans`)
and of memory (`servers.option_file`).
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, field_validator

from plimsoll.errors import Fault, Loc, SpecError, within
from plimsoll.record.model import Price
from plimsoll.spec.addresses import is_loopback
from plimsoll.spec.factors import Origin
from plimsoll.spec.fields import (
    DurationS,
    Name,
    Place,
    PlainValue,
    SizeBytes,
    VariableName,
    Written,
    faults_of,
    read_toml,
    suggestion,
)
from plimsoll.spec.hooks import HooksSpec, parameter_text
from plimsoll.spec.paths import FileKeys, path_faults
from plimsoll.spec.placement import IoLimits, Placement, placement_faults
from plimsoll.spec.replicas import (
    Reads,
    ReadsOrSource,
    ReplicaSpec,
    ReplicationKeys,
    RoleTargetSpec,
    replication_faults,
    role_target_faults,
)
from plimsoll.spec.server_options import OptionValue, checked_arguments, checked_options
from plimsoll.spec.target import KEYS, Target, TlsMode, parse_target, tls_texts
from plimsoll.spec.tpcc import TpccSpec
from plimsoll.spec.workloads import StatementsSpec, Workload
from plimsoll.units import format_bytes


def _checked_destination(value: str) -> str:
    if not _SSH_DESTINATION.fullmatch(value):
        raise ValueError(f'must be a host such as "db2.example" or "user@db2", as ssh takes it, is {value[:60]!r}')
    return value


SshDestination = Annotated[str, AfterValidator(_checked_destination)]
"""What `ssh` takes: a name from the user's configuration, a host name, or `user@host`; never an option of ssh."""


def _address(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        raise ValueError(f'must be an IP address such as "10.0.0.2", is {value[:60]!r}') from None


class HostSpec(Written):
    """Another machine, reached with the user's own OpenSSH.

    Attributes:
        ssh: The host as ssh takes it: a name from the user's ssh configuration, a host name, or `user@host`.
        python: Its Python interpreter, of the version that Plimsoll runs on.
        address: IP address on which servers there listen, and which the load generator connects to; the address that
            the SSH connection leads to when not given.
    """

    ssh: SshDestination
    python: Place = "python3"
    address: Annotated[str, AfterValidator(_address)] | None = None


INTERVAL_S, INTERVAL_S_MIN, INTERVAL_S_MAX = 5.0, 1.0, 300.0
EXPORTERS_MAX = 8


def _checked_url(url: str) -> str:
    """A fault does not repeat the URL, which may hold a password."""
    if not (url.isascii() and url.isprintable()) or " " in url or len(url) > _URL_LENGTH_MAX:
        raise ValueError(f"must be a URL of at most {_URL_LENGTH_MAX} visible ASCII characters; {_FORM}")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"host or port cannot be read; {_FORM}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("holds a user or password, and study files are kept; name a token's variable in bearer_env")
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise ValueError(f"must begin with http:// or https:// and a host, and have no #; {_FORM}")
    if unknown := {key for key, _ in parse_qsl(parts.query, keep_blank_values=True)} - _QUERY_KEYS:
        raise ValueError(
            f"unknown keys after the ?: {len(unknown)}; known are {', '.join(sorted(_QUERY_KEYS))}; a token is named in"
            " bearer_env"
        )
    return url


class ExporterSpec(Written):
    """A page in Prometheus' text format, such as that of node_exporter or mysqld_exporter.

    Attributes:
        url: Of the page, such as `http://db1:9100/metrics`; without user or password. A text in the list stands for a
            table with only this key.
        interval: Time from one request to the next: 1 s to 5 min. Slow exporters are asked less often.
        bearer_env: Name of the environment variable that holds the token to send. Needs https, or an address of this
            machine.
        device: The disk that holds the server's data, as node_exporter names it. Without it there are no figures of
            the data's device.
    """

    url: Annotated[str, AfterValidator(_checked_url)]
    interval: Annotated[DurationS, Field(ge=INTERVAL_S_MIN, le=INTERVAL_S_MAX)] = INTERVAL_S
    bearer_env: VariableName | None = None
    device: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] | None = None


def _as_tables(value: object) -> object:
    """A text stands for a table that has only the URL."""
    if not isinstance(value, list):
        return value
    return tuple({"url": item} if isinstance(item, str) else item for item in value)


Exporters = Annotated[tuple[ExporterSpec, ...], BeforeValidator(_as_tables), Field(max_length=EXPORTERS_MAX)]
"""A list of URLs and tables."""


class PriceSpec(Written):
    """The cost of a system, with what makes prices comparable.

    Attributes:
        per_month: Cost per month.
        currency: Currency code of ISO 4217, such as "EUR".
        term: Terms of the price, such as "1 year reserved".
        date: Date of the price.
    """

    per_month: float = Field(ge=0, allow_inf_nan=False)
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None
    term: Name | None = None
    date: datetime.date | None = None

    def price(self) -> Price:
        """The same as recordings have it."""
        return Price(per_month=self.per_month, currency=self.currency, term=self.term, date=self.date)


INSTANCES_MAX = 64

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
        data_dirs = (self.data_dir, self.replica.data_dir if self.replicas else None)
        return (*(data_dir for data_dir in data_dirs if data_dir is not None), *self.role_dirs.values())

    @property
    def each_replica(self) -> ServerSpec:
        """A replica as a server of its own, besides its CPUs: what is not said of replicas is as for the source."""
        replica = self.replica
        changes = {
            "memory_limit": replica.memory_limit,
            "buffer_pool": replica.buffer_pool,
            "data_dir": replica.data_dir,
        }
        written = {name: value for name, value in changes.items() if value is not None}
        options = self.server_options | replica.server_options
        return self.model_copy(update={**written, "options": options, "replicas": 0})

    @property
    def server_options(self) -> dict[str, OptionValue]:
        """The options with names in one spelling, in which everything but a trial's id has them.

        Raises:
            SpecError: Bad names or values, or options that would escape the instance; all faults at once.
        """
        return checked_options(self.options)

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
        source = next((target.url for target in self.targets if target.role == "source"), self.target)
        assert source is not None, "a system without a target was asked for it"
        return self._with_tls(parse_target(source))

    def parsed_replicas(self) -> tuple[Target, ...]:
        """The replicas among its targets, without passwords."""
        return tuple(self._with_tls(target.parsed()) for target in self.targets if target.role == "replica")

    def _with_tls(self, target: Target) -> Target:
        return target.with_tls(tls_texts({key: getattr(self, key) for key in KEYS}))

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


def system_faults(system: SystemSpec, *, needs_reset: bool) -> Iterable[Fault]:
    """What is wrong with a system by itself."""
    if system.cost is not None and system.cost_per_month is not None:
        yield Fault(("cost_per_month",), "cost says the price already; keep one of them")
    yield from exporter_faults(system.exporters, is_managed=system.server is not None)
    if [system.server is None, system.target is None, not system.targets].count(False) != 1:
        yield Fault(
            (),
            "must have either server (Plimsoll starts it) or target (it is running already), or targets (they"
            " run already and replicate)",
        )
    if "reads" in system.model_fields_set and not (system.replicas or _says_replicas(system)):
        yield Fault(("reads",), "this system has no replicas; leave it out")
    if system.target is None and not system.targets:
        yield from _faults_of_managed(system)
        return
    if system.targets and system.host is not None:
        yield Fault(("host",), "is for one server; leave it out, and targets are reached by their URLs")
    if system.targets:
        yield from role_target_faults(system.targets)
        if system.hooks is not None and system.hooks.written:
            yield Fault(("hooks",), "are for one target; leave them out, or name one server as target")
    if system.target is not None:
        yield from _faults_of_target(system)
    if needs_reset and system.reset is None:
        yield Fault(
            ("reset",),
            "a workload writes to a server that Plimsoll does not manage; say per_trial or per_system"
            " (the tables that Plimsoll made are made again) or never (drift is recorded)",
        )


def _says_replicas(system: SystemSpec) -> bool:
    """Whether the number of replicas was written, be it 0: a factor may have that value."""
    return system.server is not None and "replicas" in system.server.model_fields_set


def _faults_of_target(system: SystemSpec) -> Iterator[Fault]:
    try:
        if system.parsed_target().password.get_secret_value():
            yield Fault(("target",), "holds a password, and study files are kept; use password_env or defaults_file")
    except SpecError as error:
        yield from error.faults


def _faults_elsewhere(server: ServerSpec) -> Iterator[Fault]:
    """What cannot be had on another host."""
    for key in ("aged_data", "keep_data"):
        if getattr(server, key) is not None:
            yield Fault(("server", key), "data is kept on this machine only; leave it out, or leave host out")


def _option_faults(server: ServerSpec) -> Iterator[Fault]:
    """What is wrong with options by themselves."""
    for place, stated in (((), server), (("replica",), server.replica)):
        try:
            _ = stated.server_options
        except SpecError as error:
            yield from within(place, error.faults)


def _faults_with_options(server: ServerSpec, *, is_elsewhere: bool) -> Iterator[Fault]:
    """What does not go together with options, which are right by themselves."""
    options = server.server_options
    yield from path_faults(
        server,
        profile=server.profile,
        buffer_pool=server.buffer_pool,
        options={**options, "log_bin": True} if server.replicas else options,
        flavour=server.managed,
    )
    yield from replication_faults(
        server,
        flavour=server.managed,
        instances=server.instances,
        cpus=server.cpus,
        options=options,
        is_elsewhere=is_elsewhere,
    )


def _faults_of_managed(system: SystemSpec) -> Iterator[Fault]:
    for key in ("password_env", "defaults_file"):
        if getattr(system, key) is not None:
            yield Fault((key,), "belongs to a target; a managed server needs no password")
    for key in KEYS:
        if getattr(system, key) is not None:
            yield Fault((key,), "belongs to a target; a managed server is reached in plain, on this machine")
    if (server := system.server) is None:
        return
    if system.host is not None:
        yield from _faults_elsewhere(server)
    wrong = [*_option_faults(server)]
    yield from within(("server",), wrong)
    if not wrong:
        yield from within(("server",), _faults_with_options(server, is_elsewhere=system.host is not None))
    try:
        checked_arguments(server.command or ())
    except SpecError as error:
        yield from within(("server", "command"), error.faults)
    faults = placement_faults(server, instances=server.instances, buffer_pool=server.buffer_pool)
    yield from within(("server",), faults)


_SSH_DESTINATION = re.compile(r"(ssh://)?[A-Za-z0-9_\[][A-Za-z0-9_.@:%\[\]+-]{0,250}")

_URL_LENGTH_MAX = 2000
_QUERY_KEYS = frozenset({"collect[]", "exclude[]", "target", "auth_module", "module"})
"""What node_exporter and mysqld_exporter take in a query; anything else could be a secret."""

_FORM = "write http://host:9100/metrics"


def exporter_faults(exporters: tuple[ExporterSpec, ...], *, is_managed: bool) -> Iterator[Fault]:
    """What is wrong with a system's exporters together, one line each."""
    if exporters and is_managed:
        yield Fault(("exporters",), "belongs to a target; Plimsoll samples the machine of a managed server itself")
    urls = [exporter.url for exporter in exporters]
    for index, exporter in enumerate(exporters):
        if exporter.url in urls[:index]:
            yield Fault(("exporters", index, "url"), "is listed twice")
        if exporter.bearer_env is not None and not _is_private(exporter.url):
            yield Fault(("exporters", index, "bearer_env"), "a token would cross the network in clear; write https://")


def _is_private(url: str) -> bool:
    """Whether nobody on the way can read what is sent there."""
    parts = urlsplit(url)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


UTILISATION = 0.5
"""Share of its capacity at which a system is taken to run where nothing else is said."""

PRICE_FILE_BYTES_MAX = 1_000_000

Utilisation = Annotated[float, Field(gt=0, le=1)]


class PriceFile(Written):
    """A file of prices.

    Attributes:
        utilisation: Share of their capacity at which systems will run; None for what the study says.
        price: By the name of the system.
    """

    utilisation: Utilisation | None = None
    price: dict[str, PriceSpec] = Field(default_factory=dict)

    def price_of(self, system: str) -> Price | None:
        """The price of a system; None where the file does not have it."""
        return self.price[system].price() if system in self.price else None


_KNOWN = {"": tuple(PriceFile.model_fields)}


def read_prices(path: Path) -> PriceFile:
    """Reads and checks a file of prices.

    Raises:
        SpecError: The file cannot be read or is wrong; all faults at once.
    """
    written = read_toml(path, PRICE_FILE_BYTES_MAX, "file of prices")
    try:
        return PriceFile.model_validate(written)
    except ValidationError as error:
        raise SpecError(*(f"{path.name}: {fault}" for fault in faults_of(error, known=_KNOWN))) from None


def check_systems(prices: PriceFile, path: Path, systems: Sequence[str]) -> None:
    """Checks that every price is of a system that the study has.

    Args:
        prices: The file of prices.
        path: Where it was read, for messages.
        systems: The names of the study's systems.

    Raises:
        SpecError: Some are not; all faults at once.
    """
    unknown = [name for name in prices.price if name not in systems]
    if unknown:
        raise SpecError(
            *(
                f'{path.name}: price."{name}": the study has no system of that name{suggestion(name, systems)}'
                for name in unknown
            )
        )


POOL_BYTES_MIN = 8 * 2**20
"""Of each instance; servers take no less than 5 MiB, and would silently take that."""


def shares(workload: Workload, count: int) -> tuple[Workload, ...]:
    """The workload as each of so many instances has it. It must be one that `share_faults` has nothing against.

    Warehouses of a TPC-C-derived workload keep their numbers: each instance has the next block of them, and a copy of
    the items, which nothing changes. Its terminals, and connections for deliveries, are spread as evenly as possible,
    as connections are. Of OLTP tables each has as many, numbered from 1.
    """
    if count == 1:
        return (workload,)
    return tuple(_share(workload, index, count) for index in range(count))


def _share(workload: Workload, index: int, count: int) -> Workload:
    if isinstance(workload, TpccSpec):
        each = workload.warehouses // count
        update = {
            "warehouses": each,
            "first_warehouse": workload.first_warehouse + index * each,
            "terminals": None if workload.terminals is None else spread(workload.terminals, count)[index],
            "delivery_connections": spread(workload.delivery_connections, count)[index],
        }
        return workload.model_copy(update=update)
    assert not isinstance(workload, StatementsSpec), "statements of users are not divided"
    return workload.model_copy(update={"tables": workload.tables // count})


def spread(total: int, count: int) -> list[int]:
    """So many, as evenly as possible; the first ones have one more where it does not divide.

    >>> spread(7, 3)
    [3, 2, 2]
    """
    each, rest = divmod(total, count)
    return [each + (position < rest) for position in range(count)]


def share_faults(
    count: int, workloads: Iterable[Workload], *, connections: Sequence[int], buffer_pool: int | None
) -> Iterator[Fault]:
    """Why a study's load cannot be divided among the instances of one of its systems.

    Args:
        count: How many instances it has.
        workloads: All of the study.
        connections: Those of all levels.
        buffer_pool: Of all instances together, bytes; None when not given.
    """
    if count == 1:
        return
    place: Loc = ("instances",)
    for index, workload in enumerate(workloads):
        if fault := _fault(workload, count):
            yield Fault(place, f"is {count}, but workload[{index}] {fault}")
    if (fewest := min(connections)) < count:
        yield Fault(
            place,
            f"is {count}, but study.levels has {fewest} connection{'' if fewest == 1 else 's'} for all"
            f" instances together; begin with at least {count}",
        )
    if buffer_pool is not None and buffer_pool // count < POOL_BYTES_MIN:
        yield Fault(
            place,
            f"is {count}, which leaves each {format_bytes(buffer_pool // count)} of buffer_pool; give it at"
            f" least {format_bytes(count * POOL_BYTES_MIN)}",
        )


def _fault(workload: Workload, count: int) -> str | None:
    """Why a workload cannot be divided by so many, and the cure; None when it can."""
    if isinstance(workload, StatementsSpec):
        return (
            "is from a workload file: how its rows belong together, and which instance a statement would be for, is not"
            " known; use OLTP tables or tpcc, or one instance"
        )
    counted, key = (
        (workload.warehouses, "warehouses") if isinstance(workload, TpccSpec) else (workload.tables, "tables")
    )
    if counted % count:
        return f"has {key} = {counted}, which it does not divide; take a multiple of {count}"
    if isinstance(workload, TpccSpec) and 0 < workload.delivery_connections < count:
        few = workload.delivery_connections
        return f"has delivery_connections = {few}; take at least one for each instance, or 0 to deliver at once"
    return None
