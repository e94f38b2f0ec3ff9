"""`[factors]` of a study file: which systems follow, and that every fault is told with its place in the file."""

from __future__ import annotations

import pytest

from plimsoll.errors import Fault
from plimsoll.plan.build import build_plan
from plimsoll.spec.factors import placed, varied
from plimsoll.spec.study import StudySpec, parse_study
from support.faults import faults_of

STUDY = """
[study]
name = "s"
levels = { connections = [1, 2] }
duration = "10s"
reset = "per_trial"

[[workload]]
name = "rw"
kind = "oltp_read_write"
"""
BASE = """
[[system]]
name = "MariaDB"
server = { managed = "mariadb", options = { sync_binlog = 1 } }
"""
THREADS = "server.options.innodb_thread_concurrency = [0, 64]"
PROFILE = 'server.profile = ["production", "bare"]'


def spec_of(*factors: str, base: str = BASE) -> StudySpec:
    return parse_study("\n".join([STUDY, "[factors]", *factors, base]))


def test_three_lines_make_four_systems_that_say_their_factors() -> None:
    spec = spec_of(THREADS, PROFILE)
    assert [system.name for system in spec.system] == [
        "MariaDB, innodb_thread_concurrency 0, profile production",
        "MariaDB, innodb_thread_concurrency 0, profile bare",
        "MariaDB, innodb_thread_concurrency 64, profile production",
        "MariaDB, innodb_thread_concurrency 64, profile bare",
    ]
    servers = [system.server for system in spec.system]
    assert [(server.options, server.profile) for server in servers if server] == [
        ({"sync_binlog": 1, "innodb_thread_concurrency": threads}, profile)
        for threads in (0, 64)
        for profile in ("production", "bare")
    ]
    assert varied(spec) == {"innodb_thread_concurrency": ("0", "64"), "profile": ("production", "bare")}


@pytest.mark.parametrize(
    "written",
    [
        '"server.options.innodb_thread_concurrency" = [0, 64]',
        "server.options = { innodb_thread_concurrency = [0, 64] }",
        "server = { options = { innodb_thread_concurrency = [0, 64] } }",
    ],
)
def test_a_path_may_be_written_as_toml_allows(written: str) -> None:
    assert spec_of(written) == spec_of(THREADS)


@pytest.mark.parametrize(
    "written",
    [
        "server.buffer_pool = { small = '1G', large = '4G' }",
        "'server.buffer_pool'.small = '1G'\n'server.buffer_pool'.large = '4G'",
    ],
)
def test_values_may_have_names(written: str) -> None:
    spec = spec_of(written)
    assert [system.name for system in spec.system] == ["MariaDB, small", "MariaDB, large"]
    assert [system.server.buffer_pool for system in spec.system if system.server] == [2**30, 4 * 2**30]


def test_several_base_systems_are_a_factor_themselves() -> None:
    second = '\n[[system]]\nname = "MySQL"\nserver = { managed = "mysql" }\n'
    spec = spec_of(THREADS, base=BASE + second)
    assert varied(spec)["system"] == ("MariaDB", "MySQL")
    assert len(spec.system) == 4


def test_factors_with_the_same_last_part_are_told_apart() -> None:
    spec = spec_of("server.options.innodb_io_capacity = [100, 200]", 'server.data_dir = ["/a", "/b"]')
    assert list(varied(spec)) == ["innodb_io_capacity", "data_dir"]


@pytest.mark.parametrize(
    ("combinations", "expected"),
    [
        (
            '[{ innodb_thread_concurrency = 0, profile = "bare" }, { innodb_thread_concurrency = 64, profile ='
            ' "production" }]',
            [("0", "bare"), ("64", "production")],
        ),
        (
            '[{ innodb_thread_concurrency = 64 }, { "server.profile" = "bare", server.options.innodb_thread_concurrency'
            " = 0 }]",
            [("64", "production"), ("64", "bare"), ("0", "bare")],
        ),
    ],
)
def test_only_listed_combinations_become_systems(combinations: str, expected: list[tuple[str, str]]) -> None:
    spec = spec_of(THREADS, PROFILE, f"combinations = {combinations}")
    assert [tuple(system.factor_values.values()) for system in spec.system] == expected


def test_threads_by_scheduling_are_four_systems() -> None:
    spec = spec_of(THREADS, 'server.scheduling = ["other", "fifo:10"]')
    assert [system.server.scheduling for system in spec.system if system.server] == ["other", "fifo:10"] * 2


def test_what_is_found_wrong_before_the_start_is_told_where_it_stands() -> None:
    """Systems are numbered as they were expanded; the file knows factors and base systems only."""
    spec = spec_of(THREADS, 'server.cpus = ["0", "99"]')
    said = {"cpus": "CPU 99 is not there", "x": "y"}
    faults = [Fault(("system", index, "server", key), reason) for index in (1, 3) for key, reason in said.items()]
    assert placed([Fault((), "no space"), *faults], [system.origin for system in spec.system]) == (
        Fault((), "no space"),
        Fault(("factors", "server", "cpus", 1), "CPU 99 is not there"),
        Fault(("system", 0, "server", "x"), "y"),
    )


