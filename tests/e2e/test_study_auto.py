"""A study of automatic length on a real server: its trials end at their limit, and know their machine's weather."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import plimsoll

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "auto"
levels = { connections = [2] }
warm_up = "1s"
settle_limit = "1s"
duration = "auto"
duration_limit = "3s"
repetitions = 1
reset = "never"
[[workload]]
name = "reads"
kind = "oltp_point_select"
table_size = 1000
[[system]]
name = "small"
[system.server]
managed = "mariadb"
profile = "bare"
buffer_pool = "64M"
"""


def test_a_trial_of_automatic_length_ends_at_its_limit(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    env = {"PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-auto-{os.getpid()}"}
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", tmp_path / "out", env=env)
    assert ran.returncode == 0, ran.stderr
    (recording,) = read_study(tmp_path / "out").recordings
    outcome = recording.outcome
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
    print(weather)
