"""What `plimsoll trial` prints about types of transactions and the TPC-C-derived workload."""

from __future__ import annotations

from typing import Any

from plimsoll.analyse.answers.trial_result import Times, TpccResult, TypeResult
from plimsoll.analyse.trial.tpcc_clauses import Deviation, TypeDemands
from plimsoll.cli.trial_result import deviation_lines, tpcc_lines, type_lines

TIMES = Times(p50=1.5, p90=6000.0, p95=6100.0, p99=None, p999=None, max=6200.0, mean=3.0, lower_bounds=())


def one_type(**changes: Any) -> TypeResult:
    counts = {"transactions": 1200, "share_ratio": 0.4, "rolled_back": 12, "retries": 3, "failed": 0}
    known = {"errors": {}, "errors_by_class": {}, "throughput_tps": 10.0, "response_ms": TIMES}
    return TypeResult(**{**counts, **known, **changes})


def test_types_stand_in_columns_without_those_that_nobody_knows() -> None:
    types = {"look": one_type(), "pay": one_type(transactions=1, rolled_back=None, share_ratio=None)}
    assert type_lines(types) == [
        "types   count  share %  rolled back  retries  failed",
        "  look  1,200     40.0           12        3       0",
        "  pay       1        -            -        3       0",
        "response time, ms   p50    p90    p95    max",
        "  look             1.50  6,000  6,100  6,200",
        "  pay              1.50  6,000  6,100  6,200",
    ]


def test_errors_of_a_type_are_told_by_code_where_there_are_any() -> None:
    types = {"look": one_type(), "pay": one_type(errors={"0": 1, "1213": 1500})}
    lines = type_lines(types)
    assert (lines[0].split()[-1], lines[1].split()[-1]) == ("errors", "-")
    assert lines[2].endswith("no code: 1, 1213: 1,500")


def test_what_is_asked_of_a_type_stands_beside_it() -> None:
    demands = TypeDemands(
        name="payment", share_ratio_min=0.43, has_share=False, response_ms_p90_max=5000.0, is_in_time=False
    )
    free = TypeDemands(name="new_order", response_ms_p90_max=5000.0, is_in_time=True)
    types = {"new_order": one_type(), "payment": one_type()}
    lines = [line.split() for line in type_lines(types, [demands, free])]
    assert lines[1] == ["new_order", "1,200", "40.0", "-", "12", "3", "0"]
    assert lines[2] == ["payment", "1,200", "40.0", "43.0", "too", "few", "12", "3", "0"]
    assert lines[4][-2:] == ["5,000", "ok"]
    assert lines[5][-3:] == ["5,000", "too", "slow"]


def test_notpm_says_when_it_is_more_than_is_allowed() -> None:
    figures = TpccResult(notpm=600.0, warehouses_count=2, notpm_per_warehouse=300.0, is_above_maximum=True)
    assert tpcc_lines(figures) == [
        "NOTPM             600  (new orders per minute, TPC-C-derived)",
        "  per warehouse   300, 2 in use, more than the 12.86 that the specification allows (clause 4.1)",
    ]
    allowed = {"notpm_per_warehouse": 12.0, "is_above_maximum": False, "efficiency_ratio": 0.933}
    assert tpcc_lines(figures.model_copy(update=allowed))[1:] == [
        "  per warehouse   12.0, 2 in use",
        "  efficiency      93.3 % of 12.86 for each warehouse",
    ]
    assert tpcc_lines(TpccResult(deviations=())) == []


def test_a_tpcc_result_without_figures_has_none_in_json() -> None:
    assert TpccResult(deviations=()).model_dump() == {"deviations": ()}


def test_the_sheet_is_there_once_anything_departs() -> None:
    one = Deviation(clause="3", chosen="nothing", asked="all")
    found = (one, one.model_copy(update={"clause": "4.2"}), one)
    for whole in (False, True):
        assert deviation_lines((), whole=whole) == []
    assert deviation_lines(found, whole=True)[1:3] == [
        "  3: nothing; asked for: all",
        "  4.2: nothing; asked for: all",
    ]
    (folded,) = deviation_lines(found, whole=False)
    assert folded.endswith("in 3 places, clauses 3, 4.2; --sheet lists them")
