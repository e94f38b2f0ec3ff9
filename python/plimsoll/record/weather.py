"""How fast the machine was around a trial, by a short fixed piece of work: part of `outcome.json`."""

from __future__ import annotations

from plimsoll.record.document import Document, UnixSeconds


class ReferenceTimes(Document):
    """How long a fixed piece of work took on the machine that drives the load; the shorter, the faster the machine.

    Attributes:
        at_unix_s: When it began, wall clock, seconds since 1970.
        processor_ms: SHA-256 of a fixed number of bytes on every CPU at the same time.
        memory_ms: Copies of a buffer that is larger than the processor's cache.
        flush_ms: Small writes with fdatasync in the data directory of a managed server; None without one.
        own_cpu_s: Processor time that Plimsoll itself, without the load engine, had used until then, seconds.
    """

    at_unix_s: UnixSeconds
    processor_ms: float
    memory_ms: float
    flush_ms: float | None = None
    own_cpu_s: float = 0.0


class Weather(Document):
    """The machine around one trial.

    In a duet all servers are frozen then, and the systems of a round share one.

    Attributes:
        before: Before the warm-up, on a server that has settled.
        after: After the measurement; None where the trial ended early.
    """

    before: ReferenceTimes
    after: ReferenceTimes | None = None
