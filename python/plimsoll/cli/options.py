"""Options that several commands share, and what they mean: data, load, logging in to a target.

Those about logging in are the password, how connections are encrypted, and what protects the password. Deliberately not
here: how values are read that are more than a word (`option_values`).
"""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import ARRIVALS, DATA, LOGIN, RECORDING
from plimsoll.cli.option_values import as_option, duration_s, key_and_value, labels, toml_value

if TYPE_CHECKING:
    from plimsoll.errors import Fault
    from plimsoll.run.single import RecordingWanted
    from plimsoll.spec.clients import Clients, OpenArrivals
    from plimsoll.spec.drivers import DriverSpec
    from plimsoll.spec.target import Target
    from plimsoll.spec.tpcc import TpccSpec
    from plimsoll.spec.workloads import Workload


def tpcc_of(written: Iterable[str], given: Mapping[str, object]) -> TpccSpec:
    """The workload.

    Args:
        written: Keys as KEY=VALUE.
        given: Those that have an option of their own.

    Raises:
        SpecError: An option's value is wrong; all faults at once.
    """
    from pydantic import ValidationError

    from plimsoll.errors import SpecError
    from plimsoll.spec.fields import faults_of
    from plimsoll.spec.tpcc import TpccSpec

    keys = dict(key_and_value(option, taken=given) for option in written)
    try:
        return TpccSpec.model_validate({**given, **keys})
    except ValidationError as error:
        raise SpecError(*(as_option(fault, keys) for fault in faults_of(error))) from None


