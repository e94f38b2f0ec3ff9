"""Studies of made-up trials in a folder: they run through the course of a real one, on a clock of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np

from plimsoll.plan.model import Plan, PlannedTrial
from plimsoll.record.store import write_recording
from plimsoll.run.events import (
    Event,
    EventLog,
)
from plimsoll.run.execution import Execution
from plimsoll.run.folder import PLAN_FILE
from plimsoll.run.planning import Budget, PlannedStudy, plan_study
from plimsoll.run.study import Course
from plimsoll.spec.study import STUDY_FILE, StudySpec
from support.made import Made, measured

STUDY = """
[study]
name = "s"
levels = { connections = [4] }
warm_up = "1s"
duration = "1s"
repetitions = "auto"
repetitions_limit = 12
budget = "10m"
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
DUET = STUDY.replace("repetitions =", "rounds =").replace('duration = "1s"', 'design = "duet"\nduration = "20s"')
NOISY = 'equal_within = "1%"'
"""A margin that noise of 10 % does not reach in any number of repetitions that fits."""

TRIAL_S = 30.0


@dataclass
class FakeExecution:
    """Takes `TRIAL_S` for each trial and commits what `measure` makes of it; None for a trial that fails."""

    folder: Path
    planned: PlannedStudy
    measure: Callable[[PlannedTrial], Made | None]
    now: list[float]
    started_count: int = 0
    ran: list[str] = field(default_factory=list)
    remaining: list[int] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.plan: Plan = self.planned.plan
        self.finished = self.planned.finished
        self.budget = self.planned.budget

    @contextmanager
    def started(self, _: PlannedTrial) -> Iterator[SimpleNamespace]:
        self.started_count += 1
        yield SimpleNamespace()

    def run_trial(self, trial: PlannedTrial, _: object, *, first: bool, remaining: int) -> None:
        self.now[0] += TRIAL_S
        self.ran.append(trial.trial_id)
        self.remaining.append(remaining)
        made = self.measure(trial)
        if made is None:
            self.failed.add(trial.trial_id)
            return
        named = {"trial_id": trial.trial_id, "repetition": trial.repetition, "repeats": trial.repeats, "study": "s"}
        record = made.trial.model_copy(update=named)
        tables = {name: made.tables.get(name) for name in ("intervals", "turns")}
        write_recording(self.folder, record, made.environment, made.outcome, **tables)
        self.finished.add(trial.trial_id)

    def run_turns(self, trials: list[PlannedTrial], *, first: bool, remaining: int) -> None:
        for trial in trials:
            self.run_trial(trial, None, first=first, remaining=remaining)

    def remaining_s(self, count: int) -> float:
        return count * TRIAL_S

    def keep_data(self) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass
class Study:
    """A study in a folder, run with made-up trials."""

    folder: Path
    spec: StudySpec
    measure: Callable[[PlannedTrial], Made | None]
    used_s: float = 0.0

    def planned(self) -> PlannedStudy:
        (self.folder / STUDY_FILE).write_text(STUDY)
        return plan_study(self.spec, self.folder)

    def run(self) -> tuple[FakeExecution, list[Event]]:
        """One run of it; the clock goes on where the last run left it."""
        now, events = [0.0], list[Event]()
        planned = replace(self.planned(), budget=Budget.of(self.spec.study.budget, self.used_s, lambda: now[0]))
        log = EventLog(self.folder / "events.jsonl", events.append)
        execution = FakeExecution(self.folder, planned, self.measure, now)
        Course(
            self.spec, planned, self.folder, log, self.keep, execution=cast("Execution", execution), turn=None
        ).run()  # fmt: skip
        log.close()
        self.used_s += now[0]
        return execution, events

    def keep(self, plan: Plan) -> None:
        (self.folder / PLAN_FILE).write_text(plan.model_dump_json())


def rates(ratio: float, noise: float, seed: int = 1) -> Callable[[PlannedTrial], Made | None]:
    """Trials of `a` at 1,000 tps and of `b` at `ratio` times that, each off by `noise`."""

    def measure(trial: PlannedTrial) -> Made:
        random = np.random.default_rng([seed, trial.repetition, trial.system == "b"])
        tps = 1000 * (ratio if trial.system == "b" else 1.0) * math.exp(random.normal(0, noise))
        return measured([tps] * 12, system=trial.system, workload="w")

    return measure


def without(measure: Callable[[PlannedTrial], Made | None], repetition: int) -> Callable[[PlannedTrial], Made | None]:
    """The same, but `b` fails in one repetition."""
    return lambda one: None if (one.repetition, one.system) == (repetition, "b") else measure(one)


def repetitions(execution: FakeExecution) -> list[int]:
    return sorted({trial.repetition for trial in execution.plan.trials})
