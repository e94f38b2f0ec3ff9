"""One round of a duet: all systems are made ready, take turns under one run of the engine, and leave a recording each.

Exactly one system runs at a time; the others are frozen. The engine says when nothing is in flight any more; then the
servers of the last turn are frozen, those of the next one thawed, and the engine is told to go. On any way out of
here all are thawed again, and if this process dies their guardians do that before they end them.

Deliberately not here: whose turn it is when (`plan.duet`), what a recording keeps of a turn (`turns`), statistics.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from plimsoll.drive.engine_run import EngineRun
from plimsoll.drive.plans import sources, trial_line
from plimsoll.drive.protocol import Done, EngineWarning, Handover, Interval
from plimsoll.errors import HostError, InvalidTrialError, PlimsollError, StorageError
from plimsoll.plan.duet import load_s_of_duet, order_of_turns
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State
from plimsoll.record.partial import PartialRecording
from plimsoll.run.data_state import note_warm
from plimsoll.run.duet_side import Side, note_weather, own_done, own_ready, thawed_at_the_end
from plimsoll.run.duet_stage import Stage
from plimsoll.run.environment import with_client_cpus
from plimsoll.run.events import IntervalEnded
from plimsoll.run.freezer import Freezer
from plimsoll.run.full_disks import FullDisks, places_of
from plimsoll.run.progressing import Progressing, TrialTask, outcome_of, warning_of
from plimsoll.run.refusing import refuse_unanswered
from plimsoll.run.rows import IntervalRows, response_ms_p99
from plimsoll.run.spool import Spool
from plimsoll.run.systems import ManagedSystem
from plimsoll.run.trial import TrialRunner
from plimsoll.run.turns import TurnParts, TurnTaken
from plimsoll.run.warming import Warming
from plimsoll.run.watch import Watch, unseen, unwatched, watching
from plimsoll.spec.duet import LEAD_RATIO, pair_count, pairs_per_round

LOAD_S_SLACK = 600.0
"""How much longer than planned the load of a round may take, switches and drains of a busy machine included."""


Watcher = Callable[[Sequence[Side], int], None]
"""Is told of the sides and how many pairs of each two count so far, after each sweep that counts."""


class DuetRunner(TrialRunner):
    """Runs rounds of a duet and commits a recording of each system, whatever became of it."""

    def run_round(self, tasks: Sequence[TrialTask], watch: Watcher = lambda _sides, _pairs: None) -> list[Outcome]:
        """Runs one round and commits its recordings; raises as `run`.

        Args:
            tasks: One for each system, in the order of the study; all are managed, and run.
            watch: Is told how far it is.
        """
        sides = [self._side(task) for task in tasks]
        failure: str | None = None
        try:
            for side in sides:
                self._make_ready(side.task, side.progressing, side.spool)
            _Round(self._stage(), sides, watch).run()
            for side in sides:
                refuse_unanswered(side.task, side.progressing, side.spool)
        except StorageError:
            raise
        except PlimsollError as error:
            failure = str(error)
        except KeyboardInterrupt:
            for side in sides:
                self._keep_interrupted(side.task, side.progressing, side.spool)
            raise
        outcomes = [self._outcome(side, failure) for side in sides]
        for side, outcome in zip(sides, outcomes, strict=True):
            self._commit(side.task, side.progressing, side.spool, outcome)
        return outcomes

    def _stage(self) -> Stage:
        return Stage(
            driver=self._driver,
            here=self._here,
            clock=self._clock,
            log=self._log,
            enter=self._enter,
            note=self._note,
        )

    def _side(self, task: TrialTask) -> Side:
        assert isinstance(task.system, ManagedSystem), "a study with other systems is no duet"
        partial = PartialRecording.begin(task.folder, task.planned.trial_id)
        progressing = Progressing(
            rows=IntervalRows(driver=self._here, host=""), environment=Environment(host=self._surveyor.host)
        )
        return Side(task, progressing, Spool(partial, progressing.rows, Watch()), Freezer(task.system.servers))

    def _outcome(self, side: Side, failure: str | None) -> Outcome:
        """What became of a side; where one failed the others have nobody to be compared with, and fail with it."""
        if failure is not None:
            return outcome_of(side.progressing, failure=failure)
        try:
            self._verify(side.task, side.progressing, side.spool)
        except StorageError:
            raise
        except InvalidTrialError as error:
            return outcome_of(side.progressing, doubt=str(error))
        except PlimsollError as error:
            return outcome_of(side.progressing, failure=str(error))
        return outcome_of(side.progressing)


class _Round:
    """The load of one round."""

    def __init__(self, stage: Stage, sides: Sequence[Side], watch: Watcher) -> None:
        self._stage, self._sides, self._watch = stage, sides, watch
        self._study = sides[0].task.study
        self._warming = Warming(self._study, len(sides))
        self._pairs_wanted = pairs_per_round(self._study)
        sweeps = self._warming.sweeps_max + self._pairs_wanted
        self._turns = order_of_turns(len(sides), sweeps, sides[0].task.planned.seed)
        self._turns_in_sweep = 2 * pair_count(len(sides))
        self._parts = TurnParts()
        self._sweeps_counted = 0
        self._is_measuring = False
        self._on: int | None = None

    def run(self) -> None:
        """Drives all turns; raises as the engine, and HostError when a server cannot be frozen or thawed."""
        stage = self._stage
        with stage.driver.launch("trial", self._line()) as run, ExitStack() as stack:
            ready = run.ready(self._warn)
            for side in self._sides:
                side.progressing.ready = own_ready(ready, side)
                side.progressing.environment = with_client_cpus(side.progressing.environment, run.pid)
                stack.enter_context(
                    watching(
                        side.task.system.instances,
                        host=stage.here,
                        engine_pid=run.pid,
                        watch=side.spool.watch,
                        freezer=side.freezer,
                    )
                )
            stack.enter_context(thawed_at_the_end(self._sides))
            for side in self._sides:
                side.freezer.freeze()
            note_weather(self._sides)
            for side in self._sides:
                stage.enter(side.task, side.progressing, side.spool, State.WARM)
            self._take_turns(run)
            self._freeze_last()
            note_weather(self._sides)
        for side in self._sides:
            unwatchable = (*unseen(side.task.system.instances), *side.spool.watch.faults)
            side.progressing.warnings += [unwatched(fault) for fault in unwatchable]

    def _line(self) -> dict[str, Any]:
        """A plan of the groups of all sides, which take turns."""
        study, planned = self._study, self._sides[0].task.planned
        load_s = load_s_of_duet(study, self._warming.limit_s, len(self._sides)) + LOAD_S_SLACK
        lines = [
            trial_line(
                side.task.workload,
                sources({instance.name: instance.target for instance in side.task.system.instances}),
                connections=planned.connections,
                duration_s=load_s,
                seed=planned.seed,
                clients=study.clients,
            )
            for side in self._sides
        ]
        sides = [index for index, line in enumerate(lines) for _ in line["groups"]]
        turn_ms = round(study.turn * 1000)
        return {
            **lines[0],
            "groups": [group for line in lines for group in line["groups"]],
            "turns": {
                "turn_ms": turn_ms,
                "lead_ms": round(turn_ms * LEAD_RATIO),
                "sides": sides,
                "order": [turn.side for turn in self._turns],
            },
        }

    def _take_turns(self, run: EngineRun) -> None:
        began_unix_s, disks = self._stage.clock(), FullDisks()
        systems = [side.task.system for side in self._sides]
        run.start()
        for message in run.messages():
            match message:
                case Interval():
                    self._parts.add(message)
                    done = (message.index, message.turn) if message.completed else None
                    disks.seen(done, lambda: places_of(*(system.instances for system in systems)))
                case Handover():
                    if self._end_turn(message.turn - 1, began_unix_s):
                        run.stop()
                    else:
                        self._let_run(self._turns[message.turn].side)
                        run.go(message.turn)
                case EngineWarning():
                    self._warn(message)
                case Done():
                    self._end_turn(len(self._turns) - 1, began_unix_s)
                    for side in self._sides:
                        side.progressing.done = own_done(message, side)

    def _let_run(self, index: int) -> None:
        """Freezes the side whose turn it was, and thaws the one whose turn it is."""
        if self._on == index:
            return
        if self._on is not None:
            self._sides[self._on].freezer.freeze()
        self._sides[index].freezer.thaw()
        self._on = index

    def _freeze_last(self) -> None:
        """Freezes the side whose turn was the last; of a server that has ended that is told elsewhere."""
        if self._on is not None:
            with contextlib.suppress(HostError):
                self._sides[self._on].freezer.freeze()

    def _end_turn(self, number: int, began_unix_s: float) -> bool:
        """Takes in the turn that is over; True when enough was measured."""
        if number < 0:
            return False
        turn = self._turns[number]
        side = self._sides[turn.side]
        taken = self._parts.take(
            turn, index=len(side.taken), instances=side.instances, against=self._sides[turn.against].name
        )
        if taken is not None:
            self._keep(side, taken, began_unix_s)
        is_end_of_sweep = (number + 1) % self._turns_in_sweep == 0
        return is_end_of_sweep and self._end_sweep(began_unix_s)

    def _keep(self, side: Side, taken: TurnTaken, began_unix_s: float) -> None:
        side.taken.append(taken)
        side.ended_count += taken.ended
        side.client_ns[0] += taken.interval.client.user_ns
        side.client_ns[1] += taken.interval.client.system_ns
        side.progressing.rows.add_turn(taken.row)
        side.spool.add(taken.interval, began_unix_s=began_unix_s)
        side.progressing.throughput_tps.append(taken.interval.throughput_tps)
        if self._is_measuring:
            side.progressing.measured.add(taken.interval)

    def _end_sweep(self, began_unix_s: float) -> bool:
        """Decides whether what comes counts; True when enough of it came."""
        if self._is_measuring:
            self._sweeps_counted += 1
            self._say()
            self._watch(self._sides, self._sweeps_counted)
            return self._sweeps_counted >= self._pairs_wanted
        self._say()
        if self._warming.is_over([(side.progressing, side.spool.watch.series()) for side in self._sides]):
            self._is_measuring = True
            for side in self._sides:
                stage, progressing = self._stage, side.progressing
                stage.note(progressing, progressing.warm_note or "")
                progressing.first_measured = len(side.taken)
                note_warm(progressing, side.spool.watch.redo_bytes())
                at_unix_s = began_unix_s + side.taken[-1].row["drained_s"]
                stage.enter(side.task, progressing, side.spool, State.MEASURE, at_unix_s)
        return False

    def _say(self) -> None:
        """Tells what all systems did in the last sweep, taken together."""
        last = [taken.interval for side in self._sides for taken in side.taken[-(len(self._sides) - 1) :]]
        seconds = sum((one.to_ns - one.from_ns) / 1e9 for one in last)
        self._stage.log.say(
            IntervalEnded(
                index=len(self._sides[0].taken) - 1,
                state=self._sides[0].progressing.state,
                throughput_tps=sum(one.completed for one in last) / max(seconds, 1e-9),
                response_ms_p99=response_ms_p99(last),
                error_count=sum(error.count for one in last for group in one.groups for error in group.snapshot.errors),
            )
        )

    def _warn(self, warning: EngineWarning) -> None:
        """A doubt of the engine's is one about all systems."""
        for side in self._sides:
            side.progressing.warnings.append(warning_of(warning))
