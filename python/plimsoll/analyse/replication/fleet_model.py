"""What transactions cost the servers of a fleet, and what so many replicas carry by that; part of the analysis."""

from __future__ import annotations

from plimsoll.record.document import Document


class FleetCosts(Document):
    """Processor time that a transaction costs its servers, from the cells with none and with one replica.

    Attributes:
        read_ms: Of one that only reads, on the server where it runs, milliseconds.
        write_ms: Of one that writes, on the source.
        apply_ms: Of one that is applied, on each replica.
        write_ratio: Share of transactions that write and are committed, 0..1.
        source_cpu_s: Processor time in each second that the source used at its best level without replicas: what it can
            use.
        replica_cpu_s: What each replica can use.
        is_shared: The servers share processors: another replica brings none, and all of them together have
            `source_cpu_s`.
        is_placed: It is known which processors each server may use.
    """

    read_ms: float
    write_ms: float
    apply_ms: float
    write_ratio: float
    source_cpu_s: float
    replica_cpu_s: float
    is_shared: bool
    is_placed: bool

    def expected_tps(self, replicas: int) -> float:
        """What a source with so many replicas sustains, if every replica carries the whole write stream.

        Transactions that only read run on replicas where there are any. With processors of their own, the first of two
        limits counts: the source has to execute all writes, and the replicas all reads and each of them all writes
        again. With shared processors all work shares them.
        """
        read_s, write_s, apply_s = (
            (1 - self.write_ratio) * self.read_ms / 1000,
            self.write_ratio * self.write_ms / 1000,
            self.write_ratio * self.apply_ms / 1000,
        )
        if self.is_shared or replicas == 0:
            return self.source_cpu_s / (read_s + write_s + replicas * apply_s)
        of_replicas = replicas * self.replica_cpu_s / (read_s + replicas * apply_s)
        return min(of_replicas, self.source_cpu_s / write_s if write_s > 0 else of_replicas)

    @property
    def most_tps(self) -> float | None:
        """What no number of replicas exceeds; None where there is no write, and so no such limit."""
        if self.is_shared:
            return self.expected_tps(0)
        write_s, apply_s = (self.write_ratio * ms / 1000 for ms in (self.write_ms, self.apply_ms))
        limits = [self.source_cpu_s / write_s] if write_s > 0 else []
        limits += [self.replica_cpu_s / apply_s] if apply_s > 0 else []
        return min(limits, default=None)
