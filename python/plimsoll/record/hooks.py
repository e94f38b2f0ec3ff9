"""What hooks did around a trial. Part of a recording."""

from __future__ import annotations

from typing import Literal

from plimsoll.record.document import Document, UnixSeconds

HookResult = Literal["done", "failed", "over-limit", "not-started"]
"""Exit code 0; another exit code or a signal; its time was up; the command cannot be executed."""


class HookRecord(Document):
    """One run of a hook.

    Attributes:
        hook: Its name, such as `start`.
        system: Whose; None for a hook of the whole study.
        began_unix_s: Wall clock, seconds since 1970.
        duration_s: Its repetitions included, seconds.
        result: `done`, `failed`, `over-limit` or `not-started`.
        exit_code: The last one; below 0 for the number of a signal. None where its time was up or it was not started.
        attempts_count: How often it ran: again after each exit code 75.
        output: File with its output, relative to the recording; None where it wrote nothing.
    """

    hook: str
    system: str | None = None
    began_unix_s: UnixSeconds
    duration_s: float
    result: HookResult
    exit_code: int | None = None
    attempts_count: int = 1
    output: str | None = None