TARGET = '[[system]]\nname = "t"\ntarget = "mysql://u@h:3306/d"\nreset = "never"\n'


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        (BASE.replace("sync_binlog = 1", "datadir = '/x'"), "system[0].server.options.datadir: is set by Plimsoll"),
        (BASE + "origin = { a = 'b' }", "system[0].origin: is not a known key"),
        (TARGET, "system[0]: has no server that Plimsoll starts; factors of a target are its parameters"),
    ],
    ids=["an option of Plimsoll's", "what the matrix says of a system", "a target has no factors of a server"],
)
def test_what_is_wrong_with_the_base_is_told_once_at_its_place(base: str, expected: str) -> None:
    (fault,) = faults_of(spec_of, THREADS, base=base)
    assert fault.startswith(expected)


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        (["server.options.x = [0]"], ["factors.server.options.x: must have at least two values, has 1; a single one"]),
        (["server.options.x = [0, 0]"], ["factors.server.options.x: has the value '0' 2 times; keep one"]),
        (["server.options.x = 5"], ["factors.server.options.x: must be a list of values such as [0, 64], is 5"]),
        (["target = ['a', 'b']"], ["factors.target: must be the path of a key of server"]),
        (["server.options.sync_binlog = [0, 1]"], ["system[0].server.options.sync_binlog: is a factor; remove it"]),
        (["server.options.sync-binlog = [0, 2]"], ["system[0].server.options.sync-binlog: is a factor; remove it"]),
        ([], ["factors: must name at least one"]),
        (
            [THREADS, 'server.profile = ["production", "fast"]', "server.buffer_pool = [1, '1G']"],
            [
                'factors.server.buffer_pool[0]: must be text with a unit, such as "2G", is 1',
                "factors.server.profile[1]: must be one of 'production', 'server-defaults' or 'bare', is 'fast'",
            ],
        ),
        ([THREADS, 'server.scheduling = ["other", "fifo:100"]'], ["factors.server.scheduling[1]: "]),
        (
            [THREADS, "server.bufer_pool = ['1G', '2G']"],
            ["factors.server.bufer_pool: is not a known key; did you mean buffer_pool?"],
        ),
        (
            ['server.options.x = ["ON", true, 1, "1G", 1073741824]'],
            [
                "factors: the systems 'MariaDB, x ON' and 'MariaDB, x on' have equal settings",
                "factors: the systems 'MariaDB, x ON' and 'MariaDB, x 1' have equal settings",
                "factors: the systems 'MariaDB, x 1G' and 'MariaDB, x 1073741824' have equal settings",
            ],
        ),
        (
            [THREADS, PROFILE, "combinations = [{ innodb_thread_concurrency = 1 }, { profil = 'bare' }, 3]"],
            [
                "factors.combinations[0].innodb_thread_concurrency: is 1, but the values of this factor are 0, 64",
                "factors.combinations[1].profil: is not a factor; did you mean profile?",
                "factors.combinations[2]: must be a table such as",
            ],
        ),
        (
            [THREADS, PROFILE, "combinations = [{ profile = 'bare' }, { innodb_thread_concurrency = 0 }]"],
            ["factors.combinations[1]: innodb_thread_concurrency 0, profile bare is in factors.combinations[0]"],
        ),
        (
            [THREADS, PROFILE, "combinations = [{ profile = 'bare' }]"],
            ["factors.server.profile[0]: no combination has the value production"],
        ),
        ([THREADS, "combinations = []"], ["factors.combinations: must be a list of tables"]),
        (
            [f"server.options.{name} = {list(range(8))}" for name in "abc"],
            ["factors: 512 systems follow from them, at most 200 can be compared"],
        ),
        (
            [f"server.options.{'long' * 20}{name} = [1, 2]" for name in "ab"],
            ["factors: the name of a system would be"],
        ),
    ],
)
def test_what_is_wrong_with_factors_is_told(factors: list[str], expected: list[str]) -> None:
    found = faults_of(spec_of, *factors)
    assert len(found) == len(expected), found
    assert all(one.startswith(start) for one, start in zip(found, expected, strict=True)), found


def test_faults_of_factors_and_of_the_rest_are_told_together() -> None:
    found = faults_of(parse_study, STUDY.replace('"10s"', "10") + "[factors]\nserver.options.x = [0]\n" + BASE)
    assert [line.split(":")[0] for line in found] == ["factors.server.options.x", "study.duration"]


def test_parameters_of_a_target_can_be_factors() -> None:
    spec = parse_study(STUDY + "[factors]\nparameters.flush = [1, 2]\n" + TARGET)
    assert [(one.name, one.parameters, one.factor_values) for one in spec.system] == [
        ("t, flush 1", {"flush": 1}, {"flush": "1"}),
        ("t, flush 2", {"flush": 2}, {"flush": "2"}),
    ]


def test_systems_that_are_written_out_have_the_ids_that_a_matrix_gives_them() -> None:
    """So a matrix can take the place of systems that were written out before, and the other way round."""
    named = "\n".join(
        f'[[system]]\nname = "MariaDB, sync_binlog {value}"\n'
        f'server = {{ managed = "mariadb", options = {{ sync_binlog = {value} }} }}'
        for value in (0, 1)
    )
    base = BASE.replace(", options = { sync_binlog = 1 }", "")
    by_hand, by_matrix = parse_study(STUDY + named), spec_of("server.options.sync_binlog = [0, 1]", base=base)
    assert [trial.trial_id for trial in build_plan(by_hand).trials] == [
        trial.trial_id for trial in build_plan(by_matrix).trials
    ]


def test_two_equal_systems_that_are_written_out_are_allowed() -> None:
    """An A/A study shows how often the machine alone makes a difference."""
    assert len(parse_study(STUDY + BASE + BASE.replace("MariaDB", "again")).system) == 2
