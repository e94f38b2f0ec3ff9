"""Replicas as a study file says them: faults at once, what a replica is, factors, ids."""

from __future__ import annotations

import pytest

from plimsoll.plan.build import build_plan
from plimsoll.spec.study import StudySpec, parse_study
from support.faults import assert_refused, faults_of

BEFORE = """
[study]
name = "s"
levels = { connections = [2] }
duration = "5s"
[[workload]]
name = "w"
kind = "oltp_read_only"
"""


def managed(keys: str, of_system: str = "") -> str:
    return f'{BEFORE}[[system]]\nname = "a"\n{of_system}\nserver = {{ {keys} }}\n'


def of_targets(*targets: tuple[str, str]) -> str:
    listed = ", ".join(f'{{ role = "{role}", url = "{url}" }}' for role, url in targets)
    return f'{BEFORE}[[system]]\nname = "a"\ntargets = [{listed}]\n'


def ids(text: str) -> list[str]:
    return [trial.trial_id for trial in build_plan(parse_study(text)).trials]


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ('managed = "mysql", replicas = 17', "system[0].server.replicas: "),
        ('managed = "mysql", replicas = 2, instances = 2', "system[0].server.replicas: instances divide the data"),
        ('managed = "mysql", replication = "semisync"', "system[0].server.replication: this server has no replicas"),
        ('managed = "mysql", replicas = 1, semisync_replicas = 1', "system[0].server.semisync_replicas: commits wait"),
        (
            'managed = "mysql", replicas = 1, replication = "semisync", semisync_replicas = 2',
            "system[0].server.semisync_replicas: is 2, and there are 1 replicas",
        ),
        (
            'managed = "mariadb", replicas = 2, replication = "semisync", semisync_replicas = 2',
            "system[0].server.semisync_replicas: MariaDB waits for one",
        ),
        ('managed = "mysql", replicas = 1, options = { skip-log-bin = true }', "system[0].server.options.skip_log_bin"),
        (
            'managed = "mysql", replicas = 1, replica = { options = { server_id = 3 } }',
            "system[0].server.replica.options.server_id: Plimsoll sets it",
        ),
        (
            'managed = "mysql", replicas = 1, replica = { options = { datadir = "/x" } }',
            "system[0].server.replica.options.datadir: is set by Plimsoll",
        ),
        ('managed = "mysql", replicas = 2, replica = { cpus = "1-3" }', "system[0].server.replica.cpus: 3 CPUs cannot"),
        (
            'managed = "mysql", replicas = 3, replica = { cpu_count = [1, 1] }',
            "system[0].server.replica.cpu_count: has 2 entries for 3 replicas",
        ),
        ('managed = "mysql", replicas = 1, cpus = "0"', "system[0].server.replica.cpus: the source has CPUs"),
        ('managed = "mysql", replicas = 1, replica = { cpu = 1 }', "system[0].server.replica.cpu: is not a known key"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(keys: str, fault: str) -> None:
    assert_refused(fault, parse_study, managed(keys))


def test_reads_need_replicas_and_another_host_has_none() -> None:
    assert faults_of(parse_study, managed('managed = "mysql"', 'reads = "source"')) == [
        "system[0].reads: this system has no replicas; leave it out"
    ]
    found = faults_of(parse_study, managed('managed = "mysql", replicas = 1', 'host = { ssh = "db2" }'))
    assert [line.split(":")[0] for line in found] == ["system[0].server.replicas"]


@pytest.mark.parametrize(
    ("targets", "fault"),
    [
        ((("source", "mysql://u@a/d"),), "system[0].targets: has no replica"),
        ((("replica", "mysql://u@a/d"), ("replica", "mysql://u@b/d")), "system[0].targets: must have exactly one"),
        ((("source", "mysql://u@a/d"), ("replica", "mysql://u@a/e")), "system[0].targets[1].url: is the server of"),
        ((("source", "mysql://u@a/d"), ("replica", "mysql://u:p@b/d")), "system[0].targets[1].url: holds a password"),
        ((("source", "http://a"), ("replica", "mysql://u@b/d")), "system[0].targets[0].url: must begin with mysql://"),
        ((("source", "mysql://u@a/d"), ("slave", "mysql://u@b/d")), "system[0].targets[1].role: "),
    ],
)
def test_targets_by_role_are_one_source_and_its_replicas(targets: tuple[tuple[str, str], ...], fault: str) -> None:
    assert_refused(fault, parse_study, of_targets(*targets))


def test_a_replica_is_as_its_source_unless_it_is_said_otherwise() -> None:
    text = managed(
        'managed = "mysql", replicas = 2, buffer_pool = "64M", memory_limit = "1G", options = { sync_binlog = 0 },'
        ' replica = { buffer_pool = "32M", options = { innodb-flush-log-at-trx-commit = 2 } }'
    )
    (server,) = (system.server for system in parse_study(text).system)
    assert server is not None
    each = server.each_replica
    assert (each.buffer_pool, each.memory_limit, each.replicas) == (32 * 2**20, 2**30, 0)
    assert each.options == {"sync_binlog": 0, "innodb_flush_log_at_trx_commit": 2}


def test_ids_know_replicas_and_reads_only_where_there_are_some() -> None:
    plain, none = ids(managed('managed = "mysql"')), ids(managed('managed = "mysql", replicas = 0'))
    assert plain == none
    one, semisync = (
        ids(managed(f'managed = "mysql", replicas = 1{more}')) for more in ("", ', replication = "semisync"')
    )
    on_source = ids(managed('managed = "mysql", replicas = 1', 'reads = "source"'))
    assert len({plain[0], one[0], semisync[0], on_source[0]}) == 4


def test_replicas_and_reads_are_factors() -> None:
    text = managed('managed = "mysql"') + (
        '[factors]\n"server.replicas" = [0, 1, 2]\n'
        'reads = { source = "source", waits = { read_your_writes = "wait" } }\n'
    )
    spec: StudySpec = parse_study(text)
    assert [system.replicas for system in spec.system] == [0, 0, 1, 1, 2, 2]
    assert [None if one.reads is None else one.reads.read_your_writes for one in spec.system][-2:] == [None, "wait"]


def test_a_duet_has_no_replicas() -> None:
    text = managed('managed = "mysql", replicas = 1').replace('name = "s"', 'name = "s"\ndesign = "duet"')
    assert any("replicas would apply" in line for line in faults_of(parse_study, text))
