"""One round of a duet: all systems are made ready, take turns under one run of the engine, and leave a recording each.

Exactly one system runs at a time; the others are frozen. The engine says when nothing is in flight any more; then the
servers of the last turn are frozen, those of the next one thawed, and the engine is told to go. On any way out of here
all are thawed again, and if this process dies their guardians do that before they end them.

An interval of a duet's recording is the counted part of one of its system's turns: so its length is the time that the
system ran, and everything that reads intervals counts that time and no other. Errors of the whole turn go with it, and
the durations of the transactions that ended in the drain: without them none would be longer than a turn. Systems are
warm by the rule of `watch`, over the turns of each of them. Deliberately not here: whose turn it is when
(`plan.order`), the rate of a turn (`analyse.study.duets`), statistics.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from plimsoll.analyse.findings.recording_warnings import NOT_WARM_AT_LIMIT
from plimsoll.analyse.study.duets import Begun, ResponseTimes, TurnEnds, begun_in
from plimsoll.analyse.trial.histograms import SparseHistogram
from plimsoll.drive.engine import Driver, EngineRun
from plimsoll.drive.merging import merge_measures
from plimsoll.drive.plans import sources, trial_line
from plimsoll.drive.protocol import (
    Done,
    EngineWarning,
    ErrorCount,
    GroupInterval,
    Handover,
    Histogram,
    Interval,
    Ready,
    Snapshot,
)
from plimsoll.errors import HostError, InvalidTrialError, PlimsollError, StorageError
from plimsoll.plan.order import Turn, load_s_of_duet, order_of_turns
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, State
from plimsoll.record.partial import PartialRecording
from plimsoll.run.events import EventLog, IntervalEnded
from plimsoll.run.instance import FullDisks, places_of
from plimsoll.run.rows import IntervalRows, merged, response_ms_p99
from plimsoll.run.spool import Spool, refuse_unanswered
from plimsoll.run.survey import with_client_cpus
from plimsoll.run.systems import ManagedSystem
from plimsoll.run.trial import TrialRunner, note_warm, weather_after, weather_before
from plimsoll.run.trial_progress import TrialProgress, TrialTask, outcome_of
from plimsoll.run.watch import Freezer, Watch, trends, unseen, unwatched, watching
from plimsoll.spec.study import LEAD_RATIO, StudySection, pair_count, pairs_per_round, sweeps_to_warm


@dataclass(slots=True)
class Side:
    """One system of a duet.

    Attributes:
        taken: Its turns so far, warm-up included.
        ended_count: Transactions that ended in them.
        client_ns: Processor time of the engine in their counted parts, in user space and in the kernel.
    """

    task: TrialTask
    progressing: TrialProgress
    spool: Spool
    freezer: Freezer
    taken: list[TurnTaken] = field(default_factory=list)
    ended_count: int = 0
    client_ns: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def name(self) -> str:
        """Of the system."""
        return self.task.planned.system

    @property
    def instances(self) -> list[str]:
        """Names of its servers."""
        return [instance.name for instance in self.task.system.instances]


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
        progressing = TrialProgress(
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
        side.progressing.throughput_tps.append(taken.interval.throughput_tps)
        if self._is_measuring:
            side.progressing.measured.add(taken.interval)
        side.spool.add(taken.interval, began_unix_s=began_unix_s, window=side.progressing.measured.window)

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
        seconds = sum((interval.to_ns - interval.from_ns) / 1e9 for interval in last)
        self._stage.log.say(
            IntervalEnded(
                index=len(self._sides[0].taken) - 1,
                state=self._sides[0].progressing.state,
                throughput_tps=sum(interval.completed for interval in last) / max(seconds, 1e-9),
                response_ms_p99=response_ms_p99(last),
                error_count=sum(
                    error.count for interval in last for group in interval.groups for error in group.snapshot.errors
                ),
            )
        )

    def _warn(self, warning: EngineWarning) -> None:
        """A doubt of the engine's is one about all systems."""
        for side in self._sides:
            side.progressing.warn(warning)


def own_ready(ready: Ready, side: Side) -> Ready:
    """What of the opening of connections is of one side."""
    names = side.instances
    failures = [failure for failure in ready.failures if failure.instance in names]
    wanted = side.task.planned.connections
    return ready.model_copy(
        update={
            "failures": failures,
            "encryptions": [encryption for encryption in ready.encryptions if encryption.instance in names],
            "wanted_count": wanted,
            "connections": wanted - sum(failure.count for failure in failures),
        }
    )


def own_done(done: Done, side: Side) -> Done:
    """What of the account is of one side: the length and the cost of its own turns, and what ended in them."""
    outages = [outage for outage in done.outages if outage.instance in side.instances]
    user_ns, system_ns = side.client_ns
    load_s = sum(taken.row["to_s"] - taken.row["from_s"] for taken in side.taken)
    return done.model_copy(
        update={
            "duration_ns": round(load_s * 1e9),
            "offered_count": side.ended_count + done.unfinished_count,
            "client": done.client.model_copy(update={"user_ns": user_ns, "system_ns": system_ns}),
            "outages": outages,
            "outages_count": len(outages),
        }
    )


