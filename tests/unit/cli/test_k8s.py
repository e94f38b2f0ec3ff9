"""The Job that the command line prints: its trial has the options that were given, and what cannot be is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from support.command import assert_one_clear_message, plimsoll

JOB = ["k8s", "job", "--image", "registry.example/plimsoll:0.1.0", "--target", "mysql://bench@db1/sbtest"]
WORKLOAD = '[[transaction]]\nname = "look"\nweight = 1\n[[transaction.statement]]\nsql = "SELECT 1"\n'


def arguments_of(*words: str | Path) -> list[str]:
    """The arguments of the container."""
    ran = plimsoll(*JOB, *words)
    assert ran.returncode == 0, ran.stderr
    *_, job = yaml.safe_load_all(ran.stdout)
    arguments: list[str] = job["spec"]["template"]["spec"]["containers"][0]["args"]
    return arguments


def test_the_trial_of_a_job_begins_with_the_options_that_were_given() -> None:
    rate = "2000 for 60s, 500"
    arguments = arguments_of(
        "--connections", "8", "--rate", rate, "-o", "range_size=10", "-o", "auto_increment=false", "--json"
    )
    expected = [
        "--connections",
        "8",
        "--rate",
        rate,
        "--option",
        "range_size=10",
        "--option",
        "auto_increment=false",
        "--json",
    ]
    assert sorted(arguments) == sorted(["trial", *JOB[4:], *expected])
    there = [word.replace("db1", "127.0.0.1:1") for word in arguments]
    ran = plimsoll(*there)
    assert_one_clear_message(ran, 3, "connection refused")


def test_a_workload_file_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(WORKLOAD)
    ran = plimsoll(*JOB, "--workload", tmp_path / "mine.toml", "--name", "look")
    config_map, job = yaml.safe_load_all(ran.stdout)
    assert config_map["data"] == {"workload.toml": WORKLOAD}
    assert config_map["metadata"]["name"] == "look-workload"
    assert "/workload/workload.toml" in json.dumps(job)
    assert str(tmp_path) not in ran.stdout
    assert "/workload" not in " ".join(arguments_of("--workload", "order-queue"))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--target", "managed"], "must begin with mysql://"),
        (["--target", "mysql://bench:Kw3-Pf9@db1/sbtest"], "--target: holds a password"),
        (["--target", "mysql://bench@/sbtest?socket=/run/x.sock"], "no socket"),
        (["--target", "mysql://bench@localhost/sbtest"], "the pod itself"),
        (["--name", "My_Job"], "--name: must be"),
        (["--claim", "../x"], "--claim: must be"),
        (["--cpu", "0"], "--cpu: must be"),
        (["--memory", "lots"], "--memory: must be"),
        (["--image", "a b"], "--image: must be"),
        (["--keep", "soon"], "--keep: must be"),
        (["--duration", "soon"], "--duration: must be"),
        (["--rate", "fast"], "--rate: "),
        (["--tls", "always"], "--tls: "),
        (["--password-env", "PW"], "--password-env"),
        (["--drivers", "load1"], "--drivers"),
        (["--record-system", "db1"], "add --claim"),
        (["--label", "version=1"], "--label: names what is recorded; add --claim"),
        (["--claim", "runs", "--label", "version"], "--label"),
        (["--claim", "runs", "--record-system", ""], "must be printable text"),
        (["--claim", "runs", "--rate", "500 for 5s, 900"], "a rate that changes"),
        (["--workload", "nothing.toml"], "nothing.toml cannot be read"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_what_cannot_run_in_a_pod_is_refused_here(words: list[str], reason: str) -> None:
    ran = plimsoll(*JOB, *words)
    assert_one_clear_message(ran, 2, reason)
    assert "Kw3-Pf9" not in ran.stdout + ran.stderr
    assert ran.stdout == ""