TargetOption = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="URL",
        help="The server: mysql://user@host:3306/database or mysql://user@/database?socket=/path.",
    ),
]
TargetOrManagedOption = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="URL|managed",
        autocompletion=complete.targets,
        help="The server: mysql://user@host:3306/database, mysql://user@/database?socket=/path, or managed, which"
        " starts a throwaway server.",
    ),
]
WorkloadOption = Annotated[
    str,
    typer.Option(
        "--workload",
        metavar="KIND|FILE",
        autocompletion=complete.workloads,
        help="oltp_read_only, _read_write, _write_only, _point_select, _insert, _delete, _update_index,"
        " _update_non_index, select_random_points, select_random_ranges or bulk_insert; from sysbench 0.4:"
        " oltp_0.4_simple, oltp_0.4_complex, oltp_0.4_nontrx or oltp_0.4_sp; tpcc (TPC-C-derived); key-value,"
        " order-queue, read-share, time-series, tpcb-like or ycsb-a to ycsb-f; or your own FILE.toml.",
        rich_help_panel=DATA,
    ),
]
WarehousesOption = Annotated[
    int | None,
    typer.Option(
        "--warehouses",
        help="Number of tpcc warehouses. Default: 1.",
        rich_help_panel=DATA,
    ),
]
TablesOption = Annotated[
    int | None,
    typer.Option(
        "--tables",
        help="Number of tables, sbtest1 to sbtestN. Default: 1.",
        rich_help_panel=DATA,
    ),
]
TableSizeOption = Annotated[
    int | None,
    typer.Option(
        "--table-size",
        help="Rows in each table. Default: 10000.",
        rich_help_panel=DATA,
    ),
]
DistributionOption = Annotated[
    str | None,
    typer.Option(
        "--distribution",
        autocompletion=complete.distributions,
        help="How rows are chosen and column k is filled: uniform (the default), gaussian, special-0.4,"
        " special-1.0, pareto or zipfian; with parameters: '{ kind = \"zipfian\", exponent = 0.9 }'.",
        rich_help_panel=DATA,
    ),
]
OptionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Any other key of a [[workload]] in a study file, such as range_size=10 or auto_increment=false."
        " Repeatable.",
        rich_help_panel=DATA,
    ),
]
ConnectionsOption = Annotated[int, typer.Option("--connections", min=1, max=100_000, help="Number of connections.")]
ServerOption = Annotated[
    str,
    typer.Option(
        "--server", autocompletion=complete.servers, help="With --target managed: mariadb, mysql, or a full command."
    ),
]
ReplicasOption = Annotated[
    int, typer.Option("--replicas", min=0, max=16, help="With --target managed: number of replicas; they take reads.")
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="TPS",
        help="Target rate (open loop), in transactions per second: 500, or steps and ramps such as"
        " '0 to 2000 for 60s, 2000 for 30s, 500'. Default: a closed loop, in which each connection starts its next"
        " transaction when the last one is done.",
        rich_help_panel=ARRIVALS,
    ),
]
ArrivalsOption = Annotated[
    str,
    typer.Option(
        "--arrivals",
        autocompletion=complete.arrivals,
        help="With --rate: poisson (random, as from many independent users) or uniform (evenly spaced).",
        rich_help_panel=ARRIVALS,
    ),
]
BacklogOption = Annotated[
    int,
    typer.Option(
        "--backlog",
        min=0,
        max=1_000_000,
        help="With --rate: how many transactions may wait for a connection. Beyond that they are dropped and counted.",
        rich_help_panel=ARRIVALS,
    ),
]
StudyFolderArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", autocompletion=complete.studies, help="Folder of a study.")
]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Refuse to measure if pre-flight findings make figures wrong or uncertain."),
]
LabelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="NAME=VALUE",
        help="Say of which version this is, such as commit=3f2a91c; plimsoll trend shows it, and can order by it."
        " Kept in each recording. Repeatable.",
        rich_help_panel=RECORDING,
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FOLDER",
        help="Record in this folder; plimsoll guide reads it.",
        rich_help_panel=RECORDING,
    ),
]
RecordSystemOption = Annotated[
    str | None,
    typer.Option(
        "--record-system",
        metavar="NAME",
        help="Name of the system. Default: the server's address.",
        rich_help_panel=RECORDING,
    ),
]
RecordWorkloadOption = Annotated[
    str | None,
    typer.Option(
        "--record-workload", metavar="NAME", help="Name of the workload. Default: its kind.", rich_help_panel=RECORDING
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """Where runs are kept, and under which names."""

    record: RecordOption = None
    record_system: RecordSystemOption = None
    record_workload: RecordWorkloadOption = None
    label: LabelOption = None

    def wanted(self, arrivals: OpenArrivals | None = None) -> RecordingWanted | None:
        """None for nowhere; raises as `recording_wanted`."""
        from plimsoll.run.single import recording_wanted

        version = labels(self.label or ())
        return recording_wanted(self.record, self.record_system, self.record_workload, arrivals, version)


NO_RECORD = RecordOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """Which workload's tables."""

    workload: WorkloadOption = "oltp_read_write"
    tables: TablesOption = None
    table_size: TableSizeOption = None
    warehouses: WarehousesOption = None
    distribution: DistributionOption = None
    option: OptionsOption = None

    @property
    def spec(self) -> Workload:
        """The workload; raises as `workload_of`."""
        keys = {"tables": self.tables, "table_size": self.table_size, "distribution": self.distribution}
        return workload_of(self.workload, self.option, warehouses=self.warehouses, **keys)

    @property
    def keys(self) -> dict[str, Any]:
        """The workload as a `[[workload]]` of a study file; a path is absolute, since the file may lie anywhere."""
        name = Path(self.workload).stem
        if is_file(self.workload):
            from plimsoll.cli.workload import changes_of
            from plimsoll.spec.workloads import shipped

            place = self.workload if self.workload in shipped() else str(Path(self.workload).absolute())
            return {"name": name, "file": place, **changes_of(self.option or ())}
        options = {"tables": self.tables, "table_size": self.table_size, "warehouses": self.warehouses}
        given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
        if self.distribution is not None:
            given["distribution"] = toml_value(self.distribution)
        return {
            "name": self.workload,
            "kind": self.workload,
            **given,
            **dict(key_and_value(option, taken=given) for option in self.option or ()),
        }


def workload_of(kind: str, written: list[str] | None = None, **options: object) -> Workload:
    """A workload from options of the command line.

    Args:
        kind: Which, or a workload file.
        written: Further keys as KEY=VALUE.
        options: By the name of the key; None for what was not given.

    Raises:
        SpecError: An option's value is wrong; all faults at once.
    """
    from pydantic import ValidationError

    from plimsoll.errors import SpecError
    from plimsoll.spec.fields import faults_of
    from plimsoll.spec.oltp import WorkloadSpec
    from plimsoll.spec.tpcc import TPCC

    given = {name: value for name, value in options.items() if value is not None}
    if kind == TPCC:
        return tpcc_of(written or (), given)
    if is_file(kind):
        from plimsoll.cli.workload import workload_from_file

        return workload_from_file(kind, written or (), given)
    if isinstance(text := given.get("distribution"), str):
        given["distribution"] = toml_value(text)
    keys = dict(key_and_value(option, taken=given) for option in written or ())
    try:
        return WorkloadSpec.model_validate({"name": kind, "kind": kind, **given, **keys})
    except ValidationError as error:
        raise SpecError(*(as_option(fault, keys) for fault in faults_of(error))) from None


def is_file(workload: str) -> bool:
    """Whether a name is that of a workload file, a shipped one or one of the user's."""
    from plimsoll.spec.workloads import shipped

    return workload.endswith(".toml") or workload in shipped()


ANY_DATA = DataOptions()


def arrivals_of(rate: str | None, *, process: str, backlog_max: int) -> OpenArrivals | None:
    """The target rate from options of the command line; None for a closed loop.

    Raises:
        SpecError: An option's value is wrong.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.clients import PROCESSES, OpenArrivals, parse_rate

    if process not in PROCESSES:
        raise SpecError(f"--arrivals: must be one of {', '.join(PROCESSES)}, is {process!r}")
    if rate is None:
        return None
    try:
        return OpenArrivals(steps=parse_rate(rate), process=PROCESSES[process], backlog_max=backlog_max)
    except SpecError as error:
        raise SpecError(f"--rate: {error}") from None


def drivers_of(text: str | None, connections: int, *, is_managed: bool = False) -> tuple[DriverSpec, ...]:
    """Machines that share the load, from an option; this one alone when it was not given.

    Args:
        text: As typed.
        connections: At the lowest level.
        is_managed: Whether Plimsoll starts the server, on this machine.

    Raises:
        SpecError: It names something that is no host, a host that cannot reach the server, or more drivers than there
            are connections.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.drivers import ONE_HERE, beyond_loopback, parse_drivers, too_few_connections

    if text is None:
        return ONE_HERE
    try:
        drivers = parse_drivers(text)
    except SpecError as error:
        raise SpecError(*(f"--drivers: {fault}" for fault in error.faults)) from None
    if is_managed and (fault := beyond_loopback(drivers)) is not None:
        raise SpecError(f"--drivers: {fault}")
    if (fault := too_few_connections(connections, drivers)) is not None:
        raise SpecError(fault)
    return drivers


DriversOption = Annotated[
    str | None,
    typer.Option(
        "--drivers",
        metavar="HOST,…",
        help="Machines that share the load, such as load1,load2: hosts of your OpenSSH configuration, or local for this"
        " one.",
    ),
]

PriceFileOption = Annotated[
    Path | None,
    typer.Option(
        "--price-file",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help='TOML file of prices kept apart from the study: [price."system name"] per_month, currency, term, date.',
    ),
]

PasswordEnvOption = Annotated[
    str | None,
    typer.Option(
        "--password-env", metavar="NAME", help="Environment variable that holds the password.", rich_help_panel=LOGIN
    ),
]
DefaultsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--defaults-file",
        metavar="FILE",
        help="Option file whose [client] section holds the password.",
        rich_help_panel=LOGIN,
    ),
]
AskPasswordOption = Annotated[
    bool,
    typer.Option(
        "--ask-password",
        help="Prompt for the password.",
        rich_help_panel=LOGIN,
    ),
]
TlsOption = Annotated[
    str | None,
    typer.Option(
        "--tls",
        metavar="MODE",
        autocompletion=complete.tls_modes,
        help="disabled, preferred (the default), required, verify-ca or verify-identity; see docs/encryption.md.",
        rich_help_panel=LOGIN,
    ),
]
CaOption = Annotated[
    str | None,
    typer.Option(
        "--ca",
        metavar="FILE",
        help="Certificate authorities to trust, PEM.",
        rich_help_panel=LOGIN,
    ),
]
CertOption = Annotated[
    str | None,
    typer.Option(
        "--cert",
        metavar="FILE",
        help="Client certificate, PEM.",
        rich_help_panel=LOGIN,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Private key of the client certificate, PEM.",
        rich_help_panel=LOGIN,
    ),
]
ServerKeyOption = Annotated[
    str | None,
    typer.Option(
        "--server-public-key-path",
        metavar="FILE",
        help="The server's public key, PEM. It encrypts the password on a connection without TLS.",
        rich_help_panel=LOGIN,
    ),
]
GetServerKeyOption = Annotated[
    bool,
    typer.Option(
        "--get-server-public-key",
        help="Accept whatever public key the server sends. An impostor could then read the password.",
        rich_help_panel=LOGIN,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """How to log in to a target."""

    password_env: PasswordEnvOption = None
    defaults_file: DefaultsFileOption = None
    ask_password: AskPasswordOption = False
    tls: TlsOption = None
    ca: CaOption = None
    cert: CertOption = None
    key: KeyOption = None
    server_public_key_path: ServerKeyOption = None
    get_server_public_key: GetServerKeyOption = False

    @property
    def _encryption(self) -> dict[str, str | bool | None]:
        """What was given, by the keys of `spec.target`; None for what was not."""
        keys = ("tls", "ca", "cert", "key", "server_public_key_path", "get_server_public_key")
        return {key: getattr(self, key) or None for key in keys}

    def target(self, url: str) -> Target:
        """A target with its password and encryption, from wherever the user said they are.

        Raises:
            SpecError: The URL or an option is wrong, or there is no password where it should be.
        """
        from plimsoll.errors import SpecError
        from plimsoll.spec.target import parse_target, tls_texts, with_secrets

        target = parse_target(url)
        try:
            target = target.with_tls(tls_texts(self._encryption))
        except SpecError as error:
            raise SpecError(*(_as_option(fault) for fault in error.faults)) from None
        return with_secrets(
            target,
            password_env=self.password_env,
            defaults_file=str(self.defaults_file) if self.defaults_file else None,
            prompt=getpass.getpass if self.ask_password else None,
        )

    def refuse_for_managed(self) -> None:
        """Refuses options that a managed server has no use for.

        Raises:
            SpecError: One was given.
        """
        from plimsoll.errors import SpecError

        if given := [key.replace("_", "-") for key, value in self._encryption.items() if value]:
            raise SpecError(
                f"--{given[0]}: a managed server is reached on this machine without encryption; leave it out"
            )


def _as_option(fault: Fault) -> str:
    return f"--{fault.place.replace('_', '-')}: {fault.reason}"


NO_LOGIN = Login()


def warm_up_of(workload: Workload, written: str | None, connections: int, clients: Clients, *, is_open: bool) -> float:
    """How long load runs before it counts, seconds, after a check that the pace of any workload fits the level.

    Args:
        workload: Any.
        written: As typed; None for a second, or until all terminals have begun.
        connections: Of the level.
        clients: Whether they think.
        is_open: The level is a rate.

    Raises:
        SpecError: They do not go together; all faults at once. Or it is no duration.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.levels import pace_faults, ramp_up_s

    has_think_time = clients.think_time is not None
    faults = pace_faults(workload, connections, is_open=is_open, has_think_time=has_think_time)
    option = "--workload" if workload.kind == "statements" else "--option"
    if messages := [f"{option} {fault}" for fault in faults]:
        raise SpecError(*messages)
    return max(1.0, ramp_up_s(workload)) if written is None else duration_s(written, "--warm-up")
