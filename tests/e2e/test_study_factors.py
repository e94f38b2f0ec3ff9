"""A matrix on real servers: from `[factors]` to recordings that say their values and a guide that shows the effects.

Its trials are of automatic length: they end at their limit, and know their machine's weather.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from plimsoll.record.model import Outcome, Verdict
from plimsoll.record.store import read_study
from support.command import plimsoll

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "factors"
levels = { connections = [2] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "auto"
duration_limit = "3s"
repetitions = 1
reset = "never"

[factors]
"server.options.innodb_io_capacity" = { slow = 100, fast = 400 }

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 1000

[[system]]
name = "MariaDB"
server = { managed = "mariadb", profile = "bare", buffer_pool = "64M", options = { innodb_log_file_size = 4194304 } }
"""


def test_factors_from_the_file_to_the_guide(tmp_path: Path) -> None:
    file, study = tmp_path / "s.toml", tmp_path / "out"
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-factors-{os.getpid()}"}
    file.write_text(STUDY.replace("repetitions = 1", 'repetitions = 20\nbudget = "60s"'))
    refused = plimsoll("study", "run", file, "--to", study, env=env)
    assert refused.returncode == 2
    assert "more than 1 min 00 s" in " ".join(refused.stderr.split())
    assert not study.exists(), "it is refused before anything starts"

    file.write_text(STUDY)
    ran = plimsoll("study", "run", file, "--to", study, env=env)
    assert ran.returncode == 0, ran.stderr
    assert "redo-log-small" in ran.stderr, "without --strict it is told, and measured"
    trials = {recording.trial.system.name: recording for recording in read_study(study).recordings}
    assert trials.keys() == {"MariaDB, slow", "MariaDB, fast"}
    for name, capacity in (("slow", "100"), ("fast", "400")):
        recording = trials[f"MariaDB, {name}"]
        assert recording.trial.system.factor_values == {"innodb_io_capacity": name}
        assert recording.environment.instances[0].variables["innodb_io_capacity"] == capacity
        check_automatic_length(recording.outcome)
    (effect,) = json.loads((study / "guide.json").read_text())["effects"]["factors"]
    assert (effect["factor"], effect["base"], effect["value"]) == ("innodb_io_capacity", "slow", "fast")
    assert effect["verdict"] == "untestable", "one repetition says nothing about how repetitions differ"
    assert "innodb_io_capacity fast instead of slow changes throughput by" in (study / "guide.md").read_text()


def check_automatic_length(outcome: Outcome) -> None:
    """Three seconds are too short for the precision that is asked for; the reference load ran before and after."""
    assert outcome.verdict is Verdict.COMPLETE
    assert outcome.window is not None
    assert outcome.window.last - outcome.window.first + 1 == 3
    assert "target-interval-missed" in {warning.code for warning in outcome.warnings}
    weather = outcome.weather
    assert weather is not None
    assert weather.after is not None
    assert outcome.account is not None
    assert weather.before.at_unix_s < outcome.account.started_unix_s
    assert weather.after.at_unix_s > outcome.account.started_unix_s + 4
    assert min(weather.before.flush_ms or 0, weather.after.flush_ms or 0, weather.before.memory_ms) > 0
