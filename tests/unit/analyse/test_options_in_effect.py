"""Which options count as not in effect: what servers really say, and spellings that mean the same."""

from __future__ import annotations

import pytest

from plimsoll.analyse.findings.options import OptionChanged, OptionIgnored, options_not_in_effect
from plimsoll.record.environment import InstanceFacts


def judged(line: str, **variables: str) -> list[OptionIgnored | OptionChanged]:
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
            OptionChanged(option="innodb_buffer_pool_size", given="300M", effective="402653184"),
        ),
        ("innodb_thread_concurrency=8", {}, OptionIgnored(option="innodb_thread_concurrency", given="8")),
        ("loose_innodb_unheard_of=1", {}, OptionIgnored(option="innodb_unheard_of", given="1")),
        ("skip_log_bin", {"log_bin": "ON"}, OptionChanged(option="log_bin", given="OFF", effective="ON")),
        ("log_bin=binlog", {"log_bin": "OFF"}, OptionChanged(option="log_bin", given="binlog", effective="OFF")),
        (
            "innodb_doublewrite=ON",
            {"innodb_doublewrite": "OFF"},
            OptionChanged(option="innodb_doublewrite", given="ON", effective="OFF"),
        ),
        ("sync_binlog=1", {"sync_binlog": "0"}, OptionChanged(option="sync_binlog", given="1", effective="0")),
        (
            "sql_mode=ANSI_QUOTES",
            {"sql_mode": "A,B"},
            OptionChanged(option="sql_mode", given="ANSI_QUOTES", effective="A,B"),
        ),
        (
            "innodb_flush_method=O_DIRECT",
            {"innodb_flush_method": "fsync"},
            OptionChanged(option="innodb_flush_method", given="O_DIRECT", effective="fsync"),
        ),
        (
            "sync_binlog=1\nsync_binlog=0",
            {"sync_binlog": "1"},
            OptionChanged(option="sync_binlog", given="0", effective="1"),
        ),
    ],
)
def test_ignored_or_changed(line: str, variables: dict[str, str], told: OptionIgnored | OptionChanged) -> None:
    assert judged(line, **variables) == [told]


def test_what_is_unknown_is_not_judged() -> None:
    assert options_not_in_effect(InstanceFacts(name="a", variables={"x": "1"})) == []
    assert options_not_in_effect(InstanceFacts(name="a", option_file="x=2\n")) == []
