"""Keys about files: what they stand for, what contradicts them, and that ids of trials without them stay."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.plan.build import build_plan
from plimsoll.plan.disk import DiskPart, disk_parts
from plimsoll.spec.study import StudySpec, parse_study

STUDY = """
[study]
name = "x"
levels = {{ connections = [1] }}
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "s"
server = {{ managed = "{flavour}"{more} }}
"""


def study(more: str = "", flavour: str = "mariadb") -> StudySpec:
    return parse_study(STUDY.format(more=f", {more}" if more else "", flavour=flavour))


def fault(more: str, flavour: str = "mariadb") -> str:
    with pytest.raises(SpecError) as caught:
        study(more, flavour)
    return str(caught.value)


def test_what_was_written_tells_systems_apart() -> None:
    server = study('redo_dir = "/fast", pool_ratio = 0.05, start = "cold", huge_pages = true').system[0].server
    assert server is not None
    assert server.file_factors == {"redo_dir": "/fast", "huge_pages": "true", "pool_ratio": "0.05", "start": "cold"}
    assert server.folders == ("/fast",)
    assert server.options_that_follow == {
        "large_pages": True,
        "innodb_flush_method": "O_DIRECT",
        "innodb_buffer_pool_dump_at_shutdown": False,
        "innodb_buffer_pool_load_at_startup": False,
    }


@pytest.mark.parametrize(
    ("written", "character_set"),
    [('collation = "latin1_bin"', "latin1"), ('character_set = "utf8mb4", collation = "utf8mb4_bin"', "utf8mb4")],
)
def test_a_collation_names_its_character_set(written: str, character_set: str) -> None:
    server = study(written).system[0].server
    assert server is not None
    assert server.options_that_follow["character_set_server"] == character_set


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('pool_ratio = 0.1, buffer_pool = "1G"', "server.pool_ratio: buffer_pool says the size already"),
        ("pool_ratio = 0", "server.pool_ratio: must be > 0"),
        ('start = "lukewarm"', "server.start: must be one of"),
        ("distinct_devices = true", "server.distinct_devices: there is one path only"),
        ('binlog_dir = "/b", profile = "bare"', "server.binlog_dir: this server writes no binary log"),
        ('binlog_dir = "/b", options = { skip_log_bin = true }', "server.binlog_dir: this server writes no"),
        ('binlog_dir = "/b", profile = "server-defaults"', "server.binlog_dir: this server writes no binary log"),
        ("table_options = \"COMMENT='x'\"", "server.table_options: must not hold COMMENT"),
        ('table_options = "ENGINE=MyISAM"', "server.table_options: must not hold COMMENT"),
        ('table_options = "x; DROP TABLE t"', "server.table_options: must be of the form"),
        ('collation = "binary"', "server.collation: 'binary' names no character set"),
        ("huge_pages = true, options = { large_pages = true }", "server.options.large_pages: follows from a key"),
        ('log_dir = "/x"', "server.log_dir: is not a known key; did you mean binlog_dir?"),
    ],
)
def test_contradictions(written: str, told: str) -> None:
    assert told in fault(written)


def test_mysql_writes_a_binary_log_by_default() -> None:
    assert study('binlog_dir = "/b", profile = "server-defaults"', "mysql").system[0].server is not None


def ids(more: str) -> list[str]:
    return [trial.trial_id for trial in build_plan(study(more)).trials]


def test_ids_follow_from_what_is_measured() -> None:

    assert ids('redo_dir = "/a"') == ids('redo_dir = "/a", distinct_devices = true')
    assert len({tuple(ids(more)) for more in ("", 'redo_dir = "/a"', 'redo_dir = "/b"', 'start = "cold"')}) == 4
    assert ids("")[0] == "s-w-c1-r0-c0ba745139", "as it was before there were such keys"


@pytest.mark.parametrize(
    ("written", "of_files"),
    [
        ("start = 'cold'", ""),
        ('character_set = "latin1"', "CHARACTER SET latin1"),
        ('collation = "latin1_bin"', "CHARACTER SET latin1 COLLATE latin1_bin"),
        ('options = { character-set-server = "latin1" }', "CHARACTER SET latin1"),
        ('character_set = "latin1", table_options = "DEFAULT  CHARACTER  SET utf8mb4"', ""),
    ],
)
def test_tables_of_workload_files_have_the_character_set_that_was_stated(written: str, of_files: str) -> None:
    server = study(written).system[0].server
    assert server is not None
    assert server.made_with(server.server_options).of_files == of_files
    assert server.made_with(server.server_options).every == server.table_options


DASHED = 'profile = "bare", options = { Log-Bin = true, innodb-log-file-size = "1G" }'


def test_options_have_one_spelling_and_ids_the_written_one() -> None:
    server = study(DASHED).system[0].server
    assert server is not None
    assert server.server_options == {"log_bin": True, "innodb_log_file_size": "1G"}
    plain = 'profile = "bare", options = { log_bin = true, innodb_log_file_size = "1G" }'
    assert [part.what for part in parts(DASHED)] == [part.what for part in parts(plain)]
    assert [part.size_bytes for part in parts(DASHED)] == [part.size_bytes for part in parts(plain)]
    assert ids("options = { innodb-flush-log-at-trx-commit = 2 }")[0] == "s-w-c1-r0-ceca330da5", "recordings have it"


def parts(more: str) -> list[DiskPart]:
    spec = study(more)
    return [*disk_parts(spec, spec.system[0], None)]


def test_wrong_options_of_a_matrix_are_told_where_they_stand() -> None:
    text = STUDY.format(more=', options = { datadir = "/x" }', flavour="mariadb")
    text += '[factors]\n"server.buffer_pool" = ["1G", "2G"]\n'
    with pytest.raises(SpecError) as caught:
        parse_study(text)
    assert [fault.path for fault in caught.value.faults] == [("system", 0, "server", "options", "datadir")]
