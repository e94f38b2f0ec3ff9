"""A demand has the rates, types and sessions of its log, and no name; what is read back is checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plimsoll.errors import SpecError
from plimsoll.learn.demand import LONG_BURSTS, Demand, Moments, demand_of, parse_demand
from plimsoll.learn.report import report_of
from plimsoll.learn.transactions import seen_in
from plimsoll.run.learned_folder import DEMAND_BYTES_MAX, read_demand
from support.event_logs import Said, write_log


def demand(folder: Path, said: list[Said], **facts: Any) -> Demand:
    found = maybe_demand(folder, said, **facts)
    assert found is not None
    return found


def maybe_demand(folder: Path, said: list[Said], **facts: Any) -> Demand | None:
    log = write_log(folder, said, **facts)
    seen = seen_in(log)
    return demand_of(report_of(log, seen), seen)


def shop() -> list[Said]:
    """Ten minutes: a read each second by session 1; in the fourth minute orders of session 2 and 3, four a second."""
    said = [Said(1, second, "read", query_us=500_000) for second in range(600)]
    for quarter in range(240):
        session, at_s = 2 + quarter % 2, 180 + quarter / 4
        said += [
            Said(session, at_s, "begin"),
            Said(session, at_s + 0.01, "write"),
            Said(session, at_s + 0.02, "commit"),
        ]
    return sorted(said, key=lambda one: one.at_s)


def test_rates_in_all_and_by_type(tmp_path: Path) -> None:
    found = demand(tmp_path, shop())
    assert (found.first_unix_s, found.last_unix_s, found.duration_s) == (1_700_000_000, 1_700_000_599, 600)
    assert found.rates.at(Moments.MEAN) == pytest.approx(840 / 600)
    assert (found.rates.peak_minute_tps, found.rates.peak_second_tps) == (5, 5)
    assert found.steps_tps == (1, 1, 1, 5, 1, 1, 1, 1, 1, 1)
    reads, orders = found.types
    assert (reads.name, reads.reads_only, reads.rates.peak_minute_tps) == ("type 1", True, 1)
    assert (orders.name, orders.statements, orders.rates.peak_minute_tps) == ("other", 1, 4)
    assert orders.steps_tps == (0, 0, 0, 4, 0, 0, 0, 0, 0, 0)
    assert np.allclose(np.add(reads.steps_tps, orders.steps_tps), found.steps_tps)
    assert found.reads.transactions == pytest.approx(600 / 840)


def test_sessions_and_both_forms(tmp_path: Path) -> None:
    """Session 1 is busy for half of each second and thinks for the other half; the others are there for a minute."""
    found = demand(tmp_path, shop())
    assert found.sessions.count == 3
    assert found.sessions.in_transaction_mean == pytest.approx(0.5, rel=0.02)
    assert found.closed is not None
    assert found.closed.sessions == 2  # 1 + 2 sessions for a tenth of the time are 1.2
    assert found.closed.think_ms_mean == pytest.approx(found.sessions.think_ms_mean)
    assert found.arrivals.rate_tps == 5
    assert found.burstiness is not None
    assert (found.burstiness.window_s, found.arrivals.burstiness) == (10, found.burstiness.index)


def test_types_that_are_told_as_one_are_added_up(tmp_path: Path) -> None:
    said = shop() + [Said(4, 700 + 2 * number, "insert", query_us=1) for number in range(5)]
    found = demand(tmp_path, said)
    other = found.types[-1]
    assert (other.name, other.types_count) == ("other", 2)
    assert other.rates.mean_tps * found.duration_s == pytest.approx(245)


def test_a_short_log_is_learned_from_windows_of_a_second(tmp_path: Path) -> None:
    found = demand(tmp_path, [Said(1, number / 4, "read") for number in range(400)])
    assert found.burstiness is not None
    assert (found.burstiness.window_s, found.burstiness.reason, found.burstiness.index) == (1, "log-is-short", 1)
    assert [window.window_s for window in found.windows] == [1]


def test_a_sample_says_nothing_of_bursts_and_pauses(tmp_path: Path) -> None:
    found = demand(tmp_path, shop(), rate_limits=(10.0,))
    assert (found.burstiness, found.closed, found.windows) == (None, None, ())
    assert "sampled" in found.doubts


def test_a_log_without_times_or_of_slow_statements_is_no_demand(tmp_path: Path) -> None:
    slow = [Said(1, number, "read", query_us=2_000_000) for number in range(60)]
    assert maybe_demand(tmp_path, slow) is None


def test_bursts_of_tens_of_seconds_are_a_doubt(tmp_path: Path) -> None:
    """An hour in which the rate is 2 or 8 a second for 30 s each, or drawn anew every second."""
    chance = np.random.default_rng(5)
    found = {}
    for name, hold_s in (("long", 30), ("short", 1)):
        rates = np.repeat(chance.choice([2, 8], 3600 // hold_s), hold_s)
        times = [
            second + place
            for second, rate in enumerate(rates)
            for place in np.sort(chance.random(chance.poisson(rate)))
        ]
        folder = tmp_path / name
        folder.mkdir()
        found[name] = demand(folder, [Said(1, float(at_s), "read") for at_s in times]).doubts
    assert LONG_BURSTS in found["long"]
    assert LONG_BURSTS not in found["short"]


def test_no_name_and_no_literal(tmp_path: Path) -> None:
    said = [Said(1, number, "read", literals=(424242,)) for number in range(300)]
    text = demand(tmp_path, said).model_dump_json()
    assert "secret" not in text
    assert "424242" not in text


def test_it_is_read_back(tmp_path: Path) -> None:
    found = demand(tmp_path, shop())
    path = tmp_path / "demand.json"
    path.write_text(found.model_dump_json(indent=2))
    assert read_demand(path) == found


def test_as_many_types_and_steps_as_there_may_be_fit(tmp_path: Path) -> None:
    found = demand(tmp_path, shop())
    steps = tuple(1234.567 for _ in range(1440))
    one = found.types[0].model_copy(update={"steps_tps": steps})
    large = found.model_copy(update={"steps_tps": steps, "types": (one,) * 51})
    assert len(large.model_dump_json(indent=2)) < DEMAND_BYTES_MAX / 4


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"schema_version": 2}, "schema_version: is newer than 1"),
        ({"schema_version": "1"}, "schema_version"),
        ({"first_unix_s": 1e300}, "first_unix_s"),
        ({"busiest_hour_tps": float("nan")}, "busiest_hour_tps"),
        ({"steps_tps": [1.0] * 1441}, "steps_tps"),
        ({"arrivals": {"rate_tps": 0, "burstiness": None}}, "arrivals.rate_tps"),
        ({"arrivals": {"rate_tps": 1, "burstiness": 1e9}}, "arrivals.burstiness"),
        ({"doubts": ["\x1b[31mred"]}, "doubts"),
        ({"secret": 1}, "secret: is not a known key"),
    ],
)
def test_what_others_wrote_is_checked(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    written = json.loads(demand(tmp_path, shop()).model_dump_json()) | change
    with pytest.raises(SpecError) as caught:
        parse_demand(json.dumps(written).encode())
    assert expected in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"null", b"\xff\xfe", b"{}"])
def test_what_is_no_demand_is_refused(content: bytes) -> None:
    with pytest.raises(SpecError, match=r"is no demand\.json"):
        parse_demand(content)


def test_faults_name_the_file(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_bytes(b" " * (DEMAND_BYTES_MAX + 1))
    with pytest.raises(SpecError, match=r"large.json: is larger than 8,000,000 bytes"):
        read_demand(large)
    with pytest.raises(SpecError, match=r"none.json: No such file"):
        read_demand(tmp_path / "none.json")
