"""Workload files on the command line: what `--workload` and `--option` mean by them, and `plimsoll workload`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli import complete
from plimsoll.cli.help import Command, Group

if TYPE_CHECKING:
    from plimsoll.spec.workloads import StatementsSpec

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Work with workload files: your own tables and statements.",
)


@app.command("show", cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=complete.shipped_workloads,
            help="key-value, order-queue, read-share, time-series, tpcb-like or ycsb-a to ycsb-f.",
        ),
    ] = "key-value",
) -> None:
    """Print a workload file that comes with Plimsoll, as an example or a starting point.

    Example: plimsoll workload show order-queue > my-queue.toml
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.workloads import shipped

    if name not in shipped():
        raise SpecError(f"unknown workload {name!r}; choose one of {', '.join(shipped())}")
    typer.echo(shipped()[name].read_text(encoding="utf-8"), nl=False)


@app.command("check", cls=Command)
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A workload file.")],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="KEY=VALUE", help="rows.TABLE=N or parameters.NAME=VALUE; repeatable."),
    ] = None,
) -> None:
    """Check a workload file without a server, and report all errors at once.

    The load engine checks it too. A server checks the statements when a trial begins.

    Example: plimsoll workload check my-queue.toml
    """
    from plimsoll.errors import SpecError

    spec = workload_from_file(file, option or (), {})
    if faults := [*_faults_by_engine(spec)]:
        raise SpecError(*(f"{file}: {fault}" for fault in faults))
    tables = ", ".join(f"{table.name} ({table.rows:,} rows)" for table in spec.definition.table)
    transactions = ", ".join(
        f"{transaction.name} (weight {transaction.weight})" for transaction in spec.definition.transaction
    )
    typer.echo(f"tables: {tables or 'none of its own'}")
    typer.echo(f"transactions: {transactions}")
    typer.echo(f"{file} is valid")


def _faults_by_engine(spec: StatementsSpec) -> Iterator[str]:
    """What the load engine says of it, in the words of its plan."""
    from plimsoll.drive.engine import LocalDriver, refuse_faults
    from plimsoll.drive.plans import data_line, sources, trial_line
    from plimsoll.errors import SpecError
    from plimsoll.spec.target import Target

    nowhere = Target(user="nobody", database="nowhere", host="localhost")
    for plan in (
        data_line(spec, nowhere, loaders=1),
        trial_line(spec, sources({"nowhere": nowhere}), connections=1, duration_s=1, seed=1),
    ):
        try:
            refuse_faults(LocalDriver(), plan)
        except SpecError as error:
            yield from error.lines


_OF_BUILT_IN = ("tables", "table_size", "distribution", "warehouses")


def workload_from_file(name: str, written: Iterable[str], given: Mapping[str, object]) -> StatementsSpec:
    """A workload from a file, or from one that is shipped.

    Args:
        name: Path of the file, or name of a shipped one.
        written: Changes as KEY=VALUE, keys being `rows.TABLE` or `parameters.NAME`.
        given: Options of the command that were given, by the name of the key.

    Raises:
        SpecError: The file cannot be read or is wrong, or cannot be changed so; all faults at once.
    """
    from pydantic import ValidationError

    from plimsoll.errors import SpecError
    from plimsoll.spec.fields import faults_of
    from plimsoll.spec.workloads import StatementsSpec, reader

    faults = [
        f"--{key.replace('_', '-')}: belongs to built-in workloads; use --option rows.TABLE=N or parameters.NAME=V"
        for key in _OF_BUILT_IN
        if key in given
    ]
    changes: dict[str, dict[str, object]] = {"rows": {}, "parameters": {}}
    faults += _sorted_into(changes, written)
    if faults:
        raise SpecError(*faults)
    try:
        text = reader(Path())(name)
    except SpecError as error:
        raise SpecError(f"--workload: {error}") from None
    stem = Path(name).stem
    try:
        spec = StatementsSpec.model_validate(
            {"name": stem, "file": name, "text": text, "prepared": given.get("prepared"), **changes}
        )
    except ValidationError as error:
        raise SpecError(*(f"--option {fault}" for fault in faults_of(error))) from None
    try:
        _ = spec.definition
    except SpecError as error:
        raise SpecError(*(f"{name}: {fault}" for fault in error.faults)) from None
    return spec


def changes_of(written: Iterable[str]) -> dict[str, dict[str, object]]:
    """What is changed in a workload file, as the keys of its `[[workload]]`; what is no change is left out."""
    changes: dict[str, dict[str, object]] = {"rows": {}, "parameters": {}}
    list(_sorted_into(changes, written))
    return {key: value for key, value in changes.items() if value}


def _sorted_into(changes: dict[str, dict[str, object]], written: Iterable[str]) -> Iterator[str]:
    """Sorts changes by what they change; tells which are none."""
    from plimsoll.cli.option_values import toml_value

    for change in written:
        key, equals, value = change.partition("=")
        part, dot, name = key.strip().partition(".")
        if equals and dot and part in changes:
            changes[part][name] = toml_value(value.strip())
        else:
            yield f"--option: must be rows.TABLE=N or parameters.NAME=VALUE with a workload file, is {change[:60]!r}"
