"""Trials of one system that were measured on different things are no repetitions of each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.environments import changes
from plimsoll.guide.words import evidence_sentence
from plimsoll.prose.phrases import words_of_changes as told
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from plimsoll.record.model import State, StateMark, SystemRecord
from support.made import Made, measured
from support.told import evidence_of

STEADY = [100.0, 102.0, 98.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0]
FAST = [3 * rate for rate in STEADY]


def environment(version: str = "10.11.6", kernel: str | None = "6.1.0", **variables: str) -> Environment:
    storage = StorageFacts(path="/data/x", file_system="ext4", device="vda", free_bytes=1, flush_ms_median=1.0)
    return Environment(
        host=HostFacts(name="db1", kernel=kernel, memory_bytes=2**34),
        instances=(InstanceFacts(name="a/0", version=version, variables=variables, storage=storage),),
        client=ClientFacts(engine_version="0.1.0", on_server_host=True),
    )


BASE = environment(innodb_io_capacity="4000", port="3306")


def at(unix_s: float, where: Environment, rates_tps: list[float], *, repetition: int, **more: object) -> Made:
    states = (StateMark(state=State.MEASURE, began_unix_s=unix_s),)
    return measured(rates_tps, environment=where, repetition=repetition, states=states, **more)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (environment(version="10.11.7", innodb_io_capacity="4000"), "version of a/0 from 10.11.6 to 10.11.7"),
        (environment(kernel="6.5.0", innodb_io_capacity="4000"), "kernel from 6.1.0 to 6.5.0"),
        (environment(innodb_io_capacity="1000"), "innodb_io_capacity from 4000 to 1000"),
        (BASE.model_copy(update={"client": ClientFacts(engine_version="0.2.0")}), "load engine from 0.1.0 to 0.2.0"),
        (BASE.model_copy(update={"host": HostFacts(memory_bytes=2**33)}), "memory from 16.0 GiB to 8.0 GiB"),
        (BASE.model_copy(update={"instances": BASE.instances * 2}), "instances from 1 to 2"),
    ],
)
def test_what_changed_is_named(after: Environment, expected: str) -> None:
    assert told(changes(BASE, after)) == expected


def test_storage_counts_and_its_free_space_does_not() -> None:
    (instance,) = BASE.instances
    assert instance.storage is not None
    moved = instance.storage.model_copy(update={"path": "/data/y", "free_bytes": 9, "flush_ms_median": 0.2})
    same = BASE.model_copy(update={"instances": (instance.model_copy(update={"storage": moved}),)})
    assert changes(BASE, same) == ()
    other = moved.model_copy(update={"device": "sdb"})
    found = changes(BASE, BASE.model_copy(update={"instances": (instance.model_copy(update={"storage": other}),)}))
    assert told(found) == "device from vda to sdb"


def test_what_each_start_brings_and_what_is_unknown_is_no_change() -> None:
    assert changes(BASE, environment(innodb_io_capacity="4000", port="3307")) == ()
    assert changes(BASE, environment(kernel=None, innodb_io_capacity="4000")) == ()
    assert changes(BASE, Environment()) == changes(Environment(), BASE) == ()
    assert changes(environment(log_bin="ON"), environment(log_bin="1")) == ()


def test_many_changes_are_counted_and_long_values_cut() -> None:
    names = [f"variable_{index}" for index in range(9)]
    found = changes(environment(**dict.fromkeys(names, "1")), environment(**dict.fromkeys(names, "x" * 200)))
    assert told(found).endswith(" and 5 more")
    assert max(map(len, told(found).split(", "))) < 100


def test_trials_of_unlike_environments_are_not_pooled() -> None:
    other = environment(version="11.4.2", innodb_io_capacity="1000")
    trials = [at(10.0 * n, BASE, STEADY, repetition=n) for n in range(3)]
    trials += [at(100.0 + n, other, FAST, repetition=3 + n) for n in range(2)]
    analysis = analyse("made", trials)
    found = {curve.system: [len(cell.trials) for cell in curve.cells] for curve in analysis.curves}
    assert found == {"a (environment 1)": [3], "a (environment 2)": [2]}
    means = [curve.cells[0].throughput_tps.value for curve in analysis.curves]
    assert means == pytest.approx([100, 300], rel=0.01)
    (warning,) = [warning for warning in analysis.warnings if warning.code == "environment-changed"]
    assert warning.systems == ("a (environment 1)", "a (environment 2)")
    for part in ("a-read-write-4-2 (1970-01-01 00:00 UTC)", "a-read-write-4-3", "10.11.6 to 11.4.2", "4000 to 1000"):
        assert part in evidence_of(warning)


def test_a_state_of_an_environment_that_is_switched_keeps_its_name() -> None:
    """A guest that booted with another clock source is still virtual."""
    switched = SystemRecord(name="a", environment="virtual", factors={"environment": "virtual"})
    other = environment(kernel="6.5.0", innodb_io_capacity="4000")
    trials = [at(float(n), other if n else BASE, STEADY, repetition=n) for n in range(2)]
    named = [replace(trial, trial=trial.trial.model_copy(update={"system": switched})) for trial in trials]
    found = [system.factors["environment"] for system in analyse("made", named).systems]
    assert found == ["virtual, state 1", "virtual, state 2"]


def test_an_environment_that_comes_back_is_the_same_again() -> None:
    other = environment(innodb_io_capacity="1000")
    trials = [at(float(n), other if n == 1 else BASE, STEADY, repetition=n) for n in range(3)]
    analysis = analyse("made", trials)
    assert [len(curve.cells[0].trials) for curve in analysis.curves] == [2, 1]
    (warning,) = [warning for warning in analysis.warnings if warning.code == "environment-changed"]
    assert evidence_sentence(warning).endswith(" (and 1 more, of other systems or trials).")


def test_one_environment_leaves_everything_as_it_was() -> None:
    analysis = analyse("made", [at(float(n), BASE, STEADY, repetition=n) for n in range(3)])
    assert [curve.system for curve in analysis.curves] == ["a"]
    assert "environment-changed" not in {warning.code for warning in analysis.warnings}
