"""A made-up analysis of a measured study, for tests of whatever shows it; the same with hostile names.

Deliberately not here: any calculation that the product makes. The numbers only have to look like real ones.
"""

from __future__ import annotations

from plimsoll.analyse.findings.catalogue import placed_warnings
from plimsoll.analyse.findings.client import ClientOnServerHost
from plimsoll.analyse.findings.doubts import Evidence, Place, PlacedWarning
from plimsoll.analyse.findings.finding_model import Finding, make_finding
from plimsoll.analyse.findings.missing import MissingTrial
from plimsoll.analyse.findings.options import FastFlush
from plimsoll.analyse.model import (
    Analysis,
    Difference,
    SystemSummary,
    VariableDifference,
    WorkloadSummary,
)
from plimsoll.analyse.study.cell_model import Bounds, Cell, CpuShares, Durations, ErrorTotal, Estimate, SpreadKind
from plimsoll.analyse.study.curve_model import Curve, Peak, PoolAdvice, PoolReason
from plimsoll.analyse.study.ratio_model import RatioVerdict, ResponseRatio
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from plimsoll.record.level import Level, LevelKind
from plimsoll.record.model import Price
from support.trials import measured_trials

LEVELS = (1, 4, 16, 32)
BOUNDS_METHOD = "t on three repetitions, variance pooled"

THROUGHPUT_TPS = {
    ("durable", "read-only"): (1061.0, 3390.0, 3212.0, 3018.0),
    ("durable", "read-write"): (312.0, 871.0, 1245.0, 1228.0),
    ("relaxed", "read-only"): (1058.0, 3371.0, 3240.0, 3035.0),
    ("relaxed", "read-write"): (548.0, 1490.0, 1712.0, 1604.0),
}


def estimate(value: float, ratio: float = 0.04, trial_count: int = 3) -> Estimate:
    """A value with bounds that lie `ratio` below and above it."""
    edges = {"low": value * (1 - ratio), "high": value * (1 + ratio * 1.1)}
    bounds = Bounds(**edges, basis=SpreadKind.POOLED, degrees=16, method=BOUNDS_METHOD)
    return Estimate(value=value, bounds=bounds, trial_count=trial_count)


def bare(value: float) -> Estimate:
    """A value of one trial, without bounds."""
    return Estimate(value=value)


def measured_cell(connections: int, throughput_tps: float, lowest_tps: float, *, statements: int) -> Cell:
    """One cell with everything that a measured trial says."""
    mean_ms = connections / throughput_tps * 1000
    busy = min(1.0, 0.42 + 0.17 * connections**0.5)
    response = Durations(
        p50=mean_ms * 0.9, p95=mean_ms * 1.8, p99=mean_ms * 2.6, p999=mean_ms * 5, max=mean_ms * 9, mean=mean_ms
    )
    return Cell(
        level=Level(connections=connections),
        throughput_tps=estimate(throughput_tps, 0.03 + 0.02 * (connections == 32)),
        scale_factor=estimate(throughput_tps / lowest_tps, 0.05),
        response_ms=response,
        service_ms=response,
        cpu=CpuShares(
            user=busy * 0.62,
            system=busy * 0.35,
            iowait=(1 - busy) * 0.5,
            idle=(1 - busy) * 0.5 + busy * 0.03,
            steal=0.0,
            server=busy * 0.66,
            client=busy * 0.22,
        ),
        statements_per_s=throughput_tps * statements,
        client_us_per_statement=7.9,
        trials=tuple(f"{connections:02d}{repetition}f{throughput_tps:.0f}" for repetition in range(3)),
        errors=(ErrorTotal(error_class="retryable", code=1213, count=7),)
        if statements == 20 and connections > 4
        else (),
        retries_count=7 if statements == 20 and connections > 4 else 0,
    )


