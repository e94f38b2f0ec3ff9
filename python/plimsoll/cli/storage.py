"""`plimsoll storage`: what the storage below a path does by itself.

A line for each test that was measured, also while a study runs, and what storage adds to the plan of a study.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.options import JsonOption
from plimsoll.cli.streams import say_first
from plimsoll.units import format_duration, format_ms, format_number

if TYPE_CHECKING:
    from plimsoll.run.events import StorageMeasured
    from plimsoll.spec.study import StudySpec


def storage(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder on the storage.")],
    size: Annotated[str, typer.Option("--size", help="Of the file that is read and written.")] = "1G",
    duration: Annotated[str, typer.Option("--duration", help="How long each test runs.")] = "5s",
    queue_depths: Annotated[
        str, typer.Option("--queue-depths", metavar="LIST", help="Requests in progress at once.")
    ] = "1,4,16,64",
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            help="Only this: sequential-read, random-read, sequential-write, random-write, mixed or commit. Repeat"
            " for more.",
        ),
    ] = None,
    precondition: Annotated[
        bool, typer.Option("--precondition", help="Write the file three times before measuring.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the storage below a path with fio.

    Files go into a directory of their own below PATH, which is removed at the end. Nothing else there is touched. A
    study measures storage before its trials where its file has [[storage]] sections.

    Examples:

      plimsoll storage /var/lib/mysql-data

      plimsoll storage /mnt/nvme --test commit --duration 10s
    """
    say_first(f"measuring {path}", is_quiet=as_json)
    from pydantic import ValidationError

    from plimsoll.cli.option_values import counts_of
    from plimsoll.cli.streams import show
    from plimsoll.errors import SpecError
    from plimsoll.guide.storage import storage_table
    from plimsoll.guide.terminal_blocks import show_table
    from plimsoll.run.events import storage_measured
    from plimsoll.run.storage import measured
    from plimsoll.spec.fields import faults_of
    from plimsoll.spec.storage import StorageSpec

    written = {
        "path": str(path),
        "size": size,
        "duration": duration,
        "queue_depths": counts_of(queue_depths, "--queue-depths"),
        "precondition": precondition,
        **({"tests": test} if test else {}),
    }
    try:
        spec = StorageSpec.model_validate(written)
    except ValidationError as error:
        raise SpecError(*faults_of(error)) from None
    record = None
    for record in measured(spec):
        if sys.stderr.isatty():
            typer.echo(measured_line(storage_measured(record, record.measurements[-1])), err=True)
    assert record is not None, "each storage has a test"
    if as_json:
        typer.echo(record.model_dump_json(indent=2))
    else:
        show(show_table(storage_table(record)))


def measured_line(event: StorageMeasured) -> str:
    """What one test found."""
    depth = f", queue depth {event.queue_depth}" if event.test.has_depths else ""
    return (
        f"{event.name}: {event.test.value}{depth}: {format_number(event.per_s)} operations/s,"
        f" p99 {format_ms(event.ms_p99)}"
    )


def planned_storage(spec: StudySpec) -> Iterator[str]:
    """One line for each storage that is measured before the trials."""
    if not spec.storage:
        return
    from plimsoll.run.storage import duration_s

    for storage_spec in spec.storage:
        duration = format_duration(duration_s([storage_spec]))
        yield f"{storage_spec.label}: storage is measured before the trials, {duration} and more"
