"""Which tests of failover make sense."""

from __future__ import annotations

import pytest

from plimsoll.spec.fault_tests import FailoverFault, FailoverSpec, Replication


def spec(replicas: int, replication: Replication, semisync_replicas: int) -> FailoverSpec:
    return FailoverSpec(
        fault=FailoverFault.KILL, replicas=replicas, replication=replication, semisync_replicas=semisync_replicas,
        replication_delay_s=0, faults=1, connections=1, load_s=1, seed=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("replicas", "replication", "acknowledging", "faults", "faults_of_mariadb"),
    [
        (1, Replication.ASYNC, 1, 0, 0),
        (2, Replication.SEMISYNC, 2, 0, 1),
        (1, Replication.SEMISYNC, 2, 1, 2),
        (2, Replication.ASYNC, 2, 1, 2),
    ],
)
def test_replicas_that_acknowledge_must_be_there(
    replicas: int, replication: Replication, acknowledging: int, faults: int, faults_of_mariadb: int
) -> None:
    found = spec(replicas, replication, acknowledging)
    assert len(found.faults_found(is_mariadb=False)) == faults
    assert len(found.faults_found(is_mariadb=True)) == faults_of_mariadb
    assert found.acknowledging == (acknowledging if replication is Replication.SEMISYNC else 0)
