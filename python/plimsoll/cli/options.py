"""Options that several commands share, and what they mean."""

from __future__ import annotations

import getpass
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.encryption import Encryption, encrypted
from plimsoll.cli.option_values import key_and_value, toml_value

if TYPE_CHECKING:
    from plimsoll.spec.arrivals import OpenArrivals
    from plimsoll.spec.statements import Workload
    from plimsoll.spec.target import Target

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
        help="mysql://user@host:3306/database, or mysql://user@/database?socket=/path, or managed: a throwaway server.",
    ),
]
PasswordEnvOption = Annotated[
    str | None, typer.Option("--password-env", metavar="NAME", help="Environment variable that holds the password.")
]
DefaultsFileOption = Annotated[
    Path | None,
    typer.Option("--defaults-file", metavar="FILE", help="Option file whose [client] section holds the password."),
]
AskPasswordOption = Annotated[bool, typer.Option("--ask-password", help="Ask for the password.")]
WorkloadOption = Annotated[
    str,
    typer.Option(
        "--workload",
        metavar="KIND|FILE",
        autocompletion=complete.workloads,
        help="oltp_read_only, _read_write, _write_only, _point_select, _insert, _delete, _update_index,"
        " _update_non_index, select_random_points, select_random_ranges, bulk_insert; as sysbench 0.4 has them:"
        " oltp_0.4_simple, oltp_0.4_complex, oltp_0.4_nontrx, oltp_0.4_sp; of your own: FILE.toml; ready to use:"
        " key-value, order-queue, time-series; and tpcc, which is TPC-C-derived.",
    ),
]
WarehousesOption = Annotated[int | None, typer.Option("--warehouses", help="Scale of tpcc; 1 when not given.")]
TablesOption = Annotated[
    int | None, typer.Option("--tables", help="Number of tables, sbtest1 to sbtestN; 1 when not given.")
]
TableSizeOption = Annotated[int | None, typer.Option("--table-size", help="Rows in each table; 10000 when not given.")]
DistributionOption = Annotated[
    str | None,
    typer.Option(
        "--distribution",
        autocompletion=complete.distributions,
        help="How rows are chosen, and column k is filled: uniform (when not given), gaussian, special-0.4,"
        " special-1.0, pareto, zipfian, or with parameters: '{ kind = \"zipfian\", exponent = 0.9 }'.",
    ),
]
OptionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="KEY=VALUE",
        help="Any other key of a [[workload]] in a study file, such as range_size=10 or auto_increment=false;"
        " repeatable.",
    ),
]
ConnectionsOption = Annotated[
    int, typer.Option("--connections", min=1, max=100_000, help="How many drive load at the same time.")
]
ServerOption = Annotated[
    str,
    typer.Option(
        "--server", autocompletion=complete.servers, help="With --target managed: mariadb, mysql, or a full command."
    ),
]
RateOption = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="TPS",
        help="Transactions wanted per second, whether or not a connection is free: 500, or steps and ramps such as"
        " '0 to 2000 for 60s, 2000 for 30s, 500'. Without it each connection starts the next one when one is done.",
    ),
]
ArrivalsOption = Annotated[
    str,
    typer.Option(
        "--arrivals",
        autocompletion=complete.arrivals,
        help="With --rate: poisson, as from many users, or uniform: evenly.",
    ),
]
BacklogOption = Annotated[
    int,
    typer.Option(
        "--backlog",
        min=0,
        max=1_000_000,
        help="With --rate: so many may wait for a connection; what falls due beyond that is dropped and counted.",
    ),
]
StudyFolderArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", autocompletion=complete.studies, help="The folder of a study.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def resolve_target(
    url: str,
    *,
    password_env: str | None,
    defaults_file: Path | None,
    ask_password: bool,
    encryption: Encryption,
) -> Target:
    """The target with its password and encryption, from wherever the user said they are.

    Args:
        url: The target.
        password_env: Environment variable that holds the password.
        defaults_file: Option file that holds it.
        ask_password: Whether to ask for it.
        encryption: What the options about encryption say.

    Raises:
        SpecError: The URL or an option is wrong, or there is no password where it should be.
    """
    from plimsoll.spec.secrets import with_secrets
    from plimsoll.spec.target import parse_target

    return with_secrets(
        encrypted(parse_target(url), encryption),
        password_env=password_env,
        defaults_file=str(defaults_file) if defaults_file else None,
        prompt=getpass.getpass if ask_password else None,
    )


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
    from plimsoll.spec.tpcc import TPCC
    from plimsoll.spec.workload import WorkloadSpec

    given = {name: value for name, value in options.items() if value is not None}
    if kind == TPCC:
        from plimsoll.cli.tpcc import tpcc_of

        return tpcc_of(written or (), given)
    if is_file(kind):
        from plimsoll.cli.workload_file import workload_from_file

        return workload_from_file(kind, written or (), given)
    if isinstance(text := given.get("distribution"), str):
        given["distribution"] = toml_value(text)
    keys = dict(key_and_value(one, taken=given) for one in written or ())
    try:
        return WorkloadSpec.model_validate({"name": kind, "kind": kind, **given, **keys})
    except ValidationError as error:
        raise SpecError(*(as_option(fault, keys) for fault in faults_of(error))) from None


def is_file(workload: str) -> bool:
    """Whether a name is that of a workload file, a shipped one or one of the user's."""
    from plimsoll.spec.statements import shipped

    return workload.endswith(".toml") or workload in shipped()


def arrivals_of(rate: str | None, *, process: str, backlog_max: int) -> OpenArrivals | None:
    """The wanted rate from options of the command line; None for a closed loop.

    Raises:
        SpecError: An option's value is wrong.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.arrivals import PROCESSES, OpenArrivals, parse_rate

    if process not in PROCESSES:
        raise SpecError(f"--arrivals: must be one of {', '.join(PROCESSES)}, is {process!r}")
    if rate is None:
        return None
    try:
        return OpenArrivals(steps=parse_rate(rate), process=PROCESSES[process], backlog_max=backlog_max)
    except SpecError as error:
        raise SpecError(f"--rate: {error}") from None


_OPTIONS = frozenset(
    {"workload", "tables", "table-size", "distribution", "warehouses", "text", "tls", "ca", "cert", "key"}
)
"""Those that are named as the fields that they set."""


def as_option(fault: str, keys: Collection[str] = ()) -> str:
    """Names the option instead of the field that a line begins with; `keys` came by --option KEY=VALUE."""
    field, _, wrong = fault.partition(":")
    name = {"kind": "workload", "": "workload"}.get(field, field.replace("_", "-"))
    return f"--{name}:{wrong}" if name in _OPTIONS and field not in keys else f"--option {field}:{wrong}"


def duration_s(text: str, option: str) -> float:
    """Reads the value of an option that is a time.

    Raises:
        SpecError: It is none; the message names the option.
    """
    from plimsoll.errors import SpecError
    from plimsoll.units import parse_duration_s

    try:
        return parse_duration_s(text)
    except SpecError as error:
        raise SpecError(f"{option}: {error}") from None
