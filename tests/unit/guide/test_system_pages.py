"""A page for each system: systems that differ in one factor share it; options with what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.model import Analysis, Cover, SystemSummary
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.system_pages import MEANINGS, shared_options, system_options, system_pages
from plimsoll.record.environment import Environment, InstanceFacts
from plimsoll.servers.option_file import (
    GIB,
    Flavour,
    FlavourName,
    InstancePaths,
    MachineSizes,
    Profile,
    make_option_file,
)
from support.analyses import measured_analysis
from support.published import SAN, SAS, imported_analysis


def grouped_by(analysis: Analysis, factor: str) -> Analysis:
    return analysis.model_copy(update={"document": Cover(group_by=factor)})


def server(options: dict[str, str], **facts: object) -> SystemSummary:
    instance = InstanceFacts(name="a/0", options=options, variables=options, **facts)
    return SystemSummary(name="a", environment=Environment(instances=(instance,)))


def alone(*systems: SystemSummary) -> Analysis:
    """Systems of which nothing but their environments is known."""
    return Analysis(plimsoll_version="0.1.0", study="s", answer=(), limits=(), systems=systems, workloads=(), curves=())


def test_systems_that_differ_in_the_factor_share_a_page_with_a_column_for_each_value() -> None:
    pages = system_pages(grouped_by(imported_analysis(), "storage"))
    assert [page.name for page in pages] == ["BL460c", "BL465c", "BL480c", "BL685c"]
    assert pages[0].names == (f"BL460c, {SAS}", f"BL460c, {SAN}")
    (levels,) = pages[0].levels
    assert list(dict.fromkeys(column.group for column in levels.columns if column.group)) == [
        "oltp complex read/write, internal SAS",
        "oltp complex read/write, Fibre Channel SAN",
        "oltp complex read-only, internal SAS",
        "oltp complex read-only, Fibre Channel SAN",
    ]
    assert [entry.text for entry in levels.rows[0]] == ["1", "624", "1.00", "610", "1.00", "794", "1.00", "809", "1.00"]
    assert pages[0].differences is not None
    assert [[entry.text for entry in row] for row in pages[0].differences.rows] == [["storage", SAS, SAN]]


@pytest.mark.parametrize("factor", ["", "no such factor"])
def test_else_each_system_has_its_page(factor: str) -> None:
    analysis = imported_analysis()
    pages = system_pages(grouped_by(analysis, factor))
    assert [page.name for page in pages] == [system.name for system in analysis.systems]
    assert all(page.differences is None and len(page.levels) == 1 for page in pages)


def test_a_table_that_would_be_too_wide_is_one_for_each_system() -> None:
    analysis = measured_analysis()
    systems = [system.model_copy(update={"factors": {"flush": system.name}}) for system in analysis.systems]
    (page,) = system_pages(grouped_by(analysis.model_copy(update={"systems": tuple(systems)}), "flush"))
    assert page.name == analysis.study
    assert [table.caption for table in page.levels] == ["durable", "relaxed"]


def test_a_page_has_one_chart_with_a_line_for_each_workload_and_value() -> None:
    page = system_pages(grouped_by(imported_analysis(), "storage"))[3]
    assert len(page.charts) == 1
    looks = [(line.colour, line.shape) for line in page.lines]
    assert len(set(looks)) == len(page.lines) == 4
    assert len({colour for colour, _ in looks}) == len({shape for _, shape in looks}) == 2
    assert page.lines[0].colour == "var(--series-6)", "the colour that the system has everywhere else"


def test_options_that_all_servers_have_are_told_once() -> None:
    shared, flush = {"innodb_buffer_pool_size": "268435456"}, "innodb_flush_log_at_trx_commit"
    systems = (server({**shared, flush: "1"}), server({**shared, flush: "2"}).model_copy(update={"name": "b"}))
    assert shared_options(systems) == {"innodb_buffer_pool_size": ("256 MiB", "")}
    analysis = alone(*systems)
    tables = [page.options for page in system_pages(analysis)]
    assert [[entry.text for entry in row] for table in tables if table for row in table.rows] == [
        [flush, "1", MEANINGS[flush]],
        [flush, "2", MEANINGS[flush]],
    ]


def test_a_default_stands_where_the_server_said_it() -> None:
    system = server(
        {"innodb_log_file_size": "268435456", "sort_buffer_size": "1"},
        variable_defaults={"innodb_log_file_size": "100663296"},
    )
    (page,) = system_pages(alone(system))
    assert page.options is None, "of a single system they stand in the test environment"
    text = render_markdown(alone(system))
    assert "| innodb_log_file_size | 256 MiB | 96.0 MiB | size of each redo log file" in text
    assert "| sort_buffer_size | 1 |  |  |" in text, "nothing is said of an option that nobody described"


def test_paths_ports_and_passwords_are_no_options() -> None:
    stated = {
        "datadir": "/data",
        "port": "3306",
        "pid_file": "x",
        "user": "root",
        "report_password": "x",
        "sync_binlog": "1",
    }
    assert list(system_options(server(stated))) == ["sync_binlog"]


def test_of_a_server_that_was_there_the_variables_count_that_somebody_set() -> None:
    instance = InstanceFacts(
        name="a", variables={"sync_binlog": "0", "autocommit": "ON"}, variables_set=("sync_binlog",)
    )
    system = SystemSummary(name="a", environment=Environment(instances=(instance,)))
    assert system_options(system) == {"sync_binlog": ("0", "")}


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(
    "flavour",
    [Flavour(FlavourName.MARIADB, (10, 11, 0)), Flavour(FlavourName.MYSQL, (9, 0, 0))],
    ids=["mariadb", "mysql"],
)
def test_every_option_of_the_profiles_has_a_meaning(profile: Profile, flavour: Flavour, tmp_path: Path) -> None:
    paths = InstancePaths(
        data_dir=tmp_path, socket=tmp_path / "s", pid_file=tmp_path / "p", temporary_dir=tmp_path / "t", port=3306
    )
    file = make_option_file(
        flavour=flavour, profile=profile, paths=paths, machine=MachineSizes(memory_bytes=8 * GIB), buffer_pool_bytes=GIB
    )
    assert not system_options(server(file.options)).keys() - MEANINGS.keys()


def test_hostile_options_stay_text() -> None:
    system = server({"sync_binlog": "</td><script>alert(1)</script>"}, variable_defaults={"sync_binlog": "<b>|"})
    analysis = alone(system)
    assert "<script>alert" not in render_html(analysis)
    assert "<b>" not in render_markdown(analysis)
