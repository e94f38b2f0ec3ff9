"""`plimsoll ab` as a study: which sides the options describe, what is refused, and the study file that follows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.ab import SIDES_MAX, Load, Side, sides_of, study_text
from plimsoll.spec.server_options import OptionValue
from plimsoll.spec.study import StudySpec, parse_study

OLD, NEW = "/opt/mariadb-11.4/bin/mariadbd", "/opt/mariadb-11.8/bin/mariadbd"
Settings = list[dict[str, OptionValue]]


def load(limit_s: float = 120.0) -> Load:
    workload = {"name": "oltp_read_only", "kind": "oltp_read_only", "table_size": 1000}
    return Load(workload=workload, connections=8, limit_s=limit_s, equal_within=0.05, seed=1)


def spec_of(sides: tuple[Side, ...], limit_s: float = 120.0, **login: str) -> StudySpec:
    return parse_study(study_text(sides, load(limit_s), login, lambda _: "mariadb"))


@pytest.mark.parametrize(
    ("settings", "servers", "names"),
    [
        ([{"sync_binlog": 0}], [], ["default", "sync_binlog=0"]),
        ([{"sync_binlog": 0}], [NEW], ["default", "sync_binlog=0"]),
        ([{"sync_binlog": 0}, {"sync_binlog": 1}], [], ["sync_binlog=0", "sync_binlog=1"]),
        ([{}, {"log_bin": True}], [], ["default", "log_bin=true"]),
        ([{"a": 1, "b": 2}, {"a": 1, "b": 3}], [], ["b=2", "b=3"]),
        ([{"a": 1, "b": 2}, {"a": 1}, {"c": "x"}], [], ["a=1, b=2", "a=1", "c=x"]),
        ([], [OLD, NEW], ["mariadb-11.4", "mariadb-11.8"]),
        ([{"a": 1}], [OLD, NEW], ["mariadb-11.4", "mariadb-11.8"]),
        ([{"a": 1}, {"a": 2}], [OLD, NEW], ["mariadb-11.4, a=1", "mariadb-11.8, a=2"]),
        ([], ["mariadb", "mysql"], ["mariadb", "mysql"]),
        ([], ["mariadb", f"/lib/ld.so --library-path {'x' * 99} /opt/mysql/mysqld"], ["mariadb", "opt/mysql/mysqld"]),
        ([], ["/opt/mysqld", "/opt/mysqld --user=a"], ["/opt/mysqld", "/opt/mysqld --user=a"]),
        ([{"a": "x" * 101}, {"a": "y"}], [], ["side 1", "side 2"]),
    ],
)  # fmt: skip
def test_sides_are_named_by_what_differs(settings: Settings, servers: list[str], names: list[str]) -> None:
    assert [side.name for side in sides_of(settings, servers, [])] == names


def test_what_is_given_once_holds_for_all_sides() -> None:
    both = sides_of([{"sync_binlog": 0}], [OLD, NEW], [])
    assert [(dict(one.options), one.server) for one in both] == [({"sync_binlog": 0}, OLD), ({"sync_binlog": 0}, NEW)]
    default, changed = sides_of([{"sync_binlog": 0}], [NEW], [])
    assert (dict(default.options), default.server) == ({}, NEW)
    assert (dict(changed.options), changed.server) == ({"sync_binlog": 0}, NEW)


URL = "mysql://bench@{}/sbtest"


@pytest.mark.parametrize(
    ("settings", "servers", "targets", "fault"),
    [
        ([], [], [], "nothing to compare"),
        ([], ["mariadb"], [], "nothing to compare"),
        ([], [], [URL.format("old")], "nothing to compare"),
        ([{"a": 1}], [], [URL.format("old"), URL.format("new")], "--set: is for servers that Plimsoll starts"),
        ([], ["mysql"], [URL.format("old"), URL.format("new")], "--server: Plimsoll starts these"),
        ([{"a": 1}, {"a": 2}, {"a": 3}], [OLD, NEW], [], "--server: is given 2 times, for 3 sides"),
        ([{"a": 1}, {"a": 1}], [], [], "sides 1 and 2 are the same"),
        ([{"a": 1}, {"a": 2}, {"a": 1}], [], [], "sides 1 and 3 are the same"),
        ([], [NEW, NEW], [], "sides 1 and 2 are the same"),
        ([{"a": n} for n in range(SIDES_MAX + 1)], [], [], "at most 6 sides"),
        ([], [], ["http://x", URL.format("new")], "--target: "),
        (
            [],
            [],
            ["mysql://bench:hunter2@old/sbtest", "mysql://bench:hunter3@new/sbtest"],
            "holds a password; use --password-env",
        ),
    ],
)
def test_what_describes_no_two_sides_is_refused(
    settings: Settings, servers: list[str], targets: list[str], fault: str
) -> None:
    with pytest.raises(SpecError, match=fault) as refused:
        sides_of(settings, servers, targets)
    assert "hunter" not in str(refused.value)


def test_servers_that_plimsoll_starts_become_a_duet_until_decided() -> None:
    spec = spec_of(sides_of([{}, {"sql_mode": "ANSI,STRICT_ALL_TABLES"}], [NEW], []))
    study = spec.study
    assert study.is_duet
    assert study.is_until_decided
    assert (study.budget, study.equal_within, study.levels.connections) == (120.0, 0.05, (8,))
    default, changed = (one.server for one in spec.system)
    assert default is not None
    assert changed is not None
    assert (default.command, default.options) == ((NEW,), {})
    assert changed.options == {"sql_mode": "ANSI,STRICT_ALL_TABLES"}


def test_servers_that_run_already_are_measured_in_turn_and_their_rows_are_not_put_back() -> None:
    spec = spec_of(sides_of([], [], [URL.format("old"), URL.format("new")]), password_env="PW")
    assert not spec.study.is_duet
    assert spec.study.is_until_decided
    assert spec.study.reset == "never"
    assert [(one.name, one.target, one.password_env) for one in spec.system] == [
        ("old", URL.format("old"), "PW"),
        ("new", URL.format("new"), "PW"),
    ]


@pytest.mark.parametrize(("limit_s", "measured_s"), [(60.0, 6.0), (600.0, 6.0), (1200.0, 10.0), (86_400.0, 30.0)])
def test_rounds_are_longer_where_there_is_more_time_and_never_fewer_than_fit(limit_s: float, measured_s: float) -> None:
    study = spec_of(sides_of([{}, {"a_b": 1}], [], []), limit_s).study
    assert study.duration == measured_s
    assert study.repetitions_limit * (measured_s + 2) <= limit_s


def test_loads_are_compared_by_ramps_whose_steady_run_is_a_part_of_the_time() -> None:
    asked = replace(load(360.0), response_p99_s=0.05)
    study = parse_study(study_text(sides_of([{}, {"sync_binlog": 1}], [], []), asked, {}, lambda _: "mariadb")).study
    assert study.climbs
    assert study.levels.capacity is not None
    assert (study.levels.capacity.response_p99, study.duration, study.budget) == (0.05, 10.0, 360.0)
