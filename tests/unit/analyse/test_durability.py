"""The class of durability that a server's effective variables put it into, and what guides make of it."""

from __future__ import annotations

from importlib.resources import files

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.durability import durability_of, system_durability
from plimsoll.analyse.model import Analysis
from plimsoll.cli.demo import STUDIES
from plimsoll.guide.markdown import render_markdown
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.spec.study import parse_study
from support.made import measured
from support.told import answer_of

FULL = {
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_flush_log_at_timeout": "1",
    "innodb_doublewrite": "ON",
    "innodb_flush_method": "O_DIRECT",
    "log_bin": "ON",
    "sync_binlog": "1",
}
SECOND = "may lose the last second at power loss"
CRASH = "may lose the last second when the server crashes"
DAMAGED = "may be damaged by power loss"


@pytest.mark.parametrize(
    ("changes", "name", "causes"),
    [
        ({}, "durable", ()),
        ({"innodb_flush_log_at_trx_commit": "3"}, "durable", ()),
        ({"innodb_doublewrite": "DETECT_AND_RECOVER"}, "durable", ()),
        ({"log_bin": "OFF", "sync_binlog": "0"}, "durable", ()),
        ({"innodb_flush_log_at_timeout": "30"}, "durable", ()),
        ({"innodb_flush_log_at_trx_commit": "2"}, SECOND, ("innodb_flush_log_at_trx_commit = 2",)),
        ({"sync_binlog": "0"}, SECOND, ("sync_binlog = 0",)),
        ({"sync_binlog": "100"}, SECOND, ("sync_binlog = 100",)),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0"}, SECOND,
         ("innodb_flush_log_at_trx_commit = 2", "sync_binlog = 0")),
        ({"innodb_flush_log_at_trx_commit": "2", "innodb_flush_log_at_timeout": "5"},
         "may lose the last 5 seconds at power loss", ("innodb_flush_log_at_trx_commit = 2",)),
        ({"innodb_flush_log_at_trx_commit": "0"}, CRASH, ("innodb_flush_log_at_trx_commit = 0",)),
        ({"innodb_doublewrite": "OFF"}, DAMAGED, ("innodb_doublewrite = OFF",)),
        ({"innodb_doublewrite": "DETECT_ONLY"}, DAMAGED, ("innodb_doublewrite = DETECT_ONLY",)),
        ({"innodb_flush_method": "nosync"}, DAMAGED, ("innodb_flush_method = nosync",)),
        ({"innodb_doublewrite": "0", "innodb_flush_log_at_trx_commit": "0"}, DAMAGED,
         ("innodb_doublewrite = 0", "innodb_flush_log_at_trx_commit = 0")),
    ],
)  # fmt: skip
def test_a_class_by_name_with_what_causes_it(changes: dict[str, str], name: str, causes: tuple[str, ...]) -> None:
    found = durability_of(FULL | changes)
    assert found is not None
    assert (found.name, tuple(f"{what} = {value}" for what, value in found.causes)) == (name, causes)


def test_a_server_that_does_not_say_has_none() -> None:
    assert durability_of({}) is None
    assert system_durability([]) is None
    assert system_durability([FULL, {}]) is None


def test_a_system_is_as_durable_as_its_least_durable_server() -> None:
    relaxed = FULL | {"sync_binlog": "0"}
    assert system_durability([FULL, FULL | {"innodb_doublewrite": "OFF"}, relaxed]).name == DAMAGED  # type: ignore[union-attr]
    assert system_durability([relaxed, FULL]).name == SECOND  # type: ignore[union-attr]
    assert system_durability([FULL, FULL]).name == "durable"  # type: ignore[union-attr]


def two(kind: str, changes: dict[str, str], factors: dict[str, str]) -> Analysis:
    """A durable system and one with other settings, three repetitions each."""
    return analyse(
        "s",
        [
            measured(
                [tps + repetition] * 12,
                system=name,
                repetition=repetition,
                workload=kind,
                kind=kind,
                factors=own,
                environment=Environment(
                    host=HostFacts(name="h", cpu_cores=4), instances=(InstanceFacts(name="i", variables=said),)
                ),
            )
            for name, tps, own, said in (("safe", 1000.0, {}, FULL), ("fast", 2000.0, factors, FULL | changes))
            for repetition in range(3)
        ],
    )


RELAXED = {"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0"}


def test_the_answer_says_when_compared_systems_differ_in_durability() -> None:
    analysis = two("oltp_read_write", RELAXED, {"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0"})
    assert (
        "Durability differs: safe keeps every committed transaction; fast may lose the last second at power loss"
        " (innodb_flush_log_at_trx_commit = 2, sync_binlog = 0). A less durable system may gain write"
        " throughput at the cost of lost transactions."
    ) in answer_of(analysis)
    (peaks,) = (difference for difference in analysis.differences if difference.level is None)
    assert peaks.other_factors == (("durability", "durable", SECOND),), "two options, one factor"
    text = render_markdown(analysis)
    assert "- Durability: durable" in text
    assert (
        f"- Durability: {SECOND} (innodb\\_flush\\_log\\_at\\_trx\\_commit" in text or f"- Durability: {SECOND}" in text
    )


def test_a_setting_that_costs_no_durability_stays_a_factor_of_its_own() -> None:
    """Another way of flushing is faster or slower, and loses nothing."""
    changes = {"innodb_flush_log_at_trx_commit": "2", "innodb_flush_method": "fsync"}
    analysis = two("oltp_read_write", changes, changes)
    (peaks,) = (difference for difference in analysis.differences if difference.level is None)
    assert [name for name, *_ in peaks.other_factors] == ["durability", "innodb_flush_method"]


@pytest.mark.parametrize("changes", [{}, {"innodb_flush_log_at_trx_commit": "3"}, {"innodb_io_capacity": "9"}])
def test_settings_of_one_class_are_no_difference_in_durability(changes: dict[str, str]) -> None:
    assert not any("Durability" in text for text in answer_of(two("oltp_read_write", changes, dict(changes))))


@pytest.mark.parametrize("study", STUDIES)
def test_the_demo_compares_two_classes_of_durability(study: str) -> None:
    """What counts is what the servers do at a commit, of which one option is not all."""
    text = (files("plimsoll.cli") / f"demo_{study}.toml").read_text(encoding="utf-8")
    found = {}
    for system in parse_study(text).system:
        assert system.server is not None
        stated = {name: str(value) for name, value in system.server.options.items()}
        durability = durability_of(FULL | stated)
        assert durability is not None
        found[system.name] = (durability.name, len(durability.causes))
    assert found == {"durable": ("durable", 0), "relaxed": (SECOND, 2)}


def test_reads_have_nothing_to_lose() -> None:
    assert not any("Durability" in text for text in answer_of(two("oltp_read_only", RELAXED, RELAXED)))
