"""How throughput follows connections and processors, as values; part of the analysis."""

from __future__ import annotations

from enum import StrEnum

from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.record.document import Document
from plimsoll.record.level import Level
from plimsoll.stats.scaling_laws import Law


class ScalingVerdict(StrEnum):
    """What the fitted laws say of the peak."""

    PEAK_INSIDE = "peak-inside"
    PEAK_OUTSIDE = "peak-outside"
    NOT_RESOLVED = "not-resolved"
    DOES_NOT_FIT = "does-not-fit"
    TOO_FEW_LEVELS = "too-few-levels"


class Caution(StrEnum):
    """Why a curve must not be continued beyond its last level."""

    DOES_NOT_FIT = "does-not-fit"
    TOO_FEW_LEVELS = "too-few-levels"
    WIDE_BAND = "wide-band"
    ONE_REPETITION = "one-repetition"
    CLIENT_SATURATED = "client-saturated"
    CLIENT_ON_SERVER_HOST = "client-on-server-host"
    SUPERLINEAR = "superlinear"


class Region(StrEnum):
    """How many connections there are for the processors: one for each core, sibling threads as well, or more."""

    CORES = "cores"
    SIBLINGS = "siblings"
    BEYOND = "beyond"
    UNKNOWN = "unknown"


class SuperlinearReason(StrEnum):
    """Why a step may be steeper than its connections."""

    BATCHING = "batching"
    IDLE_STATES = "idle-states"
    OTHERS = "others"
    UNKNOWN = "unknown"


class SuperlinearStep(Document):
    """Two neighbouring levels between which throughput rose by more than the connections, beyond noise.

    Attributes:
        from_connections: The lower level.
        to_connections: The higher level.
        per_connection_ratio: Throughput per connection at the higher level over that at the lower one.
        cpu_ratio: Processor time of the server per transaction at the higher level over that at the lower one; null
            when unknown.
        idle_ratio: Share of the host's processor time that was idle at the lower level, 0..1; null when unknown.
        reason: The likely one: `batching` where transactions cost less processor time, `idle-states` where they cost no
            less and the processors were idle in between; `others` where others than server and client took so much of
            the processors that no reason can be given.
    """

    from_connections: int
    to_connections: int
    per_connection_ratio: Estimate
    cpu_ratio: float | None = None
    idle_ratio: float | None = None
    reason: SuperlinearReason


class ScalingLevel(Document):
    """One level of a curve, as shares of perfect scaling.

    Attributes:
        level: Which.
        region: Whether there was a core for each connection.
        scale_factor: Throughput over that of the lowest level.
        efficiency: The scale factor divided by the factor by which connections increased: 1 is linear scaling.
        tps_per_server_cpu: Throughput over the processors that the server kept busy; null where its processor time is
            unknown.
        tps_per_busy_cpu: Throughput over the processors that were busy, client and others included; null when unknown.
        fitted_tps: What the law says; null where none was fitted.
        low_tps: Lower edge of the law's 95 % band.
        high_tps: Upper edge.
    """

    level: Level
    region: Region
    scale_factor: Estimate
    efficiency: Estimate
    tps_per_server_cpu: float | None = None
    tps_per_busy_cpu: float | None = None
    fitted_tps: float | None = None
    low_tps: float | None = None
    high_tps: float | None = None


class LawFit(Document):
    """A law of scalability and its parameters, with 95 % intervals from the bootstrap.

    Attributes:
        law: The one with the lowest AICc: `linear`, `amdahl` or `usl`.
        lambda_tps: Throughput of one connection.
        sigma: Contention, the share that waits for each other; 0 for `linear`.
        kappa: Coherency, the cost of agreeing between pairs; 0 but for `usl`.
        sigma_bounds: Lower and upper bound; null where it is 0 by definition, as are those of kappa.
        kappa_bounds: Lower and upper bound.
        levels_count: How many levels it was fitted to.
        residual_ratio_max: Largest deviation of a level from the law, as a ratio.
        misfit_probability: Chance of such deviations if the law were true; null without repetitions.
    """

    law: Law
    lambda_tps: float
    sigma: float = 0.0
    kappa: float = 0.0
    sigma_bounds: tuple[float, float] | None = None
    kappa_bounds: tuple[float, float] | None = None
    levels_count: int
    residual_ratio_max: float
    misfit_probability: float | None = None

    def tps_at(self, connections: float) -> float:
        """Throughput of the law at so many connections, transactions per second (Gunther 2007, eq. 4.31)."""
        others = connections - 1
        return self.lambda_tps * connections / (1 + self.sigma * others + self.kappa * connections * others)


class Scalability(Document):
    """How one system scales under one workload, closed loop.

    Attributes:
        system: Which.
        workload: Which.
        verdict: What is known of the peak.
        fit: The law over all levels; null with too few levels.
        fit_within_cores: The same over the levels with a core for each connection; null where these are fewer than
            four, or all.
        peak_connections: Where the USL puts the peak; null where it has none.
        peak_low: Lower 95 % bound of that; null where no law was fitted.
        peak_high: Upper bound; null where there may be no peak at all.
        cautions: Why not to continue the curve beyond its last level; empty where it may be, to twice that.
        superlinear: Steps with more throughput for each connection.
        levels: By rising level.
        cores: Physical cores that the servers could use; null when unknown.
        cpus: Hardware threads.
        tps_per_core: The highest throughput over the cores.
        sibling_gain: Throughput at the highest level that has a hardware thread for each connection over that at the
            highest that has a core for each: what sibling threads add. null where one of them was not measured.
    """

    system: str
    workload: str
    verdict: ScalingVerdict
    fit: LawFit | None = None
    fit_within_cores: LawFit | None = None
    peak_connections: float | None = None
    peak_low: float | None = None
    peak_high: float | None = None
    cautions: tuple[Caution, ...] = ()
    superlinear: tuple[SuperlinearStep, ...] = ()
    levels: tuple[ScalingLevel, ...]
    cores: int | None = None
    cpus: int | None = None
    tps_per_core: float | None = None
    sibling_gain: Estimate | None = None
