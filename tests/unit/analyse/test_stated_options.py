"""What an option file states, whatever the spelling."""

from __future__ import annotations

import pytest

from plimsoll.analyse.explain.variables import parsed_options, stated_options
from plimsoll.record.environment import InstanceFacts
from plimsoll.spec.server_options import is_on, switch_spelling


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("innodb-io-capacity=200", {"innodb_io_capacity": "200"}),
        ("loose-innodb_io_capacity = 200", {"innodb_io_capacity": "200"}),
        ("# a comment\n[mysqld]\n\n", {}),
        ("log_bin", {"log_bin": "ON"}),
        ("skip_log_bin", {"log_bin": "OFF"}),
        ("skip_log_bin=false", {"log_bin": "ON"}),
        ("enable_performance_schema=0", {"performance_schema": "OFF"}),
        ("skip_name_resolve", {"skip_name_resolve": "ON"}),
        ("maximum_sort_buffer_size=1M", {}),
        ('init_connect="SET a = \\"b\\""', {"init_connect": 'SET a = "b"'}),
        ("sync_binlog=0\nsync-binlog=1", {"sync_binlog": "1"}),
    ],
)
def test_a_line_states_an_option(text: str, stated: dict[str, str]) -> None:
    assert parsed_options(text) == stated


def test_data_goes_before_the_text_of_older_recordings() -> None:
    old = InstanceFacts(name="a", option_file="sync-binlog=1\n")
    assert stated_options(old) == {"sync_binlog": "1"}
    assert stated_options(old.model_copy(update={"options": {"sync_binlog": "0"}})) == {"sync_binlog": "0"}
    assert stated_options(InstanceFacts(name="a")) == {}


def test_switches_have_one_spelling_and_other_values_keep_theirs() -> None:
    assert [switch_spelling(value) for value in ("on", "TRUE", "Yes", "1")] == ["1"] * 4
    assert [switch_spelling(value) for value in ("Off", "false", "NO", "0")] == ["0"] * 4
    assert [switch_spelling(value) for value in ("2", "DEMAND", "")] == ["2", "DEMAND", ""]
    assert is_on(" on ")
    assert not is_on("2")
