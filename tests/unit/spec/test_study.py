"""Study files: what is read, and that every fault is told at once with its path, value and cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.oltp import KINDS
from plimsoll.spec.study import parse_study, read_study
from support.faults import assert_refused, faults_of

GOOD = """
[study]
name = "s"
levels = { connections = [1, 2] }
duration = "1.5m"
reset = "per_trial"

[[workload]]
name = "rw"
kind = "oltp_read_write"

[[system]]
name = "a"
server = { managed = "mariadb", buffer_pool = "2G", options = { innodb_flush_log_at_trx_commit = 1 } }
"""


def test_a_study_file_is_read_with_units_and_defaults() -> None:
    spec = parse_study(GOOD)
    assert spec.study.duration == 90.0
    assert spec.study.warm_up is None
    assert spec.study.repetitions == 3
    assert spec.system[0].server is not None
    assert spec.system[0].server.buffer_pool == 2 * 2**30
    assert spec.workload[0].table_size == 10_000


def test_the_file_that_a_new_study_begins_with_is_right() -> None:
    import plimsoll.cli

    for name in ("new_study.toml", "demo_duet.toml", "demo_capacity.toml"):
        read_study(Path(plimsoll.cli.__file__).parent / name)


def test_five_faults_are_told_at_once() -> None:
    found = faults_of(
        parse_study,
        GOOD.replace("[1, 2]", "[1, -5]")
        .replace('"1.5m"', "90")
        .replace("oltp_read_write", "oltp_readwrite")
        .replace('"2G"', '"2Q"')
        .replace("reset", "rest"),
    )
    assert found == [
        "study.levels.connections[1]: must be > 0, is -5",
        'study.duration: must be text with a unit, such as "60s" or "auto", is 90',
        "study.rest: is not a known key; did you mean reset?",
        f"workload[0].kind: must be one of {', '.join(map(repr, KINDS[:-1]))} or {KINDS[-1]!r}, is 'oltp_readwrite'",
        "system[0].server.buffer_pool: must be a size such as 512M or 2G, is '2Q'",
    ]


def test_a_foreign_server_that_is_written_to_must_say_how_it_is_reset() -> None:
    text = GOOD.replace('reset = "per_trial"', "").split("server =", maxsplit=1)[0] + 'target = "mysql://u@h/d"\n'
    assert_refused("system[0].reset: a workload writes", parse_study, text)
    parse_study(text + 'reset = "never"\n')
    parse_study(text.replace("oltp_read_write", "oltp_read_only"))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("[1, 2]", "[1, 1]"), "study.levels.connections: 1 is there 2 times"),
        (("[1, 2]", "[]"), "study.levels.connections: must not be empty"),
        (("[1, 2]", "[1, 2], rate_tps = [5]"), "study.levels.connections: with rate_tps it must be one number"),
        (("[1, 2]", "[8], rate_tps = [5, 5.0]"), "study.levels.rate_tps: 5 is there 2 times"),
        (("[1, 2]", "[8], rate_tps = [0]"), "study.levels.rate_tps[0]: must be > 0"),
        (("[1, 2]", "[8], rate_tps = []"), "study.levels.rate_tps: must not be empty"),
        (("{ connections = [1, 2] }", "{ rate_tps = [5] }"), "study.levels.connections: is missing"),
        (('"1.5m"', '"0s"'), 'study.duration: must be at least "1s"'),
        (('name = "a"', 'name = "a\\u0007"'), "system[0].name: must not contain"),
        (
            ("[1, 2] }", '[64], rate_tps = [500] }\nclients = { think_time = "5s" }'),
            "study.clients.think_time: ",
        ),
        (
            ("[[system]]", '[[workload]]\nname = "ro"\nkind = "oltp_read_only"\ntable_size = 5\n[[system]]'),
            "workload[1].table_size: is 5, but 10000 in workload[0]",
        ),
    ],
)
def test_contradictions_have_a_cure(change: tuple[str, str], expected: str) -> None:
    assert_refused(expected, parse_study, GOOD.replace(*change))


def test_levels_may_be_rates_over_one_number_of_connections() -> None:
    levels = parse_study(GOOD.replace("[1, 2]", "[64], rate_tps = [500, 12.5]")).study.levels
    assert [(level.connections, level.rate_tps) for level in levels.levels] == [(64, 500.0), (64, 12.5)]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[study", b""])
def test_a_file_that_is_no_study_is_one_clear_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=r"x\.toml: "):
        read_study(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        read_study(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[1, 2]", "[100001]", "study.levels.connections[0]: must be <= 100000"),
        ('"1.5m"', f'"{"9" * 400}s"', "study.duration: must be at most a year"),
        ('"2G"', f'"{"9" * 400}G"', "system[0].server.buffer_pool: must be at most"),
        ('"2G"', f'"{"9" * 400}Q"', "system[0].server.buffer_pool: must be a size"),
        ("reset =", "repetitions = 1000000\nreset =", "study.repetitions: 2000000 trials follow"),
        ("reset =", f"seed = {'9' * 5000}\nreset =", "cannot be read"),
        ("reset =", f"x = {'[' * 5000}{']' * 5000}\nreset =", "nested too deeply"),
        ('kind = "oltp_read_write"', 'kind = "oltp_read_write"\ntable_size = 2147483648', "workload[0].table_size"),
        ('kind = "oltp_read_write"', 'kind = "oltp_read_write"\npoint_selects = -1', "workload[0].point_selects"),
        ('name = "a"', 'name = "a"\ncost_per_month = inf', "system[0].cost_per_month: must be a finite number"),
    ],
)
def test_sizes_that_nothing_could_hold_are_faults(old: str, new: str, fault: str) -> None:
    found = faults_of(parse_study, GOOD.replace(old, new, 1))
    assert len(found) == 1
    assert fault in found[0]
    assert len(found[0]) < 300


@pytest.mark.parametrize(
    ("target", "part"),
    [
        ('"mysql://u:hunter2@h/d"', "password_env"),
        ('["mysql://u:hunter2@h/d"]', "system[0].target: must be text"),
        ('{ url = "mysql://u:hun@ter2@h/d" }', "system[0].target: must be text"),
    ],
    ids=["in a URL", "in a list", "in a table"],
)
def test_a_password_in_a_study_file_is_refused_and_not_repeated(target: str, part: str) -> None:
    shown = "\n".join(faults_of(parse_study, GOOD.replace("server =", f"target = {target}\nserver =", 1)))
    assert part in shown
    assert "hun" not in shown
    assert "ter2" not in shown


def test_faults_are_values_with_a_path() -> None:
    """Whoever shows or places a fault reads its path, and no text."""
    wrong = GOOD.replace("[1, 2]", "[1, 0]").replace("buffer_pool", "bufer_pool")
    with pytest.raises(SpecError) as caught:
        parse_study(wrong)
    assert [fault.path for fault in caught.value.faults] == [
        ("study", "levels", "connections", 1),
        ("system", 0, "server", "bufer_pool"),
    ]
    assert caught.value.faults[1].reason == "is not a known key; did you mean buffer_pool?"
    assert str(caught.value) == "\n".join(caught.value.lines)