def note_weather(sides: Sequence[Side]) -> None:
    """Notes how fast the machine is, before the load and after it: one reference load for all, with servers frozen.

    So nothing that a server still flushes or purges competes with it, and each round is measured alike.

    Raises:
        HostError: The data directory of the first server cannot be written to.
    """
    system, before = sides[0].task.system, sides[0].progressing.weather
    weather = weather_before(system) if before is None else weather_after(system, before)
    for side in sides:
        side.progressing.weather = weather


@contextmanager
def thawed_at_the_end(sides: Sequence[Side]) -> Iterator[None]:
    """Thaws all servers, whatever happened; one that has ended needs no thaw, and its end is told elsewhere."""
    try:
        yield
    finally:
        for side in sides:
            with contextlib.suppress(HostError):
                side.freezer.thaw()


class _Enter(Protocol):
    def __call__(
        self, task: TrialTask, progressing: TrialProgress, spool: Spool, state: State, began_unix_s: float | None = None
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a round needs of its runner.

    Attributes:
        here: Name of this machine.
        clock: Wall clock, seconds since 1970.
        enter: Notes that a state began.
        note: Notes what is to be said of the last state.
    """

    driver: Driver
    here: str
    clock: Callable[[], float]
    log: EventLog
    enter: _Enter
    note: Callable[[TrialProgress, str], None]


VALUE_S = 1.0
"""Turns are taken together to values of at least so long, as the rule expects them."""

Seen = tuple[TrialProgress, Mapping[str, Sequence[float]]]
"""What is known of one system's trial, and its InnoDB state so far, a value for each second in which it ran."""


class Warming:
    """Counts sweeps until all systems are warm.

    Attributes:
        limit_s: How long each system is warmed at most, seconds.
        sweeps_max: As sweeps.
    """

    def __init__(self, study: StudySection, system_count: int) -> None:
        self._study = study
        self._sweeps_count = 0
        self._turns_in_value = max(math.ceil(VALUE_S / study.turn), 1)
        self.limit_s = study.warm_up_limit if study.warm_up is None else study.warm_up
        self.sweeps_max = max(sweeps_to_warm(self.limit_s, study, system_count), 1)

    def is_over(self, seen: Sequence[Seen]) -> bool:
        """Whether what comes after this sweep counts; then each trial has a note that says why."""
        self._sweeps_count += 1
        is_last = self._sweeps_count >= self.sweeps_max
        if self._study.warm_up is not None:
            for progressing, _ in seen:
                progressing.warm_note = f"{self._study.warm_up:g} s of own turns as asked for"
            return is_last
        moving = [trends(self._values(progressing.throughput_tps), stocks) for progressing, stocks in seen]
        if not is_last and any(moving):
            return False
        for (progressing, _), names in zip(seen, moving, strict=True):
            self._note(progressing, names)
        return True

    def _note(self, progressing: TrialProgress, moving: Sequence[str]) -> None:
        turns = len(progressing.throughput_tps)
        if not moving:
            progressing.warm_note = f"flat after {turns} turns of {self._study.turn:g} s"
            return
        limit_s, names = self.limit_s, ", ".join(moving)
        progressing.warm_note = f"still trending at the limit of {limit_s:g} s: {names}"
        evidence = f"After {limit_s:g} s of warm-up there was still a trend in: {names}."
        progressing.warnings.append(NOT_WARM_AT_LIMIT.warning(evidence))

    def _values(self, turns_tps: Sequence[float]) -> list[float]:
        """The means of neighbouring turns of one system, the latest whole."""
        size = self._turns_in_value
        begin = len(turns_tps) % size
        return [sum(turns_tps[at : at + size]) / size for at in range(begin, len(turns_tps), size)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaken:
    """A turn that is over.

    Attributes:
        turn: Which.
        interval: Its counted part, with the groups of its side and the errors of the whole turn.
        row: What `turns.parquet` keeps of it, besides its place.
        ended: How many transactions completed, failed or were dropped in the whole turn.
    """

    turn: Turn
    interval: Interval
    row: dict[str, Any]
    ended: int


class TurnParts:
    """Gathers the parts of the running turn."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Interval]] = {}
        self._response_times: dict[int, ResponseTimes] = defaultdict(ResponseTimes)

    def add(self, part: Interval) -> None:
        """Takes a part in; what belongs to no turn is passed over."""
        if part.turn is not None:
            self._parts.setdefault(part.turn.part, []).append(part)

    def take(self, turn: Turn, *, index: int, instances: Iterable[str], against: str) -> TurnTaken | None:
        """The turn whose parts were gathered; afterwards there are none. None where it did not come to its end.

        Args:
            turn: Which one it was.
            index: Of its interval in the recording.
            instances: Of its side.
            against: The other system of its pair.
        """
        parts, self._parts = self._parts, {}
        if not {"lead", "counted", "drain"} <= parts.keys():
            return None
        named = set(instances)
        side_groups = {
            part: [group for interval in intervals for group in _of(interval, named)]
            for part, intervals in parts.items()
        }
        counted, besides = parts["counted"][0], [*side_groups["lead"], *side_groups["drain"]]
        groups = [_whole(group, side_groups["drain"], besides) for group in side_groups["counted"]]
        interval = counted.model_copy(update={"index": index, "turn": None, "groups": groups})
        begun = self._begun(turn.side, side_groups, (counted.to_ns - counted.from_ns) / 1e9)
        completed = _sum(side_groups["counted"], "completed")
        completed_besides = _sum(besides, "completed")
        failed = _sum([*side_groups["counted"], *besides], "failed")
        row = {
            "interval": index,
            "pair": turn.pair,
            "position": turn.position,
            "against": against,
            "from_s": parts["lead"][0].from_ns / 1e9,
            "counted_from_s": counted.from_ns / 1e9,
            "to_s": counted.to_ns / 1e9,
            "drained_s": parts["drain"][-1].to_ns / 1e9,
            "completed": completed,
            "completed_besides": completed_besides,
            "failed": failed,
            "begun": begun.count,
            "running_s": begun.running_s,
        }
        dropped = _sum([*side_groups["counted"], *besides], "dropped")
        return TurnTaken(turn=turn, interval=interval, row=row, ended=completed + completed_besides + failed + dropped)

    def _begun(self, side: int, side_groups: Mapping[str, Sequence[GroupInterval]], counted_s: float) -> Begun:
        """What began in the counted part; the response times of the whole turn are remembered."""
        response_times = self._response_times[side]
        response_times.add(_response_times([*side_groups["lead"], *side_groups["counted"], *side_groups["drain"]]))
        ended = [*side_groups["counted"], *side_groups["drain"]]
        turn = TurnEnds(
            counted_s=counted_s,
            connections=sum(group.connected_count for group in side_groups["counted"]),
            completed=_sum(ended, "completed"),
            failed=_sum(ended, "failed"),
            ages_before=_ages(side_groups["lead"]),
            ages_after=_ages(side_groups["counted"]),
            drained=_response_times(side_groups["drain"]),
        )
        return begun_in(turn, response_times)


def _of(interval: Interval, instances: set[str]) -> list[GroupInterval]:
    return [group for group in interval.groups if group.instance in instances]


def _sum(groups: Iterable[GroupInterval], count: str) -> int:
    return sum(
        getattr(transaction.counts, count) for group in groups for transaction in group.snapshot.transactions.values()
    )


def _response_times(groups: Iterable[GroupInterval]) -> SparseHistogram:
    """Of all transactions that completed."""
    return merged(
        transaction.histograms.get("response")
        for group in groups
        for transaction in group.snapshot.transactions.values()
    )


def _ages(groups: Iterable[GroupInterval]) -> SparseHistogram:
    """Of all transactions in flight at the end of a part."""
    return merged(group.in_flight.get("response") for group in groups)


def _whole(group: GroupInterval, drained: Iterable[GroupInterval], besides: Iterable[GroupInterval]) -> GroupInterval:
    """The counted part of a group with all errors and the durations of what drained; nothing is in flight any more."""
    snapshots = [other.snapshot for other in drained if _is_same(group, other)]
    errors = [other.snapshot for other in besides if _is_same(group, other)]
    snapshot = Snapshot(
        transactions={
            name: transaction.model_copy(
                update={"histograms": merge_measures([transaction.histograms, *_durations(name, snapshots)])}
            )
            for name, transaction in group.snapshot.transactions.items()
        },
        errors=_all_errors([group.snapshot, *errors]),
    )
    return group.model_copy(update={"snapshot": snapshot, "in_flight": {}})


def _durations(transaction: str, snapshots: Iterable[Snapshot]) -> Iterator[dict[str, Histogram]]:
    """Histograms of one transaction type, by measure."""
    return (
        snapshot.transactions[transaction].histograms for snapshot in snapshots if transaction in snapshot.transactions
    )


def _is_same(group: GroupInterval, other: GroupInterval) -> bool:
    return (group.instance, group.role) == (other.instance, other.role)


def _all_errors(snapshots: Iterable[Snapshot]) -> list[ErrorCount]:
    counts: Counter[tuple[str | None, str, int]] = Counter()
    for snapshot in snapshots:
        for error in snapshot.errors:
            counts[error.transaction, error.error_class, error.code] += error.count
    return [
        ErrorCount.model_validate({"transaction": transaction, "class": kind, "code": code, "count": count})
        for (transaction, kind, code), count in counts.items()
    ]
