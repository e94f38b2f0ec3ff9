"""When an exporter is asked, what is left to others, and what is recorded of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from pydantic import SecretStr

from plimsoll.errors import HostError
from plimsoll.run.instance import Instance
from plimsoll.spec.target import Target
from plimsoll.telemetry.exporters.page import Page
from plimsoll.telemetry.exporters.sampler import (
    ON_THIS_MACHINE,
    Exporter,
    ExporterSampler,
    exporter_facts,
    placed_exporters,
)

EXPORTER = Exporter(url="http://db1:9104/probe?target=x", interval_s=5.0)


def sampler_of(
    text: Callable[[int], str], *, took_s: float = 0.01, first_hand: set[str] | None = None
) -> ExporterSampler:
    """One whose pages are made up, by how many there were before."""
    count = 0

    def fetch(url: str, token: SecretStr | None) -> Page:
        nonlocal count
        count += 1
        return Page(text(count - 1), 1234, took_s)

    return ExporterSampler(EXPORTER, "a/0", first_hand or set(), fetch=fetch)


def asked_at(sampler: ExporterSampler, seconds: int) -> list[int]:
    """The seconds in which a page gave something, of a collector that comes a little late each second."""
    return [second for second in range(seconds) if sampler.sample(second + 0.01 * (second % 3))]


def test_it_asks_once_in_an_interval() -> None:
    sampler = sampler_of(lambda n: f"node_intr_total {n}\nnode_procs_running 1\n")
    assert asked_at(sampler, 21) == [0, 5, 10, 15, 20]
    facts = sampler.facts()
    assert (facts.pages_count, facts.failures_count, facts.page_bytes_max) == (5, 0, 1234)
    assert (facts.resolution_s, facts.answer_ms_median, facts.url) == (5.0, 10.0, "http://db1:9104/probe")


def test_a_slow_exporter_is_asked_less_often() -> None:
    assert asked_at(sampler_of(lambda n: f"node_intr_total {n}\nnode_procs_running 1\n", took_s=3.5), 21) == [0, 7, 14]


def test_the_resolution_is_that_of_new_values() -> None:
    """An exporter that looks each 15 s, and gives the same page three times."""
    sampler = sampler_of(lambda n: f"node_intr_total {n // 3}\nnode_procs_running 1\n")
    assert asked_at(sampler, 61) == [0, 15, 30, 45, 60]
    assert sampler.facts().resolution_s == 15.0


def test_what_others_sample_is_left_to_them() -> None:
    sampler = sampler_of(
        lambda n: f"mysql_global_status_queries {n}\nmysql_global_status_questions {n}\n", first_hand={"queries"}
    )
    assert sampler.sample(0.0) == [], "until the second page it is known what others sample"
    assert [one.metric for one in sampler.sample(5.0)] == ["questions"]
    assert sampler.facts().sources == ("server",)


def test_one_that_vanishes_is_asked_ever_less_often() -> None:
    calls: list[float] = []
    now = 0.0

    def fetch(url: str, token: SecretStr | None) -> Page:
        calls.append(now)
        raise HostError("gone")

    sampler = ExporterSampler(EXPORTER, "a/0", fetch=fetch)
    for second in range(200):
        now = float(second)
        with contextlib.suppress(HostError):
            sampler.sample(now)
    assert calls == [0, 10, 30, 70, 130, 190]
    assert sampler.facts().failures_count == 6


def test_a_page_of_something_else_is_an_error() -> None:
    with pytest.raises(HostError, match="nothing there is known"):
        sampler_of(lambda n: "go_goroutines 8\n").sample(0.0)


def test_exporters_of_a_server_on_this_machine_are_not_asked() -> None:
    target = Target(user="u", database="d", host="db1")
    here = Instance(name="a/0", target=target, is_here=True, exporters=(EXPORTER,))
    elsewhere = Instance(name="b/0", target=target, is_here=False, exporters=(EXPORTER,))
    unknown = Instance(name="c/0", target=target, exporters=(EXPORTER,))
    known: dict[str, set[str]] = {name: set() for name in ("a/0", "b/0", "c/0")}
    placed = placed_exporters([here, elsewhere, unknown], known)
    assert [(one.host, one.instance) for one in placed] == [("db1", "b/0"), ("", "c/0")]
    facts = exporter_facts([here, elsewhere, unknown], placed)
    assert [(fact.instance, fact.unused) for fact in facts] == [("b/0", None), ("c/0", None), ("a/0", ON_THIS_MACHINE)]
