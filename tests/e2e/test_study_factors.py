"""A matrix on real servers: from `[factors]` to recordings that say their values and a guide that shows the effects."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

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
duration = "2s"
repetitions = 1
reset = "never"

[factors]
"server.options.innodb_io_capacity" = { slow = 100, fast = 400 }

[[workload]]
name = "reads"
kind = "oltp_read_only"
table_size = 1000

[[system]]
name = "MariaDB"
server = { managed = "mariadb", profile = "bare", buffer_pool = "32M", options = { innodb_log_file_size = 4194304 } }
"""


def test_factors_from_the_file_to_the_guide(tmp_path: Path) -> None:
    file, study = tmp_path / "s.toml", tmp_path / "out"
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-factors-{os.getpid()}"}
    file.write_text(STUDY.replace("repetitions = 1", 'repetitions = 5\nbudget = "60s"'))
    refused = plimsoll("study", "run", file, "--to", study, env=env)
    assert refused.returncode == 2
    assert "more than 1 min 00 s" in " ".join(refused.stderr.split())
    assert not study.exists(), "it is refused before anything starts"

    file.write_text(STUDY)
    ran = plimsoll("study", "run", file, "--to", study, env=env)
    assert ran.returncode == 0, ran.stderr
    trials = {recording.trial.system.name: recording for recording in read_study(study).recordings}
    assert trials.keys() == {"MariaDB, slow", "MariaDB, fast"}
    for name, capacity in (("slow", "100"), ("fast", "400")):
        recording = trials[f"MariaDB, {name}"]
        assert recording.trial.system.factor_values == {"innodb_io_capacity": name}
        assert recording.environment.instances[0].variables["innodb_io_capacity"] == capacity
    (effect,) = json.loads((study / "guide.json").read_text())["effects"]["factors"]
    assert (effect["factor"], effect["base"], effect["value"]) == ("innodb_io_capacity", "slow", "fast")
    assert effect["verdict"] == "untestable", "one repetition says nothing about how repetitions differ"
    assert "innodb_io_capacity fast instead of slow changes throughput by" in (study / "guide.md").read_text()
