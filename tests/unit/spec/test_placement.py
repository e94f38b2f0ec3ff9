"""What servers may use of a machine, as written: keys, contradictions, parts of instances, and ids that stay."""

from __future__ import annotations

import pytest

from plimsoll.plan.build import build_plan
from plimsoll.spec.placement import Placement, Share, format_cpus, parse_cpus, share_of
from plimsoll.spec.study import StudySpec, parse_study
from support.faults import faults_of

TEXT = """
[study]
name = "s"
levels = { connections = [4] }
duration = "10s"
%s
[[workload]]
name = "ro"
kind = "oltp_read_only"
tables = 4
[[system]]
name = "a"
server = { managed = "mariadb"%s }
"""


def spec_of(server: str, study: str = "") -> StudySpec:
    return parse_study(TEXT % (study, f", {server}"))


@pytest.mark.parametrize(("text", "cpus"), [("0", (0,)), ("0-2,5", (0, 1, 2, 5)), ("5, 1-2 ,2", (1, 2, 5))])
def test_lists_of_cpus_are_those_of_the_kernel(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpus(text) == cpus
    assert parse_cpus(format_cpus(cpus)) == cpus


@pytest.mark.parametrize("text", ["", "a", "3-1", "-1", "0,,1", "99999", "0-99999999999", "٣"])
def test_what_is_no_list_of_cpus_is_refused(text: str) -> None:
    (fault,) = faults_of(spec_of, f'cpus = "{text}"')
    assert fault.startswith("system[0].server.cpus: must be a list of CPU numbers such as")


@pytest.mark.parametrize(
    ("server", "fault"),
    [
        ("cpus = 3", "cpus: must be a list of CPU numbers such as"),
        ('cpus = "0-1", cpu_count = 2', "cpu_count: cpus says which CPUs already"),
        ("cpu_count = 0", "cpu_count: must be > 0, is 0"),
        ("cpu_count = 3, instances = 2", "cpu_count: 3 CPUs cannot be divided among 2 instances; take a multiple of 2"),
        ('cpus = "9", instances = 2', "cpus: 1 CPU cannot be divided among 2 instances; take a multiple of 2"),
        ('cpus = "0-2", instances = 2', "cpus: 3 CPUs cannot be divided among 2 instances"),
        ("cpu_quota = 0.0", "cpu_quota: must be > 0"),
        ("cpu_quota = 0.01, instances = 2", "cpu_quota: must be at least 0.01 CPUs for each instance, is 0.005"),
        ('cpu_quota = 1.5, scheduling = "fifo:1"', "cpu_quota: does not limit fifo:1"),
        ('nice = 3, scheduling = "rr:1"', "nice: has no effect with scheduling rr:1"),
        ("nice = 20", "nice: must be <= 19"),
        ('scheduling = "fifo"', 'scheduling: must be "other", "batch", "idle", "fifo:N" or "rr:N"'),
        ('scheduling = "fifo:100"', "scheduling: must be"),
        ('scheduling = "rr:0"', "scheduling: must be"),
        ('memory_limit = "1M"', "memory_limit: must be at least 64.0 MiB, is 1.00 MiB"),
        (
            'memory_limit = "1G", buffer_pool = "1G"',
            "memory_limit: is 1.00 GiB, and the buffer pool alone takes 1.00 GiB",
        ),
        ("io_limits = { }", "io_limits: says no limit"),
        ("io_limits = { read_bsp = 1 }", "io_limits.read_bsp: is not a known key; did you mean read_bps?"),
        ("io_limits = { write_iops = 1 }, instances = 2", "io_limits.write_iops: must be at least 2"),
    ],
)
def test_each_fault_has_its_place_value_and_cure(server: str, fault: str) -> None:
    (found,) = faults_of(spec_of, server)
    assert found.startswith(f"system[0].server.{fault}")


def test_all_faults_are_told_at_once() -> None:
    assert len(faults_of(spec_of, 'cpus = "x", nice = 99, scheduling = "now"', 'client = { cpus = "y" }')) == 4


def test_limits_are_divided_among_instances() -> None:
    written = Placement.model_validate(
        {"cpu_quota": 3.0, "memory_limit": "1G", "io_limits": {"read_bps": "3M", "write_iops": 500}}
    )
    limits = (("read_bps", 2**20 * 3 // 2), ("write_iops", 250))
    assert share_of(written, 2) == Share(cpu_quota=1.5, memory_limit_bytes=2**29, io_limits=limits)


def trial_id(server: str = "", study: str = "") -> str:
    return build_plan(parse_study(TEXT % (study, server))).trials[0].trial_id


def test_a_trials_id_changes_only_when_a_key_is_given() -> None:
    """The first id is from before these keys existed."""
    assert trial_id() == "a-ro-c4-r0-655d89d1d3"
    ids = [
        trial_id(),
        trial_id(', cpus = "0"'),
        trial_id(', cpus = "0-1"'),
        trial_id(", cpu_count = 1"),
        trial_id(", nice = 0"),
        trial_id(', scheduling = "batch"'),
        trial_id(", io_limits = { read_iops = 1 }"),
        trial_id(study='client = { cpus = "0" }'),
    ]
    assert len(set(ids)) == len(ids)
    assert trial_id(', cpus = "0,1"') == trial_id(', cpus = "0-1"')


def test_what_was_given_is_a_factor() -> None:
    written = Placement.model_validate(
        {"cpus": "1,0", "memory_limit": "1G", "io_limits": {"read_bps": "3M"}, "nice": 0}
    )
    assert written.placement_factors() == {
        "cpus": "0-1",
        "memory_limit_bytes": str(2**30),
        "nice": "0",
        "read_per_s_bytes": str(3 * 2**20),
    }
    assert Placement().placement_factors() == {}
