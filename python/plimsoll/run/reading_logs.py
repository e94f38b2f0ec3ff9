"""Has the engine read logs into a private folder, and removes that folder at the end.

Deliberately not here: what is concluded from the tables (`plimsoll.learn`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.plans import read_logs_line
from plimsoll.drive.protocol import Done, Progress
from plimsoll.errors import EngineBugError, HostError
from plimsoll.learn.event_log import FILES, EventLog, open_event_log
from plimsoll.private_folder import PrivateFolder
from plimsoll.run.log_inputs import log_inputs


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
        say: Is told of a file that ends early, and of a folder that stays.

    Raises:
        SpecError: A file cannot be read, or is no log.
        HostError: There is no room for the tables.
    """
    with _tables_folder(work_dir, keep=keep, say=say) as folder:
        with log_inputs(names, folder) as inputs:
            plan = read_logs_line(
                folder,
                [(one.path, one.name) for one in inputs],
                form=form,
                time_zone_offset_s=time_zone_offset_s,
            )
            _run(plan, progress)
            for one in inputs:
                if one.fault is not None:
                    say(one.fault)
        yield open_event_log(folder)


@contextmanager
def _tables_folder(work_dir: Path | None, *, keep: bool, say: Callable[[str], None]) -> Iterator[Path]:
    """A private folder for tables. One that is to stay has no owner, so that no later run removes it.

    Raises:
        HostError: It cannot be made.
    """
    with ExitStack() as stack:
        try:
            if keep:
                folder = Path(tempfile.mkdtemp(prefix="plimsoll-log-kept-", dir=work_dir))
            else:
                folder = stack.enter_context(PrivateFolder("log", work_dir))
                stack.enter_context(_without_names(folder))
        except OSError as error:
            place = work_dir or tempfile.gettempdir()
            raise HostError(f"{place}: cannot be written: {error.strerror}; choose another with --work-dir") from error
        try:
            yield folder
        finally:
            if keep:
                say(f"{folder}: holds what was read, literals included; keep it private")


@contextmanager
def _without_names(folder: Path) -> Iterator[None]:
    """Makes the files of the tables without names, so that the kernel frees them when this process is gone.

    In the folder are links to them, by way of this process: all that a killed run leaves. Where a file system has no
    such files (`O_TMPFILE`), or processes cannot be looked into, the tables are files as any.
    """
    opened: list[int] = []
    try:
        with suppress(OSError):
            for name in FILES:
                opened.append(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600))
                file = Path(f"/proc/{os.getpid()}/fd/{opened[-1]}")
                file.stat()
                (folder / name).symlink_to(file)
        yield
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _run(plan: dict[str, Any], progress: Callable[[Progress], None]) -> None:
    with LocalDriver().launch("read-logs", plan) as run:
        for message in run.messages():
            match message:
                case Progress():
                    progress(message)
                case Done():
                    return
    raise EngineBugError("plimsoll-engine read-logs ended without a last message")