def measured_curve(system: str, workload: str) -> Curve:
    """All levels of one system under one workload."""
    values = THROUGHPUT_TPS[system, workload]
    statements = 20 if workload == "read-write" else 16
    cells = tuple(
        measured_cell(level, value, values[0], statements=statements)
        for level, value in zip(LEVELS, values, strict=True)
    )
    top = max(cells, key=lambda cell: cell.throughput_tps.value)
    tied = (top.level,)
    if (system, workload) == ("durable", "read-write"):
        tied = (Level(connections=16), Level(connections=32))
    return Curve(
        system=system,
        workload=workload,
        cells=cells,
        kind=LevelKind.CLOSED,
        peak=Peak(level=top.level, throughput_tps=top.throughput_tps, is_inside_range=True, tied_levels=tied),
        pool=PoolAdvice(connections=tied[0].connections, per_core=tied[0].connections / 2, reason=PoolReason.PEAK),
    )


def environment(flush: str) -> Environment:
    """A small machine with MariaDB on it."""
    variables = {"innodb_flush_log_at_trx_commit": flush, "innodb_buffer_pool_size": "2147483648", "sync_binlog": "0"}
    variables |= {f"some_variable_{index}": str(index * 37) for index in range(40)}
    return Environment(
        host=HostFacts(
            name="bench-1",
            kernel="6.8.0-45-generic",
            operating_system="Debian GNU/Linux 12 (bookworm)",
            virtualisation="kvm",
            cpu_model="AMD EPYC 9B14",
            cpu_sockets=1,
            cpu_cores=2,
            cpu_threads=2,
            memory_bytes=25276510208,
            clock_source="kvm-clock",
            pressure_stall_information=True,
        ),
        instances=(
            InstanceFacts(
                name="server",
                version="10.11.14-MariaDB-0+deb12u2",
                flavour="mariadb",
                variables=variables,
                tables={"sbtest1": "CREATE TABLE `sbtest1` (\n  `id` int(11) NOT NULL,\n  PRIMARY KEY (`id`)\n)"},
                data_bytes=254803968,
                option_file="[mysqld]\nskip-name-resolve\n",
                storage=StorageFacts(
                    path="/var/tmp/plimsoll",
                    file_system="ext4",
                    mount_options="rw,relatime",
                    device="/dev/vda1",
                    rotational=False,
                    scheduler="none",
                    free_bytes=81604378624,
                    flush_ms_median=0.093,
                ),
            ),
        ),
        client=ClientFacts(
            plimsoll_version="0.1.0", engine_version="0.1.0", python_version="3.11.2", on_server_host=True
        ),
    )


def measured_analysis() -> Analysis:
    """Two systems, two workloads, four levels, three repetitions: what `plimsoll demo` measures."""
    names = ("durable", "relaxed")
    curves = tuple(measured_curve(name, workload) for workload in ("read-only", "read-write") for name in names)
    return Analysis(
        plimsoll_version="0.1.0",
        study="demo",
        answer=measured_answer(),
        limits=(make_finding("client-on-server-host"), make_finding("short-windows", window_s_max=6.0)),
        systems=tuple(
            SystemSummary(
                name=name,
                cores=2,
                factors={"innodb_flush_log_at_trx_commit": flush},
                environment=environment(flush),
                cost_per_month=cost,
                price=Price(per_month=cost),
            )
            for name, flush, cost in (("durable", "1", 310.0), ("relaxed", "2", 310.0))
        ),
        workloads=(
            WorkloadSummary(
                name="read-only",
                kind="oltp_read_only",
                options={"tables": "1", "table_size": "100,000", "distribution": "uniform"},
            ),
            WorkloadSummary(
                name="read-write",
                kind="oltp_read_write",
                options={"tables": "1", "table_size": "100,000", "distribution": "uniform"},
            ),
        ),
        curves=curves,
        trials=measured_trials(curves),
        differences=measured_differences(),
        variables=(
            VariableDifference(
                variable="innodb_flush_log_at_trx_commit", values={"durable": "1", "relaxed": "2"}, expected=True
            ),
            VariableDifference(variable="port", values={"durable": "38211", "relaxed": "40127"}, expected=True),
            VariableDifference(
                variable="innodb_io_capacity", values={"durable": "200", "relaxed": None}, expected=False
            ),
        ),
        warnings=measured_warnings(),
        missing=(
            MissingTrial(
                trial_id="9c01d2aa",
                system="relaxed",
                workload="read-write",
                level=Level(connections=32),
                reason="invalid: the server restarted while it was measured",
            ),
        ),
    )


