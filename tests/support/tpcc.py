"""A made-up analysis with a TPC-C-derived workload: limits that are broken, names that are long, every deviation."""

from __future__ import annotations

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Durations, TypeTotal
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.trial.tpcc_clauses import (
    DELIVERY_DEFERRED,
    RESPONSE_S_P90_MAX,
    TYPES,
    Measured,
    TpccFigures,
    TypeDemands,
    deviations,
)
from plimsoll.spec.tpcc import TPCC, TpccSpec
from support.analyses import measured_analysis

NAMES = (*TYPES, DELIVERY_DEFERRED)
SLOW = Durations(p50=123.4, p90=123_456.0, p95=134_567.0, p99=145_678.0, p999=156_789.0, max=167_890.0, mean=1.0)


def tpcc_analysis() -> Analysis:
    """A measured study whose first workload is the TPC-C-derived one."""
    analysis = measured_analysis()
    first, *others = analysis.workloads
    options = TpccSpec(warehouses=100, quirks="sysbench-tpcc").options()
    slow = Measured(duration_s=60, response_ms_p90=dict.fromkeys(NAMES, 123_456.0), notpm_per_warehouse=12_345.0)
    found = deviations(options, connections=(1, 32), instances=4, measured=slow)
    types = dict.fromkeys(TYPES, 0.2)
    workload = first.model_copy(update={"kind": TPCC, "types": types, "deviations": found})
    curves = (_with_types(curve) if curve.workload == first.name else curve for curve in analysis.curves)
    return analysis.model_copy(update={"workloads": (workload, *others), "curves": tuple(curves)})


def _with_types(curve: Curve) -> Curve:
    counts = {
        "completed_count": 1_234_567,
        "failed_count": 12_345,
        "retries_count": 12_345,
        "rolled_back_count": 12_345,
    }
    types = tuple(
        TypeTotal(name=name, throughput_tps=12_345.0, completed_ratio=0.2, response_ms=SLOW, **counts) for name in NAMES
    )
    demands = tuple(
        TypeDemands(name=name, has_share=False, response_ms_p90_max=RESPONSE_S_P90_MAX[name] * 1e3, is_in_time=False)
        for name in NAMES
    )
    figures = TpccFigures(
        notpm=740_700.0,
        warehouses_count=100,
        notpm_per_warehouse=7_407.0,
        is_above_maximum=True,
        efficiency_ratio=576.0,
        types=demands,
    )
    cells = (cell.model_copy(update={"types": types, "tpcc": figures}) for cell in curve.cells)
    return curve.model_copy(update={"cells": tuple(cells)})
