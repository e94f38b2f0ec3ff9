"""An analysis as an import of published tables gives it: HP's sizing table of 2008, and Sun's of 2009 in a few rows.

Deliberately not here: the importer. The figures are those of examples/published, written down by hand.
"""

from __future__ import annotations

from plimsoll.analyse.findings.catalogue import placed_warnings
from plimsoll.analyse.findings.curves import Single
from plimsoll.analyse.findings.doubts import Place
from plimsoll.analyse.findings.finding_model import Finding, Grade, make_finding
from plimsoll.analyse.model import Analysis, SystemSummary, Unknown, WorkloadSummary
from plimsoll.analyse.study.cell_model import Cell, CpuShares, Estimate
from plimsoll.analyse.study.curve_model import Curve, Peak, PoolAdvice, PoolReason
from plimsoll.record.environment import Environment
from plimsoll.record.level import Level, LevelKind

HP_LEVELS = (1, 2, 4, 8, 16, 32, 64, 128)
SAS = "internal SAS, battery-backed write cache"
SAN = "Fibre Channel SAN (MSA1500), 7 x 36 GB 10k RPM RAID 0"
READ_WRITE = "oltp complex read/write"
READ_ONLY = "oltp complex read-only"

HP_TABLE = """
BL460c 8 16 SAS 624 1057 1893 3088 2604 2382 2220 1478 | 794 1454 2615 4301 4374 4148 4006 3641
BL460c 8 16 SAN 610 1029 1910 3145 2690 2423 2271 1626 | 809 1330 2593 4297 4353 4271 3990 3722
BL465c 4 14 SAS 497 931 1665 1467 1245 1014 885 621 | 664 1340 2341 2455 2437 2302 2097 1962
BL465c 4 14 SAN 514 973 1692 1523 1298 1048 911 630 | 746 1415 2568 2640 2621 2445 2148 2049
BL480c 8 24 SAS 628 1060 1922 3125 2663 2411 2261 1604 | 817 1494 2939 4544 4635 4533 4260 3926
BL480c 8 24 SAN 650 1070 1951 3177 2655 2435 2251 1634 | 944 1573 2987 4588 4682 4551 4333 3986
BL685c 4 12 SAS 470 951 1650 1540 1463 1385 1247 1034 | 670 1307 2327 2419 2400 2312 2094 1971
BL685c 4 12 SAN 497 984 1770 1655 1548 1468 1319 1050 | 664 1323 2426 2427 2413 2347 2139 1975
"""


(SINGLE_REPETITION,) = placed_warnings([Place().doubt(Single())])


def imported_analysis() -> Analysis:
    """HP's table: eight systems, two workloads, eight levels, throughput only, each measured once."""
    rows = [line.split() for line in HP_TABLE.strip().splitlines()]
    systems = tuple(_hp_system(row) for row in rows)
    curves = [
        _hp_curve(system, workload, row[first : first + 8])
        for workload, first in ((READ_WRITE, 4), (READ_ONLY, 13))
        for system, row in zip(systems, rows, strict=True)
    ]
    return Analysis(
        plimsoll_version="0.1.0",
        study="hp-proliant-2008",
        answer=(
            _peak(next(curve for curve in curves if curve.system == f"BL480c, {SAN}" and curve.workload == READ_WRITE)),
            make_finding("pool-per-core", workload=READ_WRITE, per_core=1.0, are_single_figures=True).model_copy(
                update={"grade": Grade.INDICATED}
            ),
        ),
        limits=(make_finding("no-intervals", cells_count=128, all_count=128),),
        systems=systems,
        workloads=(WorkloadSummary(name=READ_WRITE), WorkloadSummary(name=READ_ONLY)),
        curves=tuple(curves),
        warnings=(SINGLE_REPETITION,),
    )


def per_minute_analysis() -> Analysis:
    """Sun's table in a few rows: transactions per minute, processor use by mode, no response times."""
    rows = ((2, 2111.96, 1, 0, 99), (8, 8742.33, 5, 1, 93), (32, 22215.11, 18, 5, 77), (64, 18072.0, 10, 7, 83))
    cells = tuple(
        Cell(
            level=Level(connections=level),
            throughput_tps=Estimate(value=tpm / 60),
            scale_factor=Estimate(value=tpm / rows[0][1]),
            cpu=CpuShares(user=user / 100, system=system / 100, idle=idle / 100),
        )
        for level, tpm, user, system, idle in rows
    )
    curve = _curve("T5240 one instance", "TPC-C-derived", cells, 16)
    return Analysis(
        plimsoll_version="0.1.0",
        study="sun-t5240-2009",
        answer=(_peak(curve),),
        limits=(make_finding("no-intervals", cells_count=4, all_count=4),),
        systems=(SystemSummary(name="T5240 one instance", cores=16, origin="imported-table"),),
        workloads=(WorkloadSummary(name="TPC-C-derived", rate_unit="tpm"),),
        curves=(curve,),
        warnings=(SINGLE_REPETITION,),
    )


def _hp_system(row: list[str]) -> SystemSummary:
    storage = {"SAS": SAS, "SAN": SAN}[row[3]]
    factors = {"cores": row[1], "memory_gib": row[2], "storage": storage}
    return SystemSummary(
        name=f"{row[0]}, {storage}",
        cores=int(row[1]),
        origin="imported-table",
        imported_from="hp.csv",
        factors=factors,
        unknown=(Unknown.RESPONSE_P99, Unknown.PROCESSORS, Unknown.INTERVALS_OF_SINGLE_FIGURES),
        environment=Environment(reported=factors),
    )


def _hp_curve(system: SystemSummary, workload: str, figures: list[str]) -> Curve:
    cells = tuple(
        Cell(
            level=Level(connections=level),
            throughput_tps=Estimate(value=float(figure)),
            scale_factor=Estimate(value=float(figure) / float(figures[0])),
        )
        for level, figure in zip(HP_LEVELS, figures, strict=True)
    )
    return _curve(system.name, workload, cells, system.cores or 1)


def _curve(system: str, workload: str, cells: tuple[Cell, ...], cores: int) -> Curve:
    top = max(cells, key=lambda cell: cell.throughput_tps.value)
    connections = top.level.connections
    return Curve(
        system=system,
        workload=workload,
        kind=LevelKind.CLOSED,
        cells=cells,
        peak=Peak(level=top.level, throughput_tps=top.throughput_tps, is_inside_range=True, tied_levels=(top.level,)),
        pool=PoolAdvice(
            connections=connections, per_core=connections / cores, reason=PoolReason.SINGLE_FIGURES, is_published=True
        ),
    )


def _peak(curve: Curve) -> Finding:
    assert curve.peak is not None
    return make_finding(
        "peak",
        system=curve.system,
        workload=curve.workload,
        level=curve.peak.level,
        standing="highest-figure",
        throughput_tps=curve.peak.throughput_tps,
        is_inside_range=True,
    )
