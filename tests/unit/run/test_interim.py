"""How far a duet is, as events."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from plimsoll.run.events import EventLog
from plimsoll.run.interim import Interim
from plimsoll.run.planning import plan_study
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
design = "duet"
levels = { connections = [4] }
rounds = %s
budget = "1h"
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
server = { managed = "mariadb" }
[[system]]
name = "b"
server = { managed = "mariadb" }
"""


class _Said:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def say(self, event: Any) -> None:
        self.events.append(event)


@pytest.mark.parametrize(("rounds", "said_count"), [("3", 1), ('"auto"', 0)])
def test_a_study_that_ends_when_decided_says_once_what_a_round_showed(
    rounds: str, said_count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `AnswerProgressed`, whose interval is valid at any look; other duets by `DuetProgressed`."""
    monkeypatch.setattr(Interim, "_rounds", lambda *_: iter([np.full(12, 0.1), np.full(12, 0.2)]))
    spec, log = parse_study(STUDY % rounds), _Said()
    plan = plan_study(spec).plan
    Interim(tmp_path, plan, spec, cast("EventLog", log)).after_round(plan.trials[0])
    assert [(event.rounds_count, event.pair_count) for event in log.events] == [(2, None)] * said_count
