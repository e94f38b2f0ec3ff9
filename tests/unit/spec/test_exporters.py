"""Exporters of a system in study files: short and long form, and faults that repeat no secret."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.plan.build import build_plan
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
reset = "never"
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
target = "mysql://u@db1/d"
"""


def test_a_url_is_enough_and_a_table_says_more() -> None:
    text = """exporters = [ "http://db1:9100/metrics",
        { url = "https://db1/probe?target=db1:3306", interval = "15s", bearer_env = "TOKEN", device = "nvme1n1" } ]"""
    short, long = parse_study(STUDY + text).system[0].exporters
    assert (short.url, short.interval, short.bearer_env, short.device) == ("http://db1:9100/metrics", 5.0, None, None)
    assert (long.interval, long.bearer_env, long.device) == (15.0, "TOKEN", "nvme1n1")


def test_they_are_no_part_of_a_trials_id() -> None:
    with_one = build_plan(parse_study(STUDY + 'exporters = ["http://db1:9100/metrics"]'))
    assert [trial.trial_id for trial in with_one.trials] == [
        trial.trial_id for trial in build_plan(parse_study(STUDY)).trials
    ]


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ('"ftp://db1/metrics"', "system[0].exporters[0].url: must begin with http:// or https://"),
        ('"http://u:secret@db1/metrics"', "system[0].exporters[0].url: holds a user or password"),
        ('"http://secret@db1/metrics"', "system[0].exporters[0].url: holds a user or password"),
        ('"http://db1/metrics?token=secret"', "system[0].exporters[0].url: unknown keys after the ?: 1"),
        ('"http://db1:secret/metrics"', "system[0].exporters[0].url: host or port cannot be read"),
        ('"http:///metrics"', "system[0].exporters[0].url: must begin with http:// or https:// and a host"),
        ('"http://db1/\\u0007"', "system[0].exporters[0].url: must be a URL of at most"),
        ('{ url = "http://db1/m", interval = "100ms" }', "system[0].exporters[0].interval: must be >= 1.0"),
        ('{ url = "http://db1/m", bearer_env = "secret value" }', "bearer_env: must be the name of an environment"),
        ('{ url = "http://db1/m", bearer_env = "TOKEN" }', "bearer_env: a token would cross the network in clear"),
        ('{ url = "http://db1/m", device = "../x" }', "system[0].exporters[0].device: must be of the form"),
        ('{ url = "http://db1/m", intervall = "5s" }', "is not a known key; did you mean interval?"),
        ('"http://db1/m", "http://db1/m"', "system[0].exporters[1].url: is listed twice"),
    ],
)
def test_faults(written: str, fault: str) -> None:
    with pytest.raises(SpecError) as raised:
        parse_study(f"{STUDY}exporters = [{written}]")
    assert fault in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_managed_server_needs_none() -> None:
    text = STUDY.replace('target = "mysql://u@db1/d"', 'server = { managed = "mariadb" }')
    with pytest.raises(SpecError, match=r"system\[0\]\.exporters: belongs to a target"):
        parse_study(text.replace('name = "a"', 'name = "a"\nexporters = ["http://db1/m"]'))
