"""How clients behave, as people write it."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from plimsoll.drive.plans import sources, trial_line
from plimsoll.errors import SpecError
from plimsoll.spec.clients import CLIENTS, Clients, RetryRule, ThinkTime, parse_retry, steady
from plimsoll.spec.study import parse_study
from plimsoll.spec.target import parse_target
from support.faults import faults_of

STUDY = """
[study]
name = "s"
levels = {{ connections = [4] }}
{clients}
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
server = {{ managed = "mariadb" }}
"""


def written(clients: str) -> Clients:
    return parse_study(STUDY.format(clients=clients)).study.clients


def test_nothing_said_is_what_servers_ask_for() -> None:
    assert written("") == CLIENTS
    (rule,) = CLIENTS.retry
    assert (rule.codes, rule.limit, rule.pause) == ((1213, 1205, 1020), 99, 0.0)
    assert CLIENTS.stated() == {}


def test_everything_can_be_said() -> None:
    clients = written(
        """
        [study.clients]
        think_time = { min = "1s", max = "1500ms" }
        connect_per_s = 250
        all_connections = true
        [[study.clients.retry]]
        codes = [1213]
        limit = 3
        pause = "5ms"
        [[study.clients.retry]]
        codes = [1205]
        [study.clients.reconnect]
        pause_max = "2s"
        back_ratio = 0.9
        give_up = "10m"
        network_timeout = "5s"
        read_timeout = "none"
        """
    )
    assert clients.think_time == ThinkTime.model_construct(mean=None, min=1.0, max=1.5)
    assert clients.line() == {
        "connect": {"per_s": 250.0, "all_required": True},
        "retry": [
            {"codes": [1213], "limit": 3, "pause_ms": 5.0, "pause_max_ms": 1000.0},
            {"codes": [1205], "limit": 99, "pause_ms": 0.0, "pause_max_ms": 1000.0},
        ],
        "reconnect": {
            "pause_ms": 10.0,
            "pause_max_ms": 2000.0,
            "network_timeout_ms": 5000,
            "read_timeout_ms": None,
            "back_ratio": 0.9,
            "give_up_ms": 600_000,
        },
    }
    assert clients.stated() == {
        "think_time": "1.00 s to 1.50 s",
        "retry": "1213: 3 times, after 5.00 ms at first; 1205: 99 times",
        "connect_per_s": "250",
        "reconnect": "after 10.0 ms to 2.00 s, for 10 min 00 s; back with 90%",
        "network_timeout": "5 s",
        "read_timeout": "none",
    }


def test_a_think_time_alone_is_a_mean_and_no_rules_mean_no_retries() -> None:
    clients = written('[study.clients]\nthink_time = "5s"\nretry = []')
    assert clients.think_time is not None
    assert clients.think_time.line() == {"exponential": {"mean_ms": 5000.0}}
    assert clients.line()["retry"] == []
    assert clients.stated()["retry"] == "nothing"


@pytest.mark.parametrize(
    ("clients", "part"),
    [
        ("[study.clients]\nthink_time = 5", "study.clients.think_time: must be a table"),
        ('[study.clients]\nthink_time = "5"', "study.clients.think_time.mean: must be a duration"),
        ('[study.clients]\nthink_time = { min = "2s", max = "1s" }', "must not have a min above its max"),
        ('[study.clients]\nthink_time = { min = "2s" }', "must have either mean, or min and max"),
        ('[study.clients]\nthink_time = "25h"', "must be at most a day"),
        ("[study.clients]\nconnect_per_s = 0", "study.clients.connect_per_s: must be >= 0.001, is 0"),
        ("[study.clients]\nconect_per_s = 1", "did you mean connect_per_s?"),
        ("[[study.clients.retry]]\ncodes = []", "study.clients.retry[0].codes: must not be empty"),
        ("[[study.clients.retry]]\ncodes = [70000]", "study.clients.retry[0].codes[0]: must be <= 65535"),
        ("[[study.clients.retry]]\ncodes = [1]\nlimits = 1", "did you mean limit?"),
        ("[[study.clients.retry]]\ncodes = [1, 2, 1]", "study.clients.retry: has 1 more than once"),
        ('[[study.clients.retry]]\ncodes = [1]\npause = "2h"', "retry[0].pause: must be <= 3600"),
        ("[study.clients.reconnect]\nback_ratio = 1.5", "study.clients.reconnect.back_ratio: must be <= 1"),
        ('[study.clients.reconnect]\nread_timeout = "1ms"', 'reconnect.read_timeout: must be "none", or "1s" to "24h"'),
        ("[study.clients.reconnect]\nread_timeout = 5", "reconnect.read_timeout: must be"),
        (
            '[study.clients.reconnect]\nnetwork_timeout = "500ms"',
            'reconnect.network_timeout: must be "1s" to "24h", is 0.5 s',
        ),
        ("clients = { burstiness = 0.5 }", "must be >= 1"),
        ("clients = { burstiness = 40 }", "study.clients.burstiness: is for load at a rate"),
    ],
)
def test_faults_are_named_with_path_and_value(clients: str, part: str) -> None:
    assert any(part in fault for fault in faults_of(written, clients)), faults_of(written, clients)


def test_rules_can_be_typed() -> None:
    assert parse_retry("1213") == RetryRule(codes=(1213,))
    assert parse_retry("1213,1205:7") == RetryRule(codes=(1213, 1205), limit=7)


@pytest.mark.parametrize("wrong", ["", "x", "1213:", "1213:-1", "1213;1205", "1213:1:5", "99999", "0", "1213:9999999"])
def test_what_is_no_rule_is_refused(wrong: str) -> None:
    with pytest.raises(SpecError):
        parse_retry(wrong)


def test_the_new_study_file_shows_the_defaults() -> None:
    text = (files("plimsoll.cli") / "new_study.toml").read_text(encoding="utf-8")
    before, _, rest = text.partition("# [study.clients]")
    section, _, after = rest.partition("[[workload]]")
    shown = re.sub(r"^# ", "", f"# [study.clients]{section}", flags=re.MULTILINE)
    clients = parse_study(f"{before}{shown}[[workload]]{after}").study.clients
    assert clients.retry == CLIENTS.retry
    assert clients.reconnect == CLIENTS.reconnect
    assert clients.think_time is not None


def test_burstiness_is_another_trial_only_where_there_is_some() -> None:
    rates = STUDY.replace("connections = [4]", "connections = [4], rate_tps = [500]")
    bursty = parse_study(rates.format(clients="clients = { burstiness = 40 }"))
    assert "burstiness" not in CLIENTS.identity()
    assert bursty.study.clients.identity()["burstiness"] == 40
    assert bursty.study.clients.stated() == {"burstiness": "40"}


def test_bursts_are_told_to_the_engine_and_one_is_a_poisson_process() -> None:
    workload = parse_study(STUDY.format(clients="")).workload[0]
    target = sources({"a": parse_target("mysql://me@127.0.0.1/d")})

    def process(burstiness: float) -> object:
        clients = Clients(burstiness=burstiness)
        line = trial_line(workload, target, connections=1, duration_s=1, seed=1, arrivals=steady(500), clients=clients)
        return line["groups"][0]["arrivals"]["open"]["process"]

    assert process(1) == "poisson"
    assert process(40) == {"bursty": {"dispersion": 40, "stay_ms": 1000}}
