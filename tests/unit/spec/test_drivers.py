"""Drivers as users write them, and what they change about a study's trials."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.plan.build import build_plan
from plimsoll.spec.drivers import ONE_HERE, DriverSpec, driver_names, parse_drivers
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [4, 8] }
reset = "never"
DRIVERS
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
target = "mysql://bench@db1/sbtest"
"""
DUET_OF_MANAGED = """
[study]
name = "s"
levels = { connections = [4] }
design = "duet"
DRIVERS
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
server = { managed = "mariadb" }
[[system]]
name = "b"
server = { managed = "mariadb", options = { innodb_flush_log_at_trx_commit = 2 } }
"""


def drivers(line: str, study: str = STUDY) -> tuple[DriverSpec, ...]:
    return parse_study(study.replace("DRIVERS", line)).study.drivers


def test_a_name_is_a_host_and_local_is_this_machine() -> None:
    assert drivers("") == ONE_HERE
    assert drivers('drivers = ["local"]') == ONE_HERE
    assert drivers('drivers = ["load1", { ssh = "bench@load2" }, "local"]') == (
        DriverSpec(ssh="load1"), DriverSpec(ssh="bench@load2"), DriverSpec(),
    )  # fmt: skip


def test_names_are_unique() -> None:
    found = driver_names((DriverSpec(), DriverSpec(ssh="load1"), DriverSpec(), DriverSpec(ssh="load2")))
    assert found == ("local#1", "load1", "local#2", "load2")


@pytest.mark.parametrize("name", ["", "-oProxyCommand=x", "a b", "a;b", "a$b", "x" * 300, "a\\nb"])
def test_what_is_no_host_never_reaches_ssh(name: str) -> None:
    with pytest.raises(SpecError, match=r"study\.drivers\[0\].*must be a host such as"):
        drivers(f'drivers = ["{name}"]')


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("drivers = []", "study.drivers"),
        ('drivers = [{ host = "load1" }]', r"study\.drivers\[0\]\.host: .*ssh"),
        ('drivers = ["a", "b", "c", "d", "e"]', "5 drivers need at least as many connections to each server of a"),
    ],
)
def test_what_cannot_be_is_refused(line: str, fault: str) -> None:
    with pytest.raises(SpecError, match=fault):
        drivers(line)


def test_a_ray_cluster_takes_the_place_of_the_list() -> None:
    found = drivers('drivers = { ray = "auto", count = 3 }')
    assert found == (DriverSpec(ray="auto"),) * 3
    assert driver_names(found) == ("ray#1", "ray#2", "ray#3")
    assert drivers('drivers = { ray = "ray://[fd00::5]:10001", count = 1 }') == (
        DriverSpec(ray="ray://[fd00::5]:10001"),
    )


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('drivers = { ray = "auto" }', r"study\.drivers\.count: is missing"),
        ('drivers = { ray = "auto", count = 0 }', r"study\.drivers\.count: must be > 0, is 0"),
        ('drivers = { ray = "auto", count = 257 }', r"study\.drivers\.count: must be <= 256, is 257"),
        ('drivers = { ray = "auto", counts = 2 }', r"study\.drivers\.counts: is not a known key; did you mean count\?"),
        ('drivers = { ssh = "a", count = 2 }', r"study\.drivers\.ray: is missing"),
        ('drivers = { ray = "10.0.0.1:6379", count = 2 }', r'study\.drivers\.ray: must be "auto" or such as "ray://'),
        ('drivers = { ray = "ray://u:p@head", count = 2 }', r'study\.drivers\.ray: must be "auto" or such as "ray://'),
        ('drivers = ["local", { ray = "auto", count = 2 }]', r"study\.drivers\[1\]: a Ray cluster takes the place of"),
        ('drivers = { ray = "auto", count = 5 }', "5 drivers need at least as many connections to each server of a"),
    ],
)
def test_what_is_no_ray_cluster_is_refused(line: str, fault: str) -> None:
    with pytest.raises(SpecError, match=fault):
        drivers(line)


def test_a_duet_has_one_driver_here() -> None:
    for line in ('drivers = ["local", "local"]', 'drivers = ["load1"]', 'drivers = { ray = "auto", count = 1 }'):
        with pytest.raises(SpecError, match=r"study\.drivers: a duet hands over"):
            drivers(line, DUET_OF_MANAGED)
    assert drivers('drivers = ["local"]', DUET_OF_MANAGED) == ONE_HERE


def test_a_server_on_this_machine_is_out_of_reach_for_drivers_elsewhere() -> None:
    managed = STUDY.replace('target = "mysql://bench@db1/sbtest"', 'server = { managed = "mariadb" }')
    with pytest.raises(SpecError, match=r"system\[0\]\.server: .* load1 cannot reach it"):
        drivers('drivers = ["local", "load1"]', managed)
    with pytest.raises(SpecError, match=r"system\[0\]\.server: .* a node of a Ray cluster cannot reach it"):
        drivers('drivers = { ray = "auto", count = 2 }', managed)
    assert len(drivers('drivers = ["local", "local"]', managed)) == 2


def test_a_server_on_another_host_is_within_reach_of_drivers_elsewhere() -> None:
    there = 'host = { ssh = "db2" }\nserver = { managed = "mariadb" }'
    remote = STUDY.replace('target = "mysql://bench@db1/sbtest"', there)
    assert len(drivers('drivers = ["load1", "local"]', remote)) == 2
    with pytest.raises(SpecError, match=r"system\[0\]\.server: .* public key.* and load1 needs it"):
        drivers('drivers = ["load1"]', remote.replace("mariadb", "mysql"))


def test_as_an_option() -> None:
    assert parse_drivers("local, load1") == (DriverSpec(), DriverSpec(ssh="load1"))
    with pytest.raises(SpecError, match="must be a host"):
        parse_drivers("load1,")
    with pytest.raises(SpecError, match="'ray:auto' is no host; write a Ray cluster into a study file: drivers = "):
        parse_drivers("ray:auto")


def ids(line: str) -> list[str]:
    return [trial.trial_id for trial in build_plan(parse_study(STUDY.replace("DRIVERS", line))).trials]


def test_only_another_number_of_drivers_makes_other_trials() -> None:
    assert ids("") == ids('drivers = ["local"]') == ids('drivers = ["load1"]')
    assert ids('drivers = ["load1", "load2"]') == ids('drivers = ["local", "local"]')
    assert ids('drivers = ["load1", "load2"]') == ids('drivers = { ray = "auto", count = 2 }')
    assert not set(ids("")) & set(ids('drivers = ["load1", "load2"]'))
