"""Options of the command line become a workload; every fault names the option."""

from __future__ import annotations

import pytest

from plimsoll.cli.option_values import labels
from plimsoll.cli.options import workload_of
from plimsoll.errors import SpecError


def test_keys_of_a_study_file_can_be_given_one_by_one() -> None:
    written = [
        "range_size=10",
        "isolation=read_committed",
        "user_delay=5ms",
        "k_distribution={ kind = 'pareto', h = 0.3 }",
    ]
    spec = workload_of("oltp_read_write", written, tables=None, distribution="{ kind = 'zipfian', exponent = 1 }")
    assert (spec.range_size, spec.isolation, spec.tables) == (10, "read_committed", 1)
    assert spec.user_delay.line() == {"min_ms": 5.0, "max_ms": 5.0}
    assert spec.line()["distribution"] == {"kind": "zipfian", "exponent": 1.0}
    assert spec.data_line()["distribution"] == {"kind": "pareto", "h": 0.3}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["range_size"], "--option: must be KEY=VALUE such as range_size=10, is 'range_size'"),
        (["range_size=0"], "--option range_size: must be > 0, is 0"),
        (["x=1"], "--option x: is not a known key"),
        (["tables=3"], "--option tables: has an option of its own; use that one alone"),
        (["delta=1"], "--workload: delta: means nothing to oltp_read_only; leave it out"),
    ],
)
def test_faults_name_the_option(written: list[str], expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        workload_of("oltp_read_only", written, tables=2)
    assert [fault.strip() for fault in caught.value.lines] == [expected]


def test_labels_are_short_printable_and_no_secrets() -> None:
    assert labels(["commit=3f2a91c", "version = 11.4"]) == {"commit": "3f2a91c", "version": "11.4"}
    with pytest.raises(SpecError) as caught:
        labels(["commit", "1st=x", "api_token=x", "a=", f"b={'x' * 129}", "c=x\x1b[31m", "d=1", "d=2"])
    faults = [line.strip() for line in caught.value.lines]
    assert [fault.partition(":")[0] for fault in faults] == [
        "--label",
        "--label",
        "--label api_token",
        "--label a",
        "--label b",
        "--label c",
        "--label d",
    ]
    assert "x" * 20 not in str(caught.value), "what may be a secret is not repeated"
    with pytest.raises(SpecError, match="at most 16"):
        labels([f"l{number}=x" for number in range(17)])
