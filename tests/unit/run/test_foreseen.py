"""What is known of servers before they start: the options they will have, as pre-flight checks judge them."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings.machine import Readiness
from plimsoll.analyse.findings.servers import readiness_doubts
from plimsoll.run import readiness
from plimsoll.run.readiness import foreseen_readiness
from plimsoll.servers.option_file import Flavour, FlavourName
from plimsoll.spec.study import parse_study

GIB = 2**30
STUDY = """
[study]
name = "s"
levels = {{ connections = [64] }}

[[workload]]
name = "w"
kind = "oltp_read_write"
tables = 2
table_size = {rows}

[[system]]
name = "a"
server = {{ managed = "mariadb", {server} }}
"""


@pytest.fixture(autouse=True)
def _known_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        flavour = Flavour(FlavourName.MARIADB, (10, 11, 6))

    monkeypatch.setattr(readiness, "find_server", lambda _: Found())
    monkeypatch.setattr(readiness, "usable_memory_bytes", lambda: 8 * GIB)


def seen(server: str, rows: int = 1000) -> Readiness:
    spec = parse_study(STUDY.format(server=server, rows=rows))
    return foreseen_readiness(spec, spec.system[0])


def doubted(server: str, rows: int = 1000) -> set[str]:
    return {doubt.kind.code for doubt in readiness_doubts(seen(server, rows))}


@pytest.mark.parametrize(
    ("server", "codes"),
    [
        ('buffer_pool = "1G", options = { innodb_log_file_size = "1G" }', set()),
        ('buffer_pool = "1G", options = { innodb_log_file_size = "64M" }', {"redo-log-small"}),
        ('buffer_pool = "7900M", options = { innodb_log_file_size = "2G" }', {"memory-overcommitted"}),
        ('buffer_pool = "1G", memory_limit = "1100M", options = { innodb_log_file_size = "1G" }',
         {"memory-overcommitted"}),
        ('buffer_pool = "1G", options = { innodb_log_file_size = "1G", max_connections = 70 }', {"limit-too-low"}),
        ('buffer_pool = "1G", options = { innodb_log_file_size = "1G", max_prepared_stmt_count = 99 }',
         {"limit-too-low"}),
        ('buffer_pool = "1G", options = { innodb_log_file_size = "1G", innodb_flush_log_at_trx_commit = 2 }',
         {"not-durable"}),
        ('profile = "server-defaults", buffer_pool = "2G"', {"redo-log-small"}),
        ('profile = "server-defaults"', set()),
    ],
)  # fmt: skip
def test_options_are_judged_before_a_server_runs(server: str, codes: set[str]) -> None:
    assert doubted(server) == codes


def test_expected_data_is_held_against_the_pool() -> None:
    server = 'buffer_pool = "64M", options = { innodb_log_file_size = "1G" }'
    assert doubted(server, rows=1_000_000) == {"data-larger-than-buffer-pool"}
    assert doubted(f"{server}, instances = 2", rows=100) == set()


def test_each_instance_has_its_part_and_all_of_them_share_the_memory() -> None:
    found = seen('buffer_pool = "2G", memory_limit = "4G", instances = 2')
    assert [server.name for server in found.servers] == ["a/0", "a/1"]
    assert {server.variables["innodb_buffer_pool_size"] for server in found.servers} == {str(GIB)}
    assert {server.placement and server.placement.memory_limit_bytes for server in found.servers} == {2 * GIB}
    assert found.demand is not None
    assert found.demand.connections == 32


def test_a_pool_that_follows_from_the_tables_is_not_known() -> None:
    found = seen("pool_ratio = 0.1", rows=10_000_000)
    assert "innodb_buffer_pool_size" not in found.servers[0].variables
    assert not {doubt.kind.code for doubt in readiness_doubts(found)}


def test_of_a_server_that_runs_nothing_is_foreseen() -> None:
    text = STUDY.format(server="", rows=1).partition("server = ")[0]
    spec = parse_study(f'{text}target = "mysql://u@h/d"\nreset = "never"\n')
    assert foreseen_readiness(spec, spec.system[0]) == Readiness()
