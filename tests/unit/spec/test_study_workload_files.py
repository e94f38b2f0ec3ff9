"""Workload files in study files: where they are looked for, what is kept of them, and every fault with its path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.plan.build import build_plan
from plimsoll.plan.disk import data_bytes
from plimsoll.spec.study import StudySpec, parse_study, read_study
from plimsoll.spec.workloads import WORKLOADS_FILE, StatementsSpec, data_sets

STUDY = """
[study]
name = "s"
levels = {{ connections = [1] }}
reset = "per_trial"
{workloads}
[[system]]
name = "one"
server = {{ managed = "mariadb" }}
"""
OWN = """
[parameters]
size = 40
[[table]]
name = "own"
rows = "$size"
[[table.column]]
name = "id"
generate = "sequence"
[[transaction]]
name = "t"
[[transaction.statement]]
sql = "SELECT :x FROM own"
values.x = { generate = "integer", from = 1, to = 5 }
"""


def study(*workloads: str) -> str:
    return STUDY.format(workloads="\n".join(f"[[workload]]\n{workload}" for workload in workloads))


def written(folder: Path, *workloads: str, own: str = OWN) -> StudySpec:
    (folder / "own.toml").write_text(own)
    (folder / "study.toml").write_text(study(*workloads))
    return read_study(folder / "study.toml")


def test_a_path_counts_from_the_study_file_and_shipped_files_have_names(tmp_path: Path) -> None:
    spec = written(
        tmp_path,
        'name = "a"\nfile = "own.toml"\nparameters = { size = 7 }',
        'name = "b"\nfile = "key-value"\nrows = { kv_items = 9 }',
        'name = "c"\nkind = "oltp_read_only"\ntable_size = 5',
        'name = "d"\nkind = "oltp_read_write"\ntable_size = 5',
    )
    own, cache = spec.workload[:2]
    assert isinstance(own, StatementsSpec)
    assert (own.text, own.rows_count, own.writes, own.changes_row_count) == (OWN, 7, False, False)
    assert (cache.rows_count, cache.writes, cache.changes_row_count) == (9, True, True)
    assert [data_set.name for data_set in data_sets(spec.workload)] == ["a", "b", "c"]
    assert data_bytes(spec) == (7 + 9 + 5) * 250


def test_a_file_that_pauses_is_not_driven_at_a_rate(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN.replace('name = "t"', 'name = "t"\nthink_time = "1s"'))
    text = study('name = "a"\nfile = "own.toml"').replace(
        "{ connections = [1] }", "{ connections = [1], rate_tps = [5] }"
    )
    (tmp_path / "study.toml").write_text(text)
    expected = r"workload\[0\]\.file: transaction\[0\]\.think_time: a rate sets the pace; give only one of them"
    with pytest.raises(SpecError, match=expected):
        read_study(tmp_path / "study.toml")


def test_an_id_depends_on_what_a_file_says(tmp_path: Path) -> None:
    def trial(text: str, workload: str = 'name = "a"\nfile = "own.toml"') -> str:
        return build_plan(written(tmp_path, workload, own=text)).trials[0].trial_id

    same = trial(OWN)
    assert trial("# said otherwise\n" + OWN) == same
    (tmp_path / "other.toml").write_text(OWN)
    assert trial(OWN, 'name = "a"\nfile = "other.toml"') == same
    assert trial(OWN.replace("to = 5", "to = 6")) != same
    assert trial(OWN, 'name = "a"\nfile = "own.toml"\nparameters = { size = 41 }') != same


def test_a_kept_file_goes_before_that_on_disk(tmp_path: Path) -> None:
    written(tmp_path, 'name = "a"\nfile = "own.toml"')
    (tmp_path / WORKLOADS_FILE).write_text(json.dumps({"own.toml": OWN.replace("40", "41")}))
    assert read_study(tmp_path / "study.toml").workload[0].rows_count == 41
    (tmp_path / WORKLOADS_FILE).write_text("[")
    with pytest.raises(SpecError, match=r"workload-files\.json: cannot be read"):
        read_study(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("workload", "fault"),
    [
        ('name = "a"\nfile = "none.toml"', "workload[0].file: {folder}/none.toml cannot be read: No such file"),
        ('name = "a"\nfile = "own.toml"\nkind = "oltp_read_only"', "workload[0].kind: does not go with file"),
        ('name = "a"\nfile = "own.toml"\ntables = 4', "workload[0].tables: is not a known key"),
        ('name = "a"\nfile = "own.toml"\ntext = "x"', "workload[0].text: is not a known key"),
        ('file = "own.toml"', "workload[0].name: is missing"),
        ('name = "a"\nfile = 5', "workload[0].file: must be text, is 5"),
        ('name = "a"\nfile = "own.toml"\nrows = { x = 1 }', "workload[0].file: own.toml: rows.x: there is no such"),
        ('name = "a"', "workload[0].kind: is missing"),
    ],
)  # fmt: skip
def test_faults_name_path_value_and_cure(tmp_path: Path, workload: str, fault: str) -> None:
    with pytest.raises(SpecError) as error:
        written(tmp_path, workload)
    wanted = "study.toml: " + fault.format(folder=tmp_path)
    assert any(line.startswith(wanted) for line in error.value.lines), error.value.lines


def test_faults_of_the_study_and_of_its_files_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        written(
            tmp_path,
            'name = "a"\nfile = "own.toml"',
            'name = "a"\nfile = "none.toml"',
            own=OWN.replace("to = 5", "to = 0").replace('"sequence"', '"decimal"'),
        )
    text = "\n".join(error.value.lines)
    for part in (
        "workload[0].file: own.toml: transaction[0].statement[0].values.x.to: must be at least 1, is 0",
        "workload[0].file: own.toml: table[0].column[0].from: is missing",
        "workload[1].file: ",
        "the name 'a' is used 2 times",
    ):
        assert part in text, text


def test_tables_of_one_name_are_described_alike(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        written(
            tmp_path,
            'name = "a"\nfile = "own.toml"',
            'name = "b"\nfile = "own.toml"\nparameters = { size = 9 }',
            'name = "c"\nfile = "own.toml"',
        )
    assert len(error.value.lines) == 1
    assert "workload[1]: describes the table 'own' otherwise than workload[0] does" in error.value.lines[0]


def test_a_study_that_is_not_in_a_file_finds_what_is_shipped() -> None:
    spec = parse_study(study('name = "a"\nfile = "time-series"'))
    assert spec.workload[0].kind == "statements"
