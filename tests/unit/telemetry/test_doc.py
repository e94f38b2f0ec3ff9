"""docs/telemetry.md and the samplers name the same metrics with the same units."""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.run.rows import ENGINE_METRICS
from plimsoll.telemetry.standard import SAMPLERS

DOC = Path(__file__).parents[3] / "docs/telemetry.md"


def documented() -> dict[tuple[str, str], str]:
    metrics, source = {}, ""
    for line in DOC.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"## Source `(\w+)`", line)
        source = heading[1] if heading else source
        row = re.match(r"\| `([^`]+)` \| ([^|]+) \|", line)
        if row:
            metrics[source, row[1]] = row[2].strip()
    return metrics


def test_every_metric_is_documented_and_every_documented_metric_exists() -> None:
    in_code = {(sampler.source, name): unit for sampler in SAMPLERS for name, unit in sampler.metrics.items()}
    engine = {("engine", name): unit for name, unit in ENGINE_METRICS.items()}
    assert documented() == in_code | engine


def test_every_sampler_says_its_cost() -> None:
    assert all(sampler.cost for sampler in SAMPLERS)
    assert len({sampler.cost for sampler in SAMPLERS}) == len(SAMPLERS)
