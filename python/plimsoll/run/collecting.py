"""What hooks add to a recording: their output, and the files that the hook `collect` leaves.

Deliberately not here: running hooks (`hooks`), and what a recording's folder looks like (`record.attached`).
"""

from __future__ import annotations

from plimsoll.analyse.doubts import Code
from plimsoll.errors import HookError
from plimsoll.prose.catalogue import warning
from plimsoll.prose.phrases import first_few
from plimsoll.record.attached import COLLECTED_BYTES_MAX, COLLECTED_FILES_MAX, drop_unfit
from plimsoll.record.files import storing
from plimsoll.record.hooks import HookRecord
from plimsoll.record.model import Outcome, TrialWarning
from plimsoll.record.partial import PartialRecording
from plimsoll.run.hooks import SystemHooks
from plimsoll.units import format_bytes


def collected(hooks: SystemHooks | None, partial: PartialRecording, outcome: Outcome) -> Outcome:
    """Runs the hook `collect` after a trial; that it fails is a warning.

    Raises:
        StorageError: The disk is full, or the recording is gone.
        KeyboardInterrupt: Somebody ended it. The trial itself is complete.
    """
    if hooks is None or not hooks.has("collect"):
        return outcome
    folder, found = partial.folder_to_collect(), list[TrialWarning]()
    try:
        hooks.run("collect", PLIMSOLL_RECORDING=str(folder.absolute()))
    except HookError as error:
        found.append(warning(Code.COLLECT_FAILED, f"{error}."))
    found += _dropped(partial)
    return outcome.model_copy(update={"warnings": (*outcome.warnings, *found)})


def with_hooks(hooks: SystemHooks | None, partial: PartialRecording, outcome: Outcome) -> Outcome:
    """The outcome with the hooks that ran since the last trial; their output is written into the recording.

    Raises:
        StorageError: The disk is full, or the recording is gone.
    """
    records: list[HookRecord] = []
    for number, kept in enumerate(() if hooks is None else hooks.take()):
        name = None
        if kept.text.strip():
            content = kept.text.encode(errors="backslashreplace")
            name = partial.attach_output(f"{number}-{kept.record.hook}.txt", content)
        records.append(kept.record.model_copy(update={"output": name}))
    return outcome.model_copy(update={"hooks": tuple(records)}) if records else outcome


def _dropped(partial: PartialRecording) -> list[TrialWarning]:
    with storing(partial.path):
        dropped = drop_unfit(partial.path)
    found = []
    if dropped.unfit:
        evidence = f"The hook collect left what is no regular file that can be read: {first_few(dropped.unfit)}."
        found.append(warning(Code.COLLECT_FAILED, evidence))
    if dropped.beyond:
        most = f"{format_bytes(COLLECTED_BYTES_MAX)} in {COLLECTED_FILES_MAX:,} files"
        evidence = f"The hook collect left more than {most}; not kept: {first_few(dropped.beyond)}."
        found.append(warning(Code.COLLECT_FAILED, evidence))
    return found
