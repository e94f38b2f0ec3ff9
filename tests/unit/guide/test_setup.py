"""What lets somebody else repeat a study: environment, options, statements, and the study file without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.model import StudyFile, WorkloadSummary
from plimsoll.analyse.study.workloads import WorkloadStatement, statements_of
from plimsoll.guide.build import study_file, without_secrets
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.setup import repeat_section, setup_section
from plimsoll.guide.tables import Table
from plimsoll.record.environment import Environment
from plimsoll.record.model import StatementRecord, WorkloadRecord
from plimsoll.spec.study import parse_study
from plimsoll.spec.workloads import reader
from support.analyses import measured_analysis
from support.published import imported_analysis
from support.repository import ROOT

STUDIES = sorted(
    path
    for path in (ROOT / "examples").glob("*.toml")
    if "[study]" in (text := path.read_text(encoding="utf-8")) and "hooks" not in text
)

WITH_SECRETS = """
# kanarivogel in a remark
[study]
name = "s"
levels = { connections = [1] }
reset = "never"
hooks = { switch = "./switch.sh -pkanarivogel" }

[[workload]]
name = "w"
kind = "oltp_read_only"

[environment.vm]
check = ["./check.sh", "kanarivogel"]

[[system]]
name = "a"
target = "mysql://bench:kanarivogel@db1/sbtest"
password_env = "BENCH_PASSWORD"
exporters = ["http://u:kanarivogel@db1:9100/metrics", "https://kanarivogel@db1/metrics"]
parameters = { api_token = "kanarivogel", instance_class = "large", dsn = "app:kanarivogel@tcp(db1)/x", hooks = 3 }
hooks = { start = ["./vm.sh", "--password", "kanarivogel"], stop = { command = "./vm.sh kanarivogel", limit = "5min" } }

[[system]]
name = "b"
[system.server]
managed = "mariadb"
command = ["env", "MYSQL_PWD=kanarivogel", "mysqld"]
[system.server.options]
report_password = "kanarivogel"
loose-wsrep_sst_auth = "u:kanarivogel"
sync_binlog = 1
innodb_ft_min_token_size = 2

[[workload]]
name = "hooks"
file = "w.toml"
rows = { hooks = 1000, password_resets = 5 }
"""


def rows_of(table: Table) -> list[list[str]]:
    return [[entry.text for entry in row] for row in table.rows]


def tables_of(tables: tuple[Table, ...]) -> dict[str, list[list[str]]]:
    return {table.caption: rows_of(table) for table in tables}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_file_that_is_written_again_says_the_same(path: Path) -> None:
    read = reader(path.parent)
    text = path.read_text(encoding="utf-8")
    assert parse_study(without_secrets(text), read) == parse_study(text, read)


def test_a_study_file_keeps_its_dates() -> None:
    text = 'study = { name = "a" }\n[[system]]\ncost = { per_month = 1.5, date = 2026-11-01 }\n'
    assert "cost = { per_month = 1.5, date = 2026-11-01 }" in without_secrets(text)


def test_no_secret_is_left_and_what_is_none_is() -> None:
    text = without_secrets(WITH_SECRETS)
    assert "kanarivogel" not in text
    for kept in (
        "BENCH_PASSWORD",
        '"large"',
        '"5min"',
        "./vm.sh",
        "./check.sh",
        "sync_binlog = 1",
        "mysql://bench:…@db1/sbtest",
        "app:…@tcp(db1)/x",
        "mysqld",
        "innodb_ft_min_token_size = 2",
        "hooks = 3",
        "hooks = 1_000, password_resets = 5",
    ):
        assert kept in text, kept


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("repetitions = 4", "4"),
        ('repetitions = "auto"\nrepetitions_limit = 9\nbudget = "1h"', "until decided, at most 9 repetitions"),
        ('design = "duet"\nrounds = 7\nturn = "500ms"', "7 rounds, turns of 0.5 s"),
    ],
)
def test_how_often_is_told_as_it_was_asked(keys: str, words: str, tmp_path: Path) -> None:
    text = f"""
