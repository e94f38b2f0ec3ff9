"""Which options count as not in effect: what servers really say, and spellings that mean the same."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings.options import NotInEffect, options_not_in_effect
from plimsoll.record.environment import InstanceFacts


def judged(line: str, **variables: str) -> list[NotInEffect]:
    file = f"# Written by Plimsoll\n[mysqld]\nport=3306\n{line}\n"
    return options_not_in_effect(InstanceFacts(name="a", option_file=file, variables={"port": "3306", **variables}))


@pytest.mark.parametrize(
    ("line", "variables"),
    [
        ("innodb_buffer_pool_size=2G", {"innodb_buffer_pool_size": "2147483648"}),
        ("innodb-io-capacity=1000", {"innodb_io_capacity": "1000"}),
        ("innodb_doublewrite=ON", {"innodb_doublewrite": "1"}),
        ("skip_log_bin", {"log_bin": "OFF"}),
        ("skip_log_bin=0", {"log_bin": "ON"}),
        ("skip_name_resolve", {"skip_name_resolve": "ON"}),
        ("log_bin=/disk/binlog", {"log_bin": "ON"}),
        ("long_query_time=2", {"long_query_time": "2.000000"}),
        ("optimizer_switch=mrr=off", {"optimizer_switch": "index_merge=on,mrr=off"}),
        ("sql_mode=NO_ZERO_DATE,STRICT_ALL_TABLES", {"sql_mode": "STRICT_ALL_TABLES,NO_ZERO_DATE"}),
        ('init_connect="SET a = \\"b\\""', {"init_connect": 'SET a = "b"'}),
        ("datadir=/d/data", {"datadir": "/d/data/"}),
        ("transaction_isolation=READ-COMMITTED", {"tx_isolation": "READ-COMMITTED"}),
        ("query_cache_type=2", {"query_cache_type": "DEMAND"}),
        ("loose_mysqlx=OFF", {}),
        ("plugin_load_add=semisync_source.so", {}),
        ("maximum_max_connections=10", {"max_connections": "5"}),
        ("sync_binlog=0\nsync_binlog=1", {"sync_binlog": "1"}),
    ],
)
def test_spellings_of_the_same(line: str, variables: dict[str, str]) -> None:
    assert judged(line, **variables) == []


@pytest.mark.parametrize(
    ("line", "variables", "told"),
    [
        (
            "innodb_buffer_pool_size=300M",
            {"innodb_buffer_pool_size": "402653184"},
            NotInEffect("innodb_buffer_pool_size", "300M", "402653184"),
        ),
        ("innodb_thread_concurrency=8", {}, NotInEffect("innodb_thread_concurrency", "8", None)),
        ("loose_innodb_unheard_of=1", {}, NotInEffect("innodb_unheard_of", "1", None)),
        ("skip_log_bin", {"log_bin": "ON"}, NotInEffect("log_bin", "OFF", "ON")),
        ("log_bin=binlog", {"log_bin": "OFF"}, NotInEffect("log_bin", "binlog", "OFF")),
        ("innodb_doublewrite=ON", {"innodb_doublewrite": "OFF"}, NotInEffect("innodb_doublewrite", "ON", "OFF")),
        ("sync_binlog=1", {"sync_binlog": "0"}, NotInEffect("sync_binlog", "1", "0")),
        ("sql_mode=ANSI_QUOTES", {"sql_mode": "A,B"}, NotInEffect("sql_mode", "ANSI_QUOTES", "A,B")),
        (
            "innodb_flush_method=O_DIRECT",
            {"innodb_flush_method": "fsync"},
            NotInEffect("innodb_flush_method", "O_DIRECT", "fsync"),
        ),
        ("sync_binlog=1\nsync_binlog=0", {"sync_binlog": "1"}, NotInEffect("sync_binlog", "0", "1")),
    ],
)
def test_ignored_or_changed(line: str, variables: dict[str, str], told: NotInEffect) -> None:
    assert judged(line, **variables) == [told]


def test_what_is_unknown_is_not_judged() -> None:
    assert options_not_in_effect(InstanceFacts(name="a", variables={"x": "1"})) == []
    assert options_not_in_effect(InstanceFacts(name="a", option_file="x=2\n")) == []
