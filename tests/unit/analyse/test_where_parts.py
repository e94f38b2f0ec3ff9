"""Parts of response time add up to it, whatever sources measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analyse.explain.where_model import WherePart
from plimsoll.analyse.explain.where_time import parts_of
from unit.analyse.test_server_summaries import TPS, level

SERVER, CLIENT, REST = WherePart.SERVER_CPU, WherePart.CLIENT_CPU, WherePart.UNEXPLAINED
TIMES = st.floats(min_value=0, max_value=1e4)
RESPONSE_MS = 40.0
"""Of the made-up trials."""


def test_the_clients_own_processor_time_is_a_part() -> None:
    """At 100 tps half a second of the client in each second is 5 ms of a transaction, and 0.8 s of the server 8 ms."""
    found = level(
        {
            ("process", "one", "server_cpu_user_s_per_s"): 0.8,
            ("process", "", "client_cpu_user_s_per_s"): 0.3,
            ("process", "", "client_cpu_system_s_per_s"): 0.2,
            ("waits", "one", "wait_redo_file_ms"): 7 * TPS,
        }
    )
    assert found.parts_ms == {
        SERVER: pytest.approx(8),
        CLIENT: pytest.approx(5),
        WherePart.REDO: pytest.approx(7),
        REST: pytest.approx(RESPONSE_MS - 20),
    }
    assert found.unexplained_ratio == pytest.approx(0.5)
    assert found.client_cpu_ms == pytest.approx(5)
    assert not found.outside_ms


def test_a_busy_client_gets_what_the_server_leaves_and_the_whole_is_told() -> None:
    found = level(
        {
            ("process", "one", "server_cpu_user_s_per_s"): 3.0,
            ("process", "", "client_cpu_user_s_per_s"): 2.5,
        }
    )
    assert found.parts_ms == {SERVER: pytest.approx(30), CLIENT: pytest.approx(10), REST: 0.0}
    assert found.outside_ms == {CLIENT: pytest.approx(15)}
    assert found.client_cpu_ms == pytest.approx(25)
    assert found.unexplained_ratio == 0.0


def test_waits_take_room_before_processors() -> None:
    found = parts_of(10.0, {SERVER: 9.0, CLIENT: 2.0, WherePart.ROW_LOCKS: 4.0, WherePart.RUN_QUEUE: 1.0})
    assert found.within == {
        SERVER: 5.0,
        CLIENT: 0.0,
        WherePart.RUN_QUEUE: 1.0,
        WherePart.ROW_LOCKS: 4.0,
        REST: 0.0,
    }
    assert found.outside == {SERVER: 4.0, CLIENT: 2.0}


def test_what_nobody_measured_is_no_part() -> None:
    assert parts_of(10.0, {SERVER: None, CLIENT: None}) == ({}, {})
    assert parts_of(None, {SERVER: 3.0, CLIENT: None}) == ({SERVER: 3.0}, {})


@given(
    TIMES,
    st.dictionaries(st.sampled_from([one for one in WherePart if one is not REST]), TIMES, min_size=1),
)
def test_parts_add_up_and_nothing_measured_is_lost(response_ms: float, measured: dict[WherePart, float]) -> None:
    found = parts_of(response_ms, measured)
    assert sum(found.within.values()) == pytest.approx(response_ms, abs=1e-6)
    assert min(found.within.values()) >= 0
    assert set(found.within) == {*measured, REST}
    for part, ms in measured.items():
        assert found.within[part] + found.outside.get(part, 0.0) == pytest.approx(ms, abs=1e-6)
