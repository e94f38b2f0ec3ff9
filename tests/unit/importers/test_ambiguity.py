"""Tables that could be read in two ways: what was assumed is told, what cannot be assumed is asked about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.importers.systems import SystemKey
from plimsoll.importers.table import Group, import_table
from plimsoll.importers.trials import ImportResult

Import = Callable[[str], ImportResult]


@pytest.fixture
def table(tmp_path: Path) -> Import:
    """Imports a table from its text."""

    def run(text: str) -> ImportResult:
        (tmp_path / "t.csv").write_bytes(text.encode())
        return import_table(tmp_path / "t.csv", study_name="s")

    return run


def test_rows_that_nothing_tells_apart_are_said_to_be_repetitions(table: Import) -> None:
    result = table("system,connections,throughput_tps\na,1,100\na,1,110\na,2,150\na,2,140\n")
    assert [trial.trial.repetition for trial in result.trials] == [0, 1, 0, 1]
    said = [line for line in result.report if line.startswith("repetitions: ")]
    assert len(said) == 1
    assert "lines 3, 5 have the same system, workload and level as a line before" in said[0]
    told = table("system,connections,throughput_tps,repetition\na,1,100,1\na,1,110,2\n")
    assert not any(line.startswith("repetitions: ") for line in told.report)


def test_a_point_that_may_part_thousands_is_refused_where_commas_part_no_cells(table: Import) -> None:
    for delimiter in ";\t":
        text = "system,connections,throughput_tps\na,1,1.234\n".replace(",", delimiter)
        with pytest.raises(SpecError, match=r"line 2: throughput_tps: may be 1\.2340 or 1234: write it so"):
            table(text)
        assert table(text.replace("1.234", "1.2340")).trials[0].outcome.reported.throughput_tps == 1.234


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\x0c"])
def test_only_line_ends_end_a_line(table: Import, separator: str) -> None:
    """str.splitlines knows more of them than CSV does."""
    result = table(f"system,connections,throughput_tps\na{separator}b,1,100\na{separator}b,2,150\n")
    assert {trial.trial.system.name for trial in result.trials} == {f"a{separator}b"}
    with pytest.raises(SpecError, match="line 3: throughput_tps"):
        table(f"system,connections,throughput_tps\na{separator}b,1,100\na,2,x\n")


def test_the_report_looks_at_each_row_a_few_times_only(table: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told of each system must not look at the rows of all: 10,000 systems would take minutes."""
    looks = 0
    plain = Group.system.fget
    assert plain is not None

    def counted(group: Group) -> SystemKey:
        nonlocal looks
        looks += 1
        return plain(group)

    monkeypatch.setattr(Group, "system", property(counted))
    result = table(
        "system,connections,throughput_tps,disk\n" + "".join(f"s{index},1,{index + 1},\n" for index in range(300))
    )
    assert len(result.trials) == 300
    assert looks < 30 * 300
