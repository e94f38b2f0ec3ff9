"""A quota of processor time that is used up limits throughput like the processors themselves."""

from __future__ import annotations

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.where_model import WhereTime, WhereVerdict
from unit.analyse.test_server_summaries import TPS, trial


def where(**of_process: float) -> WhereTime:
    """A server with these figures; the machine's processors are half busy."""
    rates = {("host", "", "cpu_idle_ratio"): 0.5, ("process", "one", "server_cpu_user_s_per_s"): 1.0}
    rates |= {("process", "one", metric): value for metric, value in of_process.items()}
    (found,) = analyse("made", [trial(rates)]).where_time
    return found


def test_a_quota_that_is_used_up_is_the_resource() -> None:
    found = where(server_quota_used_ratio=0.95, server_throttled_periods_ratio=0.5, server_throttled_s_per_s=0.4)
    assert (found.verdict, found.resource) == (WhereVerdict.SATURATED, "cpu quota")
    assert found.demands[0].saturation_tps.value == pytest.approx(TPS / 0.95)
    assert found.levels[0].throttled_s_per_s == pytest.approx(0.4)


def test_bursts_that_used_it_up_in_most_periods_count_as_well() -> None:
    assert where(server_quota_used_ratio=0.5, server_throttled_periods_ratio=0.92).resource == "cpu quota"
    assert where(server_quota_used_ratio=0.5, server_throttled_periods_ratio=0.1).resource is None
