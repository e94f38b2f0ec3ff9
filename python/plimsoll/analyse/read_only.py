"""Whether a workload only reads: by its kind or, where none is stated, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.spec.oltp import reads_only

if TYPE_CHECKING:
    from plimsoll.analyse.model import WorkloadSummary


def is_read_only(workload: WorkloadSummary) -> bool:
    """Whether a workload only reads, by its kind or, where none is stated, by its name."""
    if workload.kind is not None:
        told = workload.options
        return reads_only(
            workload.kind, read_only=told.get("read_only") == "on", nontrx_mode=told.get("nontrx_mode", "select")
        )
    plain = workload.name.lower().replace("-", " ").replace("_", " ")
    return "read only" in plain or "point select" in plain
