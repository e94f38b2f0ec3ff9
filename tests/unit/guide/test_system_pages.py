"""A page for each system: systems that differ in one factor share it; options with what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.model import Analysis, Cover, SystemSummary
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.setup import setup_section
from plimsoll.guide.system_pages import MEANINGS, Option, shared_options, system_options, system_pages
from plimsoll.guide.tables import Table
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
    assert len({line.shape for line in page.lines}) == len(page.lines) == 4, "they are told apart in grey"
    assert len({line.colour for line in page.lines}) == len({line.dash for line in page.lines}) == 2
    assert page.lines[0].colour == "var(--series-6)", "the colour that the system has everywhere else"


def test_options_that_all_servers_have_are_told_once() -> None:
    shared, flush = {"innodb_buffer_pool_size": "268435456"}, "innodb_flush_log_at_trx_commit"
    systems = (server({**shared, flush: "1"}), server({**shared, flush: "2"}).model_copy(update={"name": "b"}))
    assert shared_options(systems) == {"innodb_buffer_pool_size": Option("268435456")}
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


def test_paths_and_ports_are_no_options() -> None:
    stated = {
        "datadir": "/data",
        "port": "3306",
        "pid_file": "x",
        "user": "root",
        "sync_binlog": "1",
    }
    assert list(system_options(server(stated))) == ["sync_binlog"]


def test_of_a_server_that_was_there_the_variables_count_that_somebody_set() -> None:
    instance = InstanceFacts(
        name="a", variables={"sync_binlog": "0", "autocommit": "ON"}, variables_set=("sync_binlog",)
    )
    system = SystemSummary(name="a", environment=Environment(instances=(instance,)))
    assert system_options(system) == {"sync_binlog": Option("0")}


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


SECRET = "kanarivogel"


def rows_of(table: Table | None) -> list[list[str]]:
    return [] if table is None else [[entry.text for entry in row] for row in table.rows]


def options_of_all(analysis: Analysis) -> list[list[str]]:
    return next(rows_of(table) for table in setup_section(analysis).tables if table.caption.startswith("Options"))


@pytest.mark.parametrize("name", ["report_password", "loose_report_password", "wsrep_sst_auth", "api_token"])
def test_no_value_of_a_secret_is_shown(name: str) -> None:
    stated = Environment(reported={name: SECRET}, reported_options={name: SECRET, "sync_binlog": "1"})
    systems = (
        server({name: SECRET}, variable_defaults={name: SECRET}),
        server({name: f"{SECRET} 2"}).model_copy(update={"name": "b", "factors": {name: SECRET, "size": "1"}}),
        SystemSummary(name="c", origin="imported-table", factors={name: f"{SECRET} 3", "size": "2"}),
        SystemSummary(name="d", origin="imported-table", environment=stated),
    )
    for some in (systems, systems[:1], systems[1:2], systems[3:], systems[1:3]):
        for analysis in (alone(*some), grouped_by(alone(*some), name)):
            for text in (render_html(analysis), render_markdown(analysis)):
                assert SECRET not in text
                assert "(left out)" in text


def test_the_name_of_a_stated_secret_stays() -> None:
    stated = Environment(reported_options={"report_password": SECRET, "sync_binlog": "1"})
    (page,) = system_pages(alone(SystemSummary(name="d", origin="imported-table", environment=stated)))
    assert page.name == "d"
    text = render_markdown(alone(SystemSummary(name="d", origin="imported-table", environment=stated)))
    assert "report_password = (left out), sync_binlog = 1" in text


def replicated(source: dict[str, str], *replicas: dict[str, str], name: str = "a") -> SystemSummary:
    instances = (
        *(
            InstanceFacts(name=f"r/{n}", role="replica", options=set_, variables=set_)
            for n, set_ in enumerate(replicas)
        ),
        InstanceFacts(name="a/0", options=source, variables=source),
    )
    return SystemSummary(name=name, environment=Environment(instances=instances))


def test_what_replicas_are_set_to_otherwise_stands_beside_the_value_of_the_source() -> None:
    source, replica = (
        {"sync_binlog": "1", "log_bin": "ON"},
        {"sync_binlog": "0", "log_bin": "1", "slow_query_log": "ON"},
    )
    assert [row[:2] for row in options_of_all(alone(replicated(source, replica, replica)))] == [
        ["log_bin", "ON"],
        ["slow_query_log", "not set; on replicas: ON"],
        ["sync_binlog", "1; on replicas: 0"],
    ]
    like, unlike = replicated(source, source), replicated(source, {"sync_binlog": "0"}, name="b")
    assert list(shared_options((like, unlike))) == []
    assert list(shared_options((like, replicated(source, name="b")))) == ["log_bin", "sync_binlog"]


def test_of_a_replica_that_nobody_asked_nothing_is_said() -> None:
    system = replicated({"sync_binlog": "1"}, {})
    assert system_options(system) == {"sync_binlog": Option("1")}


def test_sizes_are_compared_to_the_byte_and_shown_so() -> None:
    sizes = {"a": 1024 * 2**20, "b": 1028 * 2**20, "c": 2**30 + 1}
    systems = [
        server({"innodb_buffer_pool_size": str(size)}).model_copy(update={"name": name}) for name, size in sizes.items()
    ]
    assert shared_options(systems) == {}
    shown = [rows_of(page.options)[0][1] for page in system_pages(alone(*systems))]
    assert shown == ["1.00 GiB", "1,028 MiB", "1,073,741,825 B"]


def with_default(name: str, value: str, default: str) -> SystemSummary:
    system = server({"table_open_cache": value}, variable_defaults={"table_open_cache": default} if default else {})
    return system.model_copy(update={"name": f"db, {name}", "factors": {"version": name}})


@pytest.mark.parametrize(
    ("defaults", "shown"),
    [(("2000", "4000"), "10: 2000; 11: 4000"), (("2000", "2000"), "2000"), (("", "4000"), "4000")],
)
def test_a_shared_page_has_the_default_of_each_server(defaults: tuple[str, str], shown: str) -> None:
    systems = (with_default("10", "1", defaults[0]), with_default("11", "2", defaults[1]))
    (page,) = system_pages(grouped_by(alone(*systems), "version"))
    assert rows_of(page.options)[0][1:4] == ["1", "2", shown]


def of_factors(name: str, **factors: str) -> SystemSummary:
    return SystemSummary(name=name, factors=factors)


def pages_of(*systems: SystemSummary) -> list[tuple[str, tuple[str, ...]]]:
    return [(page.name, page.names) for page in system_pages(grouped_by(alone(*systems), "storage"))]


def test_systems_share_a_page_whatever_their_names_have_of_the_factor() -> None:
    fast, slow = (
        of_factors("db on NVMe", storage="nvme", target="h1"),
        of_factors("db on SAS", storage="sas", target="h2"),
    )
    assert pages_of(fast, slow) == [("db", ("db on NVMe", "db on SAS"))]
    (page,) = system_pages(grouped_by(alone(fast, slow), "storage"))
    assert page.differences is not None
    assert [column.heading for column in page.differences.columns] == ["", "nvme", "sas"]
    assert ["storage", "nvme", "sas"] in rows_of(page.differences)


def test_systems_of_a_study_with_one_factor_share_a_page() -> None:
    systems = [
        SystemSummary(name=f"db on {label}", factors={"data_dir": label}, factor_values={"storage": label})
        for label in ("NVMe", "SAS", "SAN")
    ]
    assert pages_of(*systems) == [("db", ("db on NVMe", "db on SAS", "db on SAN"))]


def test_a_page_of_names_with_nothing_in_common_is_called_by_the_other_factors() -> None:
    systems = [
        of_factors(name, storage=storage, memory=memory)
        for name, storage, memory in (("a", "nvme", "16"), ("b", "nvme", "32"), ("c", "sas", "16"), ("d", "sas", "32"))
    ]
    assert pages_of(*systems) == [("memory 16", ("a", "c")), ("memory 32", ("b", "d"))]


@pytest.mark.parametrize(
    "systems",
    [
        pytest.param((("db one", {"storage": "nvme"}), ("db two", {"storage": "nvme"})), id="same value"),
        pytest.param((("db one", {"storage": "nvme"}), ("db two", {})), id="without the factor"),
        pytest.param((("one", {"storage": "nvme"}), ("two", {"storage": "sas"})), id="nothing to call them by"),
        pytest.param(
            (("db one", {"storage": "nvme", "memory": "16"}), ("db two", {"storage": "sas", "memory": "32"})),
            id="another factor",
        ),
        pytest.param(
            (("db one", {"storage": "nvme"}), ("db two", {"storage": "sas"}), ("db", {"memory": "1"})), id="name taken"
        ),
    ],
)
def test_systems_that_differ_otherwise_keep_their_pages(systems: tuple[tuple[str, dict[str, str]], ...]) -> None:
    pages = pages_of(*(of_factors(name, **factors) for name, factors in systems))
    assert pages == [(name, (name,)) for name, _ in systems]


def test_hostile_options_stay_text() -> None:
    system = server({"sync_binlog": "</td><script>alert(1)</script>"}, variable_defaults={"sync_binlog": "<b>|"})
    analysis = alone(system)
    assert "<script>alert" not in render_html(analysis)
    assert "<b>" not in render_markdown(analysis)
