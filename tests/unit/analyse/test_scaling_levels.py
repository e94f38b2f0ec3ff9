"""Scale factor, efficiency and throughput per processor of each level; and whether cores were fitted alone."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.guide.scalability import scalability_section
from plimsoll.guide.tables import Table
from plimsoll.record.environment import ClientFacts, Environment, HostFacts
from support.made import measured
from unit.analyse.test_server_summaries import SECONDS, telemetry

CURVE = {2: 200.0, 4: 380.0, 8: 600.0, 16: 640.0, 32: 650.0}
HOST = HostFacts(name="here", cpu_cores=8, cpu_threads=8)


def analysed(*, server: bool = True, curve: dict[int, float] = CURVE) -> Analysis:
    """At each level the machine is busy for tps / 800, of which the client takes a quarter."""

    def shares(tps: float) -> dict[tuple[str, str, str], float]:
        busy = tps / 800
        return {
            ("host", "", "cpu_idle_ratio"): 1 - busy,
            ("host", "", "cpu_iowait_ratio"): 0.0,
            **({("process", "one", "server_cpu_ratio"): 0.75 * busy} if server else {}),
            ("process", "", "client_cpu_ratio"): 0.25 * busy,
        }

    return analyse(
        "made",
        [
            measured(
                np.full(SECONDS - 2, tps * (1 + 0.002 * repetition)),
                environment=Environment(host=HOST, client=ClientFacts(on_server_host=True)),
                telemetry=telemetry(shares(tps)),
                connections=connections,
                repetition=repetition,
            )
            for repetition in range(3)
            for connections, tps in curve.items()
        ],
    )


def table(analysis: Analysis) -> Table:
    section = scalability_section(analysis)
    assert section is not None
    (found,) = section.tables
    return found


def column(found: Table, heading: str) -> list[str]:
    index = [one.heading for one in found.columns].index(heading)
    return [row[index].text for row in found.rows]


def test_scale_factor_efficiency_and_throughput_per_processor() -> None:
    (found,) = analysed().scalability
    assert [level.scale_factor.value for level in found.levels] == pytest.approx([1.0, 1.9, 3.0, 3.2, 3.25], rel=0.002)
    assert [level.efficiency.value for level in found.levels] == pytest.approx([1.0, 0.95, 0.75, 0.4, 0.203], abs=0.001)
    bounds, scale = found.levels[2].efficiency.bounds, found.levels[2].scale_factor.bounds
    assert bounds is not None
    assert scale is not None
    assert (bounds.low, bounds.high) == pytest.approx((scale.low / 4, scale.high / 4))
    assert [level.tps_per_busy_cpu for level in found.levels] == pytest.approx([100.2] * 5, rel=1e-3)
    assert [level.tps_per_server_cpu for level in found.levels] == pytest.approx([133.6] * 5, rel=1e-3)


def test_the_table_says_what_its_columns_are() -> None:
    found = table(analysed())
    assert column(found, "scale factor over 2 connections") == ["1.00", "1.90", "3.00", "3.20", "3.25"]
    assert column(found, "efficiency") == ["1.00", "0.95", "0.75", "0.40", "0.20"]
    assert column(found, "tps per CPU that the server kept busy") == ["134"] * 5
    assert column(table(analysed(server=False)), "tps per busy CPU, client included") == ["100"] * 5


def test_that_cores_were_not_fitted_alone_is_said() -> None:
    few = " ".join(table(analysed()).notes)
    assert "No law is fitted to the levels with a core for each connection alone: there are 3, and it takes 4." in few
    enough = analysed(curve={1: 100.0, **CURVE})
    assert enough.scalability[0].fit_within_cores is not None
    assert "No law is fitted" not in " ".join(table(enough).notes)
    inside = analysed(curve={1: 100.0, 2: 200.0, 4: 380.0, 8: 600.0})
    assert "No law is fitted" not in " ".join(table(inside).notes), "all levels have a core for each connection"
