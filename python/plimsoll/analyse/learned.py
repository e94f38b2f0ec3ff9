"""What the recorded text of a workload file says of the log that it was learned from."""

from __future__ import annotations

import tomllib

from plimsoll.analyse.learned_model import FidelityCheck, FidelityKind, LearnedFrom
from plimsoll.record.model import WorkloadRecord
from plimsoll.spec.learned import LearnedCheck, LearnedSpec
from plimsoll.spec.statements import FILE_BYTES_MAX


def learned_from(workload: WorkloadRecord) -> LearnedFrom | None:
    """Where a workload was learned; None for one that was not, or whose recorded file cannot be read."""
    text = workload.options.get("definition")
    if not isinstance(text, str) or len(text) > FILE_BYTES_MAX:
        return None
    try:
        spec = LearnedSpec.model_validate(tomllib.loads(text)["learned"])
    except (KeyError, ValueError, RecursionError):
        return None
    return LearnedFrom(
        first_unix_s=None if spec.first is None else spec.first.timestamp(),
        last_unix_s=None if spec.last is None else spec.last.timestamp(),
        transactions=spec.transactions,
        transaction_share=spec.transaction_share,
        time_share=spec.time_share,
        check=None if spec.check is None else _check(spec.check),
    )


def _check(check: LearnedCheck) -> FidelityCheck:
    return FidelityCheck(
        at_unix_s=check.at.timestamp(),
        server=check.server,
        connections=check.connections,
        duration_s=check.duration_s,
        figures=tuple(FidelityKind(**one.model_dump()) for one in check.figures),
    )