[study]
name = "s"
levels = {{ connections = [1] }}
warm_up = "1500ms"
duration = "90.5s"
{keys}
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
server = {{ managed = "mariadb" }}
[[system]]
name = "b"
server = {{ managed = "mariadb" }}
"""
    (tmp_path / "study.toml").write_text(text)
    options = study_file(tmp_path, parse_study(text)).options
    assert (options["repetitions"], options["warm-up"], options["measured"]) == (words, "1.5 s", "90.5 s")


def test_the_study_file_stands_in_the_guide_with_its_command() -> None:
    file = StudyFile(options={"seed": "7"}, text='[study]\nname = "</pre><script>alert(1)</script> ```"\n')
    analysis = measured_analysis().model_copy(update={"study_file": file})
    section = repeat_section(analysis)
    assert section is not None
    assert "plimsoll study run study.toml" in " ".join(section.notes)
    assert ["seed", "7"] in tables_of(setup_section(analysis).tables)["How trials ran"]
    assert "<script>alert" not in render_html(analysis)
    markdown = render_markdown(analysis)
    assert "````\n[study]" in markdown
    assert "None." not in markdown.split("## To repeat this study")[1].split("\n## ")[0]


def test_an_import_has_nothing_to_run_again() -> None:
    analysis = imported_analysis()
    assert repeat_section(analysis) is None
    assert tables_of(setup_section(analysis).tables)["How trials ran"][0] == [
        "levels",
        "1, 2, 4, 8, 16, 32, 64 and 128 connections",
    ]


def test_that_nothing_is_known_is_said_only_where_no_system_states_anything() -> None:
    analysis = imported_analysis()
    assert "say nothing about the machines" in " ".join(setup_section(analysis).notes)
    first, *others = analysis.systems
    stated = first.model_copy(update={"environment": Environment(reported={"chassis": "c7000"})})
    known = analysis.model_copy(update={"systems": (stated, *others)})
    assert setup_section(known).notes == ()


def test_statements_have_a_row_each_and_a_column_for_each_workload() -> None:
    select = WorkloadStatement(name="point_selects", sql="SELECT c", times="10")
    update = WorkloadStatement(name="transfer", sql="UPDATE t")
    workloads = (
        WorkloadSummary(name="reads", statements=(select,)),
        WorkloadSummary(name="both", statements=(select, update)),
    )
    analysis = measured_analysis().model_copy(update={"workloads": workloads, "curves": ()})
    assert tables_of(setup_section(analysis).tables)["Statements, and how often a transaction has them"] == [
        ["point_selects", "10", "10", "SELECT c"],
        ["transfer", "–", "yes", "UPDATE t"],
    ]


def test_of_very_many_statements_the_first_are_shown() -> None:
    statements = tuple(WorkloadStatement(name=f"s{number}", sql="SELECT 1") for number in range(1_200))
    workload = WorkloadSummary(name="w", statements=statements)
    (table,) = setup_section(imported_analysis().model_copy(update={"workloads": (workload,), "curves": ()})).tables
    assert len(table.rows) == 60
    assert "first 60 of 1,200" in table.notes[-1]


def test_statements_of_a_built_in_workload_are_those_that_the_engine_sent() -> None:
    sent = [
        StatementRecord(transaction="payment", sql="SELECT 1"),
        StatementRecord(transaction="delivery", sql="SELECT 2", times=10),
        StatementRecord(transaction="payment", sql="COMMIT"),
    ]
    assert [tuple(each.model_dump().values()) for each in statements_of(WorkloadRecord(name="w"), sent)] == [
        ("payment", "SELECT 1", None),
        ("delivery", "SELECT 2", "10"),
        ("payment", "COMMIT", None),
    ]


def test_statements_of_a_workload_file_are_its_own() -> None:
    text = """
[[transaction]]
name = "look"
[[transaction.statement]]
sql = "SELECT 1"
repeat = [1, 5]
[[transaction.statement]]
sql = "SELECT 2"
"""
    statements = statements_of(WorkloadRecord(name="w", kind="statements", options={"definition": text}), [])
    assert [(statement.name, statement.sql, statement.times) for statement in statements] == [
        ("look, 1", "SELECT 1", "1 to 5"),
        ("look, 2", "SELECT 2", "1"),
    ]


@pytest.mark.parametrize("text", ["", "no toml", "[[transaction]]\nname = 1", "a" * 20_000_000])
def test_a_recorded_file_that_cannot_be_read_gives_no_statements(text: str) -> None:
    assert statements_of(WorkloadRecord(name="w", options={"definition": text}), []) == ()
