"""Pre-flight checks over made-up facts: what each doubts, and the nearest thing that it does not."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings import machine, servers
from plimsoll.analyse.findings.catalogue import KINDS, OBSERVATIONS
from plimsoll.analyse.findings.machine import Demand, Moment, Readiness, SharedCpus
from plimsoll.analyse.findings.servers import readiness_doubts
from plimsoll.record.environment import HostFacts, InstanceFacts, PlacementFacts, StorageFacts
from plimsoll.run.readiness import judged

GIB = 2**30


def codes(facts: Readiness) -> list[str]:
    return [doubt.kind.code for doubt in readiness_doubts(facts)]


def host(**facts: object) -> Readiness:
    return Readiness(host=HostFacts(**facts))


def server(version: str = "10.11.6-MariaDB", demand: Demand | None = None, **variables: str) -> Readiness:
    facts = InstanceFacts(name="one", version=version, variables=variables)
    return Readiness(host=HostFacts(memory_bytes=16 * GIB), servers=(facts,), demand=demand)


def replica(read_only: str) -> Readiness:
    facts = InstanceFacts(name="one", role="replica", variables={"read_only": read_only})
    return Readiness(servers=(facts,))


def moment(busy: float = 0.0, steal: float = 0.0) -> Readiness:
    return Readiness(moment=Moment(busy_ratio=busy, steal_ratio=steal, sample_s=0.5))


def holding(data_bytes: int, flush_method: str, memory_bytes: int = 16 * GIB) -> Readiness:
    variables = {**POOL, "innodb_flush_method": flush_method}
    facts = InstanceFacts(name="one", data_bytes=data_bytes, variables=variables)
    return Readiness(host=HostFacts(memory_bytes=memory_bytes), servers=(facts,))


def limited(memory_limit_bytes: int) -> Readiness:
    placement = PlacementFacts(memory_limit_bytes=memory_limit_bytes)
    return Readiness(servers=(InstanceFacts(name="one", variables=POOL, placement=placement),))


POOL = {"innodb_buffer_pool_size": str(8 * GIB)}
WRITES, READS = Demand(connections=10), Demand(connections=10, writes=False)
DURABLE = {"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "ON"}
CASES = [
    (host(cpu_governor="powersave"), "cpu-frequency-varies", host(cpu_governor="performance")),
    (host(cpu_turbo=True), "turbo-on", host(cpu_turbo=False)),
    (host(cpu_cores=4, cpu_threads=8), "smt-on", host(cpu_cores=4, cpu_threads=4)),
    (host(cpu_cores=4, cpu_threads=8, cpu_smt=True), "smt-on", host(cpu_cores=4, cpu_threads=8, cpu_smt=False)),
    (host(clock_source="acpi_pm"), "slow-clock", host(clock_source="tsc")),
    (host(swap_bytes=GIB, swappiness=60), "swap-likely", host(swap_bytes=0, swappiness=60)),
    (host(swap_bytes=GIB, swappiness=11), "swap-likely", host(swap_bytes=GIB, swappiness=10)),
    (host(transparent_huge_pages="always"), "huge-pages-always", host(transparent_huge_pages="madvise")),
    (host(product_name="t3.medium"), "burstable-instance", host(product_name="m5.large")),
    (host(product_name="t4g.2xlarge"), "burstable-instance", host(product_name="trn1.2xlarge")),
    (host(product_name="Standard_B2ms"), "burstable-instance", host(product_name="Standard_D2s_v3")),
    (host(product_name="e2-micro"), "burstable-instance", host(product_name="e2-standard-4")),
    (moment(busy=0.11), "host-busy-elsewhere", moment(busy=0.09)),
    (moment(steal=0.03), "host-busy-elsewhere", moment(steal=0.01)),
    (replica("OFF"), "replica-writable", replica("ON")),
    (server("8.4.0-debug"), "debug-build", server("8.4.0")),
    (server("10.11.6-MariaDB-debug-log"), "debug-build", server("10.11.6-MariaDB-log")),
    (server(debug_dbug=""), "debug-build", server(debug_no_thread_alarm="OFF")),
    (server(query_cache_type="ON", query_cache_size="1"), "query-cache-on", server(query_cache_type="ON")),
    (server(innodb_buffer_pool_size=str(15 * GIB)), "memory-overcommitted", server(**POOL)),
    (limited(8 * GIB), "memory-overcommitted", limited(9 * GIB)),
    (holding(9 * GIB, flush_method="O_DIRECT"), "data-larger-than-buffer-pool", holding(8 * GIB, flush_method="fsync")),
    (
        server(innodb_log_file_size=str(96 * 2**20), demand=WRITES, **POOL),
        "redo-log-small",
        server(innodb_log_file_size=str(96 * 2**20), demand=READS, **POOL),
    ),
    (
        server(innodb_log_file_size=str(GIB - 1), demand=WRITES, **POOL),
        "redo-log-small",
        server(innodb_log_file_size=str(GIB // 2), innodb_log_files_in_group="2", demand=WRITES, **POOL),
    ),
    (server(**DURABLE | {"innodb_flush_log_at_trx_commit": "2"}), "not-durable", server(**DURABLE)),
    (server(**DURABLE, innodb_checksums="OFF"), "not-durable", server(**DURABLE, innodb_checksums="ON")),
    (
        server(max_connections="17", demand=WRITES),
        "limit-too-low",
        server(max_connections="18", demand=WRITES),
    ),
    (
        server(max_prepared_stmt_count="89", demand=Demand(connections=10, prepared_statements=90)),
        "limit-too-low",
        server(max_prepared_stmt_count="90", demand=Demand(connections=10, prepared_statements=90)),
    ),
    (
        Readiness(open_files_max=256, demand=WRITES),
        "limit-too-low",
        Readiness(open_files_max=1024, demand=WRITES),
    ),
    (
        Readiness(storage=(StorageFacts(path="/d", device="vda", free_bytes=GIB),)),
        "little-space",
        Readiness(storage=(StorageFacts(path="/d", device="vda", free_bytes=6 * GIB),)),
    ),
    (
        Readiness(placements=(SharedCpus(instance="one", shared_cpus=(0, 1)),)),
        "client-on-server-host",
        Readiness(placements=(SharedCpus(instance="one", shared_cpus=()),)),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "code", "calm"), CASES, ids=[f"{n}-{case[1]}" for n, case in enumerate(CASES)])
def test_each_check_doubts_what_it_should_and_not_what_is_next_to_it(
    facts: Readiness, code: str, calm: Readiness
) -> None:
    assert codes(facts) == [code]
    assert codes(calm) == []
    (finding,) = judged(facts)
    assert finding.evidence
    assert finding.consequence.endswith(".")
    assert finding.cure.endswith(".")
    assert "{" not in finding.evidence


def test_data_that_fits_the_page_cache_is_told_beside_the_buffer_pool() -> None:
    both = ["data-larger-than-buffer-pool", "data-in-page-cache"]
    assert codes(holding(9 * GIB, "fsync", memory_bytes=24 * GIB)) == both
    assert codes(holding(9 * GIB, "fsync")) == both[:1]


def test_nothing_known_is_no_doubt() -> None:
    assert codes(Readiness()) == []
    assert codes(server(demand=WRITES)) == []


def test_a_file_system_is_told_once() -> None:
    places = tuple(StorageFacts(path=path, device="vda", free_bytes=GIB) for path in ("/a", "/b"))
    assert codes(Readiness(storage=places)) == ["little-space"]


def test_the_gravest_comes_first_and_strictness_is_not_about_context() -> None:
    found = judged(host(cpu_turbo=True, cpu_governor="ondemand", product_name="t2.small"))
    assert [one.severity for one in found] == ["grave", "uncertain", "context"]
    assert [one.is_refused for one in found] == [True, True, False]


def test_every_kind_of_evidence_is_used_by_some_case() -> None:
    seen = {doubt.evidence.seen for facts, _, _ in CASES for doubt in readiness_doubts(facts)}
    elsewhere = {"busy-elsewhere", "stolen", "data-and-memory"}
    modules = {machine.__name__, servers.__name__}
    of_machines = {one.seen for one in OBSERVATIONS if one.__module__ in modules}
    assert seen >= of_machines - elsewhere | {"client-shares-cpus"}
    with_consequence = {code for code, kind in KINDS.items() if kind.consequence}
    assert {code for _, code, _ in CASES} | {"data-in-page-cache"} == with_consequence


def test_evidence_has_units() -> None:
    (doubt,) = readiness_doubts(server(innodb_log_file_size=str(96 * 2**20), demand=WRITES, **POOL))
    assert doubt.as_warning().evidence == "the redo log has 96.0 MiB, the buffer pool 8.00 GiB"
