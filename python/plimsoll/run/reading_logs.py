"""Has the engine read logs into a private folder, and removes that folder at the end.

Deliberately not here: what is concluded from the tables (`plimsoll.learn`).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.plans import read_logs_line
from plimsoll.drive.protocol import Done, Progress
from plimsoll.errors import DamagedInputError, EngineBugError, HostError, SpecError
from plimsoll.learn.event_log import EventLog, open_event_log
from plimsoll.run.log_inputs import LogInput, log_inputs


@contextmanager
def read_logs(
    names: Sequence[str],
    *,
    form: str | dict[str, Any] = "auto",
    time_zone_offset_s: int = 0,
    work_dir: Path | None = None,
    keep: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[EventLog]:
    """The tables of logs of one server, in a folder that only the owner can read.

    Args:
        names: Files, in the order of time, and `-` for standard input.
        form: `auto`, `slow`, `general`, `binlog`, or the columns of an audit log.
        time_zone_offset_s: Of a server whose log has local times.
        work_dir: Where the folder is made; None for the system's temporary folder.
        keep: The folder stays.
        progress: Is told how far reading is.
        say: Is told of a file that is damaged or cut, and of a folder that stays.

    Raises:
        SpecError: A file cannot be read, or is no log.
        DamagedInputError: The content of a damaged file is no log.
        HostError: There is no room for the tables.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="plimsoll-log-", dir=work_dir))
    except OSError as error:
        raise HostError(f"{work_dir}: cannot be written: {error.strerror}; choose another with --work-dir") from error
    try:
        with log_inputs(names, folder) as inputs:
            plan = read_logs_line(
                folder,
                [(one.path, one.name) for one in inputs],
                form=form,
                time_zone_offset_s=time_zone_offset_s,
            )
            _run(plan, inputs, progress)
        for one in inputs:
            if one.fault is not None:
                say(f"{_damage(one)}; what follows is missing")
        log = open_event_log(folder)
        faults = (one.model_copy(update={"fault": read.fault}) for one, read in zip(log.sources, inputs, strict=True))
        yield replace(log, sources=tuple(faults))
    finally:
        if keep:
            say(f"{folder}: holds what was read, literals included; keep it private")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _run(plan: dict[str, Any], inputs: Sequence[LogInput], progress: Callable[[Progress], None]) -> None:
    try:
        with LocalDriver().launch("read-logs", plan) as run:
            for message in run.messages():
                match message:
                    case Progress():
                        progress(message)
                    case Done():
                        return
    except SpecError as error:
        if damaged := [one for one in inputs if one.fault is not None]:
            raise DamagedInputError(*map(_damage, damaged), *error.faults) from error
        raise
    raise EngineBugError("plimsoll-engine read-logs ended without a last message")


def _damage(one: LogInput) -> str:
    assert one.fault is not None, "asked for damaged files only"
    return f"{one.name}: is damaged or cut, noticed at line {one.fault.line:,} of its content: {one.fault.reason}"
