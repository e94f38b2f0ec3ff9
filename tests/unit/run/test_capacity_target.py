"""What an overload leaves goes before the next run: rows that Plimsoll may make again, and statements in flight."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.support.queue_server import QueueServer

from plimsoll.plan.capacity import SearchSettings, Step
from plimsoll.record.capacity import CapacityObjective, CapacityRun, RunRole
from plimsoll.run import capacity_target
from plimsoll.run.capacity_target import SearchListeners, TargetSearch
from plimsoll.run.single import RecordingWanted

SETTINGS = SearchSettings(objective=CapacityObjective(response_ms_p99=50.0), connections=(8, 64))
IDLE = "idle"


class Traced:
    """A search whose runs are those of a made-up server, with what happened before each."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, *, managed: bool, writes: bool) -> None:
        self.steps: list[Step] = []
        self.runs: list[CapacityRun] = []
        self.before: list[list[str]] = []
        self.refused: list[int] = []
        """How many runs there were whenever the server was looked at."""
        self._happened: list[str] = []
        chance, server = np.random.default_rng(7), QueueServer(speed_tps=2000.0)
        running = iter(["9", "5", "2"] * 1000)

        def status() -> dict[str, str]:
            count = next(running)
            self._happened.append(IDLE if int(count) <= 2 else "busy")
            return {"threads_running": count}

        def judged(_recording: object, _role: RunRole, objective: CapacityObjective, _machines: object) -> CapacityRun:
            self.before.append(self._happened.copy())
            self._happened.clear()
            self.runs.append(server.run(self.steps[-1], objective, chance))
            return self.runs[-1]

        keeper = SimpleNamespace(reset=lambda _target: self._happened.append("reset"))
        recorded = SimpleNamespace(
            outcome=SimpleNamespace(verdict=None),
            trial=SimpleNamespace(system=SimpleNamespace(name="s"), workload=SimpleNamespace(name="w"), trial_id="t"),
        )
        base = SimpleNamespace(
            target=None,
            managed=object() if managed else None,
            workload=SimpleNamespace(writes=writes),
            seed=1,
            warm_up_s=0,
        )
        patches: dict[str, Any] = {
            "DataKeeper": lambda **_: keeper,
            "connect": lambda _target: nullcontext(SimpleNamespace(status=status)),
            "refuse_unfit": lambda *_: self.refused.append(len(self.runs)),
            "settle": lambda *_, **__: self._happened.append("settled"),
            "replace": lambda run, **_: run,
            "record_single": lambda *_: (recorded, ()),
            "read_recording": lambda _path: None,
            "judged_run": judged,
            "_POLL_S": 0.0,
        }
        for name, value in patches.items():
            patch.setattr(capacity_target, name, value)
        wanted, told = RecordingWanted(study=folder), SearchListeners(step=self.steps.append)
        self.search = TargetSearch(base, wanted, SETTINGS, told)  # type: ignore[arg-type]


@pytest.mark.parametrize(("managed", "writes"), [(True, True), (True, False), (False, True)])
def test_rows_are_made_again_after_an_overload_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, managed: bool, writes: bool
) -> None:
    """Only rows that the load changed, and only on a server that Plimsoll started."""
    traced = Traced(tmp_path, monkeypatch, managed=managed, writes=writes)
    assert traced.search.run().capacity_tps is not None
    assert traced.refused == ([] if managed else [0])
    overloaded = [False] + [run.rate_tps is None or run.over_ratio > 0.01 for run in traced.runs[:-1]]
    assert {True, False} == set(overloaded[2:])
    expected = [managed and writes and after for after in overloaded]
    assert ["reset" in one for one in traced.before] == expected
    assert not any("reset" in one[1:] for one in traced.before), "before the wait, not after it"


def test_each_run_waits_until_the_server_is_idle_and_then_settles_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = Traced(tmp_path, monkeypatch, managed=False, writes=True)
    traced.search.run()
    assert traced.refused == [0], "a running server is looked at once, before everything"
    assert all(one == ["busy", "busy", IDLE, "settled"] for one in traced.before)
