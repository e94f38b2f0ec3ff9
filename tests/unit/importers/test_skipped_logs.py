"""Logs that an import passes over are named in the study's guide, until they are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError, RecordError
from plimsoll.guide.build import analyse_folder
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.trials import SKIPPED_FILE, SkippedLog, keep_skipped, missing_logs, write_import
from support.sysbench_logs import LOG_1_0

AT_A_RATE = LOG_1_0.replace("Number of threads: 4\n", "Number of threads: 4\nTarget transaction rate: 50/sec\n")
WHY = "the run was at a rate (--rate), whose log does not say when transactions were due: not imported"


def bring_in(study: Path, *paths: Path) -> None:
    options = LogOptions(system="db1", workload="mix")
    write_import(study, import_sysbench(paths, study_name="s", options=options))


def test_the_guide_names_what_was_skipped(tmp_path: Path) -> None:
    good, rate, other = (tmp_path / name for name in ("good.log", "rate.log", "notes.txt"))
    good.write_text(LOG_1_0)
    rate.write_text(f"{LOG_1_0}once more\n{AT_A_RATE}")
    other.write_text("nothing\n")
    study = tmp_path / "study"
    bring_in(study, good, rate, other)
    line = len(LOG_1_0.splitlines()) + 2
    assert [(one.trial_id, one.reason) for one in analyse_folder(study).missing] == [
        (f"{other}", "skipped: holds no run of sysbench"),
        (f"{rate}: line {line}", f"skipped: {WHY}"),
    ]
    bring_in(study, good)
    assert len(analyse_folder(study).missing) == 2
    other.write_text(f"{LOG_1_0}twice more\n")
    bring_in(study, other)
    assert [one.trial_id for one in analyse_folder(study).missing] == [f"{rate}: line {line}"]


def test_an_import_that_skips_nothing_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "good.log").write_text(LOG_1_0)
    bring_in(tmp_path / "study", tmp_path / "good.log")
    assert not (tmp_path / "study" / SKIPPED_FILE).exists()


@pytest.mark.parametrize("text", ["", "{", '{"skipped": [{"log": 1}]}', '{"more": 1}'])
def test_a_damaged_list_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / SKIPPED_FILE).write_text(text)
    with pytest.raises(RecordError, match="is damaged; remove it"):
        missing_logs(tmp_path)


def test_a_link_in_the_place_of_the_file_being_written_is_not_followed(tmp_path: Path) -> None:
    others, study, log = tmp_path / "others.txt", tmp_path / "study", tmp_path / "rate.log"
    others.write_text("mine")
    log.write_text(AT_A_RATE)
    study.mkdir()
    (study / f".{SKIPPED_FILE}.partial").symlink_to(others)
    with pytest.raises(HostError, match="cannot be written"):
        keep_skipped(study, [log], [SkippedLog.of(log, WHY)])
    assert others.read_text() == "mine"
