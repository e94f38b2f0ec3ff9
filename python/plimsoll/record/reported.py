"""Figures that the source of an import states; part of `outcome.json`."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.document import Document


class ReportedType(Document):
    """Figures that the source of an import states about one type of transaction.

    Attributes:
        counts: Totals of the run: `transactions` (completed, with those that were rolled back as the workload wants
            it), `failed`, `retries`, `rolled_back`; only those that the source states.
        response_ms: Milliseconds by statistic, as in `ReportedResult`.
    """

    counts: dict[str, int] = Field(default_factory=dict)
    response_ms: dict[str, float] = Field(default_factory=dict)


class ReportedResult(Document):
    """Figures that the source of an import states about a whole run.

    Attributes:
        throughput_tps: Transactions per second of all instances together.
        throughput_tps_by_instance: Of each instance, where the source states it; empty otherwise.
        response_ms: Milliseconds by statistic: `min`, `mean`, `p50`, `p90`, `p95`, `p99`, `p999`, `max`.
        host_cpu: Share of the host's processor time, 0..1, by mode: `user`, `system`, `iowait`, `idle`.
        counts: Totals of the run: `transactions`, `reads`, `writes`, `others` (statements), `ignored_errors`,
            `reconnects`, `failed`, `unfinished` (cut off at the end); empty where the source states none.
        types: By type of transaction; empty where the source does not tell them apart.
    """

    throughput_tps: float
    throughput_tps_by_instance: dict[str, float] = Field(default_factory=dict)
    response_ms: dict[str, float] = Field(default_factory=dict)
    host_cpu: dict[str, float] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)
    types: dict[str, ReportedType] = Field(default_factory=dict)
