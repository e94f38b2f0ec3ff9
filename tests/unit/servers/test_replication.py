"""Replication without servers: options of each family, versions, and what a replica's status means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.errors import TargetError
from plimsoll.servers.option_file import Flavour, FlavourName, InstancePaths, MachineSizes, Profile, make_option_file
from plimsoll.servers.replication.links import dialect
from plimsoll.servers.replication.model import ReplicaStatus, place_of
from plimsoll.spec.target import parse_target

MARIADB = Flavour(FlavourName.MARIADB, (10, 11, 14))
MYSQL = Flavour(FlavourName.MYSQL, (9, 7, 0))
RUNNING = ReplicaStatus(
    source_host="127.0.0.1", source_port=3306, source_id="1", receiver="Yes", applier="Yes", uses_gtids=True
)


@pytest.mark.parametrize("flavour", [MARIADB, MYSQL])
def test_every_profile_gets_a_binary_log(flavour: Flavour) -> None:
    folder = Path("/somewhere")
    paths = InstancePaths(
        data_dir=folder, socket=folder / "s", pid_file=folder / "p", temporary_dir=folder / "t", port=1
    )
    for profile in Profile:
        file = make_option_file(
            flavour=flavour,
            profile=profile,
            paths=paths,
            machine=MachineSizes(memory_bytes=2**30),
            derived=dialect(flavour).options(7, is_semisync=True),
        )
        lines = file.text.splitlines()
        assert "server_id=7" in lines
        assert "log_bin=binlog" in lines
        assert not any(line.startswith("skip_log_bin") for line in lines)


def test_an_old_mysql_is_refused() -> None:
    with pytest.raises(TargetError, match=r"replicas need MySQL 8\.0\.26 or later, this is 5\.7\.44"):
        dialect(Flavour(FlavourName.MYSQL, (5, 7, 44)))


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (RUNNING, None),
        (replace(RUNNING, receiver="Connecting"), "it is not connected to its source"),
        (replace(RUNNING, applier="No"), "its applier does not run"),
        (
            replace(RUNNING, applier="No", error_code=1062, error="Duplicate entry"),
            "its applier stopped: error 1062: Duplicate entry",
        ),
        (
            replace(RUNNING, receiver="No", error_code=1236, error="purged"),
            "it cannot receive from its source: error 1236: purged",
        ),
    ],
)
def test_a_status_says_what_is_wrong(status: ReplicaStatus, fault: str | None) -> None:
    assert status.fault == fault


def test_a_relay_stands_in_for_a_source() -> None:
    source = parse_target("mysql://u@10.0.0.1:3307/d")
    assert (place_of(source).host, place_of(source).port) == ("10.0.0.1", 3307)
    assert (place_of(source, port=4000).host, place_of(source, port=4000).port) == ("127.0.0.1", 4000)