def measured_answer() -> tuple[Finding, ...]:
    """Two peaks, a comparison and a pool."""
    comparison = make_finding(
        "comparison",
        system="relaxed",
        workload="read-only",
        base="durable",
        verdict="unresolved",
        ratio=estimate(1.006, 0.03),
        smallest_effect=1.042,
        differing=(),
        one_sided=(),
    )
    pool = make_finding("pool", system="relaxed", workload="read-write", connections=16)
    return (peak_of("relaxed", "most"), peak_of("durable", "next"), comparison, pool)


def peak_of(system: str, standing: str) -> Finding:
    """What is said of the peak of a system under read-write."""
    peak = measured_curve(system, "read-write").peak
    assert peak is not None
    return make_finding(
        "peak",
        system=system,
        workload="read-write",
        level=peak.level,
        standing=standing,
        throughput_tps=peak.throughput_tps,
        is_inside_range=True,
    )


def measured_differences() -> tuple[Difference, ...]:
    """Peaks and one level, decided and undecided."""
    return (
        Difference(
            workload="read-only",
            base="durable",
            system="relaxed",
            ratio=estimate(0.994, 0.03),
            smallest_effect=1.042,
            verdict=RatioVerdict.UNRESOLVED,
        ),
        Difference(
            workload="read-write",
            base="durable",
            system="relaxed",
            ratio=estimate(1.375, 0.04),
            smallest_effect=1.045,
            verdict=RatioVerdict.FASTER,
            other_factors=(("connections", "16", "16 and 32"),),
        ),
        Difference(
            workload="read-write",
            base="durable",
            system="relaxed",
            level=Level(connections=16),
            ratio=estimate(1.375, 0.04),
            smallest_effect=1.045,
            verdict=RatioVerdict.FASTER,
            response=ResponseRatio(statistic="p99", ratio=estimate(0.728, 0.05), verdict=RatioVerdict.FASTER),
        ),
        Difference(
            workload="read-write",
            base="durable",
            system="relaxed",
            level=Level(connections=1),
            ratio=bare(1.756),
            verdict=RatioVerdict.UNTESTABLE,
        ),
    )


def measured_warnings() -> tuple[PlacedWarning, ...]:
    """One about the study, one about a system, one about single cells with the words of a recording."""
    doubts = (
        Place().doubt(ClientOnServerHost(client_cpu_ratio=0.24)),
        Place(system="durable").doubt(FastFlush(flush_us_median=10.0)),
    )
    return (
        *placed_warnings(doubts),
        PlacedWarning(
            code="errors-occurred",
            evidence=(Evidence(text="7 deadlocks (1213) were retried in 22,410 transactions."),),
            advice="Nothing, unless the share grows with connections.",
            systems=("durable", "relaxed"),
            workloads=("read-write",),
            levels=(Level(connections=16), Level(connections=32)),
        ),
    )


HOSTILE = "<script>alert(\"x\")</script> | `a` **b** 'c' </script><!-- [l](javascript:alert(1)) \x1b[31mred \u202etxt"
"""A name such as an import from an unknown source could carry."""


def hostile_analysis() -> Analysis:
    """The measured analysis with every name and sentence replaced by something hostile."""
    names = ("durable", "relaxed", "read-write", "innodb_io_capacity", "errors-occurred", "bench-1", "Nothing, unless")
    hostile = Analysis.model_validate_json(measured_analysis().model_dump_json()).model_dump()
    return Analysis.model_validate(_replace(hostile, names))


def _replace(value: object, names: tuple[str, ...]) -> object:
    if isinstance(value, str):
        for name in names:
            value = value.replace(name, name + HOSTILE)
        return value
    if isinstance(value, dict):
        return {_replace(key, names): _replace(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace(item, names) for item in value]
    return value
