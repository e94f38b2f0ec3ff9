"""Each check: what makes it doubt, and what does not. And every code is described, here and in docs/warnings.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.catalogue import KINDS
from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.model import Analysis
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from plimsoll.record.model import TrialWarning
from support.made import Made, measured, published, telemetry_table
from support.told import evidence_of

ROOT = Path(__file__).parents[3]
STEADY = [100.0, 102.0, 98.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0]
GIB = 2**30


def codes(recordings: Sequence[Made]) -> set[str]:
    return {one.code for one in analyse("made", list(recordings)).warnings}


def warning(analysis: Analysis, code: str) -> PlacedWarning:
    return next(one for one in analysis.warnings if one.code == code)


def on(*, memory_bytes: int | None = None, client_here: bool | None = False, **instance: object) -> Environment:
    return Environment(
        host=HostFacts(memory_bytes=memory_bytes),
        instances=(InstanceFacts(name="one", **instance),),
        client=ClientFacts(on_server_host=client_here),
    )


def one(environment: Environment | None = None, **made: object) -> set[str]:
    return codes([measured(STEADY, environment=environment, **made)])


def test_every_code_is_described_in_the_documentation_and_no_other() -> None:
    text = (ROOT / "docs" / "warnings.md").read_text()
    described = re.findall(r"^## `([a-z-]+)`$", text, flags=re.MULTILINE)
    assert described == list(KINDS), "in the order of the catalogue"


def test_every_code_given_anywhere_in_the_source_is_in_the_catalogue() -> None:
    given: set[str] = set()
    for pattern, folder, ending in (
        (r'code="([a-z]+(?:-[a-z]+)+)"', "python", "*.py"),
        (r'code: "([a-z]+(?:-[a-z]+)+)"\.', "crates", "src/**/*.rs"),
    ):
        for path in (ROOT / folder).rglob(ending):
            given |= set(re.findall(pattern, path.read_text()))
    assert given <= KINDS.keys()


def test_advice_and_consequences_are_sentences() -> None:
    said = [text for kind in KINDS.values() for text in (kind.advice, kind.consequence) if text]
    assert len(said) > len(KINDS)
    assert all(text.endswith(".") and text[0].isupper() for text in said)


def test_a_calm_trial_gives_only_what_is_true_of_it() -> None:
    assert one() == {"single-repetition"}


@pytest.mark.parametrize(
    ("variables", "doubted"),
    [
        ({"query_cache_type": "ON", "query_cache_size": "1048576"}, True),
        ({"query_cache_type": "OFF", "query_cache_size": "1048576"}, False),
        ({"query_cache_type": "ON", "query_cache_size": "0"}, False),
    ],
)
def test_query_cache(variables: dict[str, str], doubted: bool) -> None:
    assert ("query-cache-on" in one(on(variables=variables))) == doubted


@pytest.mark.parametrize(
    ("storage", "doubted"),
    [
        (StorageFacts(flush_ms_median=0.01), True),
        (StorageFacts(file_system="tmpfs"), True),
        (StorageFacts(flush_ms_median=0.09, file_system="ext4"), False),
        (None, False),
    ],
)
def test_flush(storage: StorageFacts | None, doubted: bool) -> None:
    assert ("flush-costs-nothing" in one(on(storage=storage))) == doubted


def test_data_larger_than_buffer_pool_and_in_page_cache() -> None:
    pool = {"innodb_buffer_pool_size": str(GIB)}
    buffered = on(memory_bytes=24 * GIB, variables=pool | {"innodb_flush_method": "fsync"}, data_bytes=4 * GIB)
    direct = on(memory_bytes=24 * GIB, variables=pool | {"innodb_flush_method": "O_DIRECT"}, data_bytes=4 * GIB)
    small = on(memory_bytes=24 * GIB, variables=pool | {"innodb_flush_method": "fsync"}, data_bytes=GIB // 2)
    assert one(buffered) >= {"data-larger-than-buffer-pool", "data-in-page-cache"}
    assert "data-in-page-cache" not in one(direct)
    assert "data-larger-than-buffer-pool" in one(direct)
    assert not one(small) & {"data-larger-than-buffer-pool", "data-in-page-cache"}


def test_client_beside_the_server() -> None:
    assert "client-on-server-host" in one(on(client_here=True))
    assert "client-on-server-host" not in one(on(client_here=False))


def test_short_window() -> None:
    assert "short-window" in codes([measured([100.0] * 9)])
    assert "short-window" not in codes([measured([100.0] * 10)])


def test_drift() -> None:
    assert "throughput-drifts" in codes([measured(np.linspace(900, 1100, 30))])
    assert "throughput-drifts" not in codes([measured(np.linspace(990, 1010, 30))])


OPTIONS = {
    "table_size": 10_000, "range_size": 100, "point_selects": 10, "simple_ranges": 1, "sum_ranges": 1,
    "order_ranges": 1, "distinct_ranges": 1, "index_updates": 1, "non_index_updates": 1, "delete_inserts": 1,
}  # fmt: skip


def shares(*, here: bool | None = True, **values: float) -> list[Made]:
    telemetry = telemetry_table({f"{name}_ratio": value for name, value in values.items()}, seconds=len(STEADY))
    return [measured(STEADY, telemetry=telemetry, environment=on(client_here=here))]


def test_processor_shares_are_those_of_the_window() -> None:
    cpu = analyse("made", shares(cpu_idle=0.5, cpu_user=0.3, server_cpu=0.25, client_cpu=0.1)).curves[0].cells[0].cpu
    assert (cpu.idle, cpu.user, cpu.server, cpu.client) == pytest.approx((0.5, 0.3, 0.25, 0.1))


def test_a_client_on_a_host_of_its_own_says_nothing_about_the_servers_processors() -> None:
    for here in (False, None):
        cpu = analyse("made", shares(here=here, cpu_idle=0.5, client_cpu=0.1)).curves[0].cells[0].cpu
        assert cpu.idle is None
        assert cpu.client == pytest.approx(0.1)


def test_a_server_that_was_watched_does_not_stand_for_one_that_was_not() -> None:
    """Half of the servers unseen would look like something else that used the processors."""
    recordings = shares(cpu_idle=0.1, server_cpu=0.4, client_cpu=0.1)
    for count, server in ((1, pytest.approx(0.4)), (2, None)):
        instances = tuple(InstanceFacts(name=f"i/{number}") for number in range(count))
        environment = recordings[0].environment.model_copy(update={"instances": instances})
        analysis = analyse("made", [replace(recordings[0], environment=environment)])
        assert analysis.curves[0].cells[0].cpu.server == server


@pytest.mark.parametrize(("here", "doubted"), [(True, False), (False, False), (None, True)])
def test_nobody_knows_where_the_server_ran(here: bool | None, *, doubted: bool) -> None:
    environment = Environment(client=ClientFacts(on_server_host=here, server_place="the connection ends in ssh"))
    recording = measured(STEADY, environment=environment)
    placed = analyse("made", [recording]).warnings
    found = next((one for one in placed if one.code == "server-place-unknown"), None)
    assert (found is not None) == doubted
    if found is not None:
        assert evidence_of(found) == "the connection ends in ssh"


@pytest.mark.parametrize(
    ("values", "doubted"),
    [
        ({"cpu_idle": 0.01, "client_cpu": 0.3}, True),
        ({"cpu_idle": 0.40, "client_cpu": 0.3}, False),
        ({"cpu_idle": 0.01, "client_cpu": 0.1}, False),
        ({"client_cpu": 0.95}, True),
    ],
)
def test_client_saturated(values: dict[str, float], doubted: bool) -> None:
    assert ("client-saturated" in codes(shares(**values))) == doubted


@pytest.mark.parametrize(
    ("values", "doubted"),
    [
        ({"cpu_idle": 0.3, "server_cpu": 0.3, "client_cpu": 0.1}, True),
        ({"cpu_idle": 0.5, "server_cpu": 0.3, "client_cpu": 0.1}, False),
        ({"cpu_steal": 0.03}, True),
        ({"cpu_steal": 0.01}, False),
    ],
)
def test_host_busy_elsewhere(values: dict[str, float], doubted: bool) -> None:
    assert ("host-busy-elsewhere" in codes(shares(**values))) == doubted


def test_key_range_that_misses_the_data() -> None:
    found = one(kind="oltp_read_only", options=OPTIONS, rows_returned=311)
    missed = one(kind="oltp_read_only", options=OPTIONS, rows_returned=100)
    assert "key-range-misses-data" not in found
    assert "key-range-misses-data" in missed


def test_read_only_slower_than_read_write() -> None:
    slow = [published(100.0, workload="read-only"), published(120.0, workload="read/write")]
    fast = [published(130.0, workload="read-only"), published(120.0, workload="read/write")]
    assert "read-only-slower-than-read-write" in codes(slow)
    assert "read-only-slower-than-read-write" not in codes(fast)


def test_read_only_slower_within_the_bounds_is_no_doubt() -> None:
    random = np.random.default_rng(3)
    trials = [
        measured(1000 * np.exp(random.normal(0, 0.1)) + random.normal(0, 5, 12), workload=name, kind=kind, repetition=r)
        for name, kind in (("r", "oltp_read_only"), ("w", "oltp_read_write"))
        for r in range(3)
    ]
    assert "read-only-slower-than-read-write" not in codes(trials)


def test_peak_at_the_edges() -> None:
    def curve(*tps: float) -> set[str]:
        return codes([published(value, connections=4 * 2**index) for index, value in enumerate(tps)])

    assert "peak-at-last-level" in curve(1.0, 2.0, 3.0)
    assert "peak-at-first-level" in curve(3.0, 2.0, 1.0)
    assert not curve(1.0, 3.0, 2.0) & {"peak-at-last-level", "peak-at-first-level"}


def test_systems_without_a_common_level() -> None:
    assert "levels-differ" in codes([published(1.0, connections=4), published(1.0, connections=8, system="b")])


def test_variables_that_differ_without_being_a_factor() -> None:
    def system(name: str, **variables: str) -> Made:
        return measured(STEADY, system=name, environment=on(variables=variables), factors={"sync_binlog": name})

    same = [system("a", sync_binlog="1", port="1", datadir="/x"), system("b", sync_binlog="0", port="2", datadir="/y")]
    other = [system("a", innodb_io_capacity="200"), system("b", innodb_io_capacity="2000")]
    assert "variables-differ-unexpectedly" not in codes(same)
    assert "variables-differ-unexpectedly" in codes(other)
    found = {variable.variable: variable.expected for variable in analyse("made", same).variables}
    assert found == {"datadir": True, "port": True, "sync_binlog": True}


def test_warnings_of_recordings_pass_through() -> None:
    given = TrialWarning(code="connections-stuck", evidence="2 connections had not ended", advice="Look.")
    analysis = analyse("made", [measured(STEADY, warnings=(given,))])
    found = warning(analysis, "connections-stuck")
    assert (found.evidence[0].text, found.advice) == (given.evidence, given.advice)


def test_equal_codes_become_one_warning_with_its_places_and_its_weightiest_evidence() -> None:
    recordings = [
        measured(np.linspace(1000 - half, 1000 + half, 30), system=system, connections=connections)
        for system, connections, half in (("a", 4, 50), ("b", 16, 200), ("b", 4, 100))
    ]
    found = warning(analyse("made", recordings), "throughput-drifts")
    assert found.systems == ("a", "b")
    assert [level.connections for level in found.levels] == [4, 16]
    assert "+40.0 %" in evidence_of(found)
    assert len(found.evidence) == 3


def test_warnings_come_in_the_order_of_the_catalogue() -> None:
    order = list(KINDS)
    found = [one.code for one in analyse("made", [measured([1.0] * 5, failed=1)]).warnings]
    assert found == sorted(found, key=order.index)


def test_a_client_near_its_own_limit_is_doubted() -> None:
    def near(limit_tps: float | None) -> bool:
        environment = Environment(client=ClientFacts(on_server_host=False, limit_tps=limit_tps))
        return "client-saturated" in one(environment)

    assert near(110.0)
    assert not near(200.0)
    assert not near(None)


def test_a_client_whose_threads_wait_for_processors_is_doubted() -> None:
    ten_ms = np.full(1200, 10_000_000)

    def waits(s_per_s: float, *, client_here: bool = False) -> bool:
        telemetry = telemetry_table({"run_delay_s_per_s": s_per_s}, seconds=len(STEADY))
        return "client-saturated" in one(on(client_here=client_here), telemetry=telemetry, response_ns=ten_ms)

    assert waits(0.2)  # 2 ms of 10 ms
    assert not waits(0.05)
    assert not waits(0.2, client_here=True)
