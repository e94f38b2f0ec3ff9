"""What replicas say of their appliers: counters of telemetry, as rises in each second of the measured window."""

from __future__ import annotations

from plimsoll.analyse.samples import Samples

SOURCE = "replication"
"""Of these samples, in the column `source`."""

APPLY_CPU, APPLIED = "replica_apply_cpu_s", "replica_applied_transactions_count"


def replica_rises(samples: Samples | None) -> dict[tuple[str, str], float]:
    """By server and metric; a counter that fell was started again and is left out."""
    if samples is None or all(one.source != SOURCE for one in samples.sums):
        return {}
    return {(instance, metric): per_s for instance, metric, per_s in samples.rates([SOURCE], [APPLY_CPU, APPLIED])}
