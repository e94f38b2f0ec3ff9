"""Warnings and faults apart from those that any run may have on a busy machine, for tests that want none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.record.model import TrialWarning

FROM_THE_MACHINE = frozenset({"intervals-late", "throughput-stalled"})
"""Codes of warnings that nothing but a machine that stood still may have brought about."""

_LATE_INTERVALS = "were taken late by a whole interval or more"


def codes_of(warnings: Iterable[TrialWarning | Mapping[str, Any]]) -> list[str]:
    """Codes of a recording's warnings, or of those in the JSON of a trial or of a guide, but those from the machine.

    What could not be watched is from the machine where all that is said of it is that an answer came late.
    """
    parts = [one.model_dump() if isinstance(one, TrialWarning) else one for one in warnings]
    return [one["code"] for one in parts if one["code"] not in FROM_THE_MACHINE and not _is_late_telemetry(one)]


def faults_of(faults: Iterable[str]) -> list[str]:
    """Faults of samplers, but those of answers that came late."""
    return [fault for fault in faults if not re.search("does not answer|no complete answer within", fault)]


def warning_lines(output: str) -> list[str]:
    """Warnings that a load in sysbench's words prints, but those from the machine."""
    return [line for line in output.splitlines() if "WARNING" in line and _LATE_INTERVALS not in line]


def _is_late_telemetry(warning: Mapping[str, Any]) -> bool:
    evidence = warning["evidence"]
    texts = [evidence] if isinstance(evidence, str) else [one["text"] for one in evidence]
    return warning["code"] == "telemetry-missing" and not faults_of(texts)
