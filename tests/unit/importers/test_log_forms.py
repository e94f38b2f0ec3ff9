"""Logs as people keep them: in folders, packed, in UTF-16, with something before each line."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.importers.log_places import LogOptions
from plimsoll.importers.sysbench import import_sysbench
from plimsoll.importers.text_files import read_bounded, without_prefix
from plimsoll.importers.tpcc import import_tpcc
from plimsoll.importers.trials import ImportedTrial, ImportResult
from support.kit_logs import TPCC_MYSQL
from support.sysbench_logs import HISTOGRAM, LOG_0_4, LOG_1_0, with_histogram

LOG = with_histogram(LOG_1_0)


def bring_in(*paths: Path) -> ImportResult:
    return import_sysbench(paths, study_name="s", options=LogOptions(system="db1", workload="mix"))


def content(trial: ImportedTrial) -> object:
    assert trial.intervals is not None
    assert trial.histograms is not None
    return trial.outcome.reported, trial.intervals.rows(), trial.histograms.rows()


def prefixed(prefix: str) -> str:
    return "".join(f"{prefix}{line}" for line in LOG.splitlines(keepends=True))


@pytest.mark.parametrize(
    "form",
    [
        gzip.compress(LOG.encode()),
        gzip.compress(LOG[:500].encode()) + gzip.compress(LOG[500:].encode()),
        LOG.encode("utf-16"),
        LOG.replace("\n", "\r\n").encode("utf-16"),
        b"\xfe\xff" + LOG.encode("utf-16-be"),
        LOG.encode("utf-8-sig"),
        gzip.compress(LOG.encode("utf-16")),
        prefixed("sysbench-1  | ").encode(),
        prefixed("\x1b[36msysbench-1  |\x1b[0m ").encode(),
        prefixed("bench_sysbench.run_1  | 2026-01-31T12:00:00.123456789Z ").encode(),
        prefixed("2026-01-31 12:00:00,123 ").encode(),
        prefixed("[2026-01-31 12:00:00+01:00] ").encode(),
        prefixed("Jan 31 12:00:00 ").encode(),
        prefixed("Jan  1 12:00:00 host-1 sysbench[12345]: ").encode(),
        prefixed("[12:00:00] ").encode(),
        prefixed("12:00:00.5 ").encode(),
    ],
)
def test_a_log_means_the_same_in_any_form(form: bytes, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text(LOG)
    (tmp_path / "form").write_bytes(form)
    (plain,), (other,) = bring_in(tmp_path / "plain").trials, bring_in(tmp_path / "form").trials
    assert content(other) == content(plain)
    assert bring_in(tmp_path / "form").skipped == ()


def test_packing_and_encoding_make_no_other_trial(tmp_path: Path) -> None:
    """The same run that is imported again in another form adds nothing."""
    forms = {"a": LOG.encode(), "b": gzip.compress(LOG.encode()), "c": LOG.encode("utf-16")}
    for name, form in forms.items():
        (tmp_path / name).write_bytes(form)
    assert len({bring_in(tmp_path / name).trials[0].trial.trial_id for name in forms}) == 1


@pytest.mark.parametrize("line", [line for line in (HISTOGRAM + LOG + LOG_0_4 + TPCC_MYSQL).splitlines() if line])
def test_what_a_log_itself_says_is_no_prefix(line: str) -> None:
    assert without_prefix(line.strip()) == line.strip()


def test_a_bucket_without_stars_is_no_prefix() -> None:
    assert without_prefix("0.473 |                                         1").startswith("0.473 |")


def test_kits_are_read_behind_prefixes_too(tmp_path: Path) -> None:
    lines = TPCC_MYSQL.splitlines(keepends=True)
    (tmp_path / "a.log").write_text("".join(f"tpcc-1 | {line}" for line in lines))
    (trial,) = import_tpcc([tmp_path / "a.log"], study_name="s", options=LogOptions(system="db1")).trials
    (tmp_path / "b.log").write_text(TPCC_MYSQL)
    (plain,) = import_tpcc([tmp_path / "b.log"], study_name="s", options=LogOptions(system="db1")).trials
    assert trial.outcome == plain.outcome


@pytest.mark.parametrize("damage", [lambda packed: packed[:-9], lambda packed: packed[:12] + b"\xff" * 40])
def test_a_damaged_archive_is_told(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(damage(gzip.compress(LOG.encode())))
    with pytest.raises(SpecError, match=r"a\.gz: cannot be unpacked: the gzip file is damaged"):
        bring_in(tmp_path / "a.gz")


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(2**26)))
    with pytest.raises(SpecError, match="is larger than 32 MiB"):
        read_bounded(tmp_path / "bomb.gz", 2**25)


class TestFolders:
    def test_files_below_are_read_in_the_order_of_their_names(self, tmp_path: Path) -> None:
        for number, name in enumerate(("b/16.log", "a/8.log", "a/deep/4.log", ".git/1.log", "a/.hidden")):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{LOG}{number}\n")
        (tmp_path / "loop").symlink_to(tmp_path)
        found = import_sysbench(
            [tmp_path], study_name="s", options=LogOptions(pattern="{system}/{any}.log", workload="w")
        )
        assert [trial.trial.system.name for trial in found.trials] == ["a", "deep", "b"]

    def test_what_is_no_log_is_skipped_by_name(self, tmp_path: Path) -> None:
        (tmp_path / "1.log").write_text(LOG)
        (tmp_path / "README").write_text("results of May\n")
        (tmp_path / "big.bin").write_bytes(bytes(2**25 + 1))
        os.mkfifo(tmp_path / "pipe")
        found = bring_in(tmp_path)
        assert len(found.trials) == 1
        assert {(Path(one.log).name, one.reason) for one in found.refused} == {
            ("README", "holds no run of sysbench"),
            ("big.bin", "is larger than 32 MiB. Cut the file into several."),
        }

    def test_faults_of_all_arguments_are_told_at_once(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(SpecError) as caught:
            bring_in(tmp_path / "empty", tmp_path / "none.log")
        assert [fault.split(": ")[1] for fault in caught.value.lines] == [
            "holds 0 files, must be 1 to 100,000. Name a folder of logs",
            "cannot be read",
        ]
