"""A run that no plan foresaw, recorded into a folder of such runs: a repetition of what is there, or something new.

`plimsoll trial --record` and `plimsoll sysbench --plimsoll-record` share it. Deliberately not here: what runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError, StorageError
from plimsoll.importers.joining import Joiner
from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, StateMark, TrialRecord, Verdict
from plimsoll.record.partial import PartialRecording
from plimsoll.record.recovery import recover
from plimsoll.record.store import read_study, refuse_newer_study
from plimsoll.run.folder import refuse_for_recordings
from plimsoll.run.held import HeldFolder
from plimsoll.run.history import read_history
from plimsoll.run.rows import IntervalRows
from plimsoll.run.session import Session, server_start_id
from plimsoll.run.spool import Spool
from plimsoll.run.watch import Watch
from plimsoll.spec.arrivals import OpenArrivals


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingWanted:
    """Where a run is kept, and under which names.

    Attributes:
        study: The folder; made if it is missing.
        system: None for the server's own, such as its address.
        workload: None for its own.
    """

    study: Path
    system: str | None = None
    workload: str | None = None


class Joined:
    """One more recording of a folder, while it is made.

    Attributes:
        notes: What the user should know of it, one line each.
    """

    def __init__(self, held: HeldFolder) -> None:
        folder = held.path
        self._held = held
        self._recovered = [f"a run that was cut short was kept: {one.path.name}" for one in recover(folder)]
        self.notes = list(self._recovered)
        self._session = Session(read_history(folder))
        self._trial: TrialRecord | None = None
        self._environment = Environment()

    def begin(self, trial: TrialRecord, environment: Environment, rows: IntervalRows, watch: Watch) -> Spool:
        """Gives the trial its place, and opens its recording.

        Args:
            trial: With the names that were asked for.
            environment: What it will be measured on.
            rows: Those of the engine's intervals.
            watch: Gives those of telemetry.

        Raises:
            StorageError: The folder cannot be written.
        """
        self.turned_out(trial, environment)
        partial = PartialRecording.begin(self._held.path, trial.trial_id)
        partial.draft(self.trial, environment, Outcome(verdict=Verdict.INTERRUPTED))
        return Spool(partial, rows, watch)

    def turned_out(self, trial: TrialRecord, environment: Environment) -> None:
        """Gives the trial its place by what is known of it now, also when that is other than at its begin."""
        joiner = Joiner(read_study(self._held.path).recordings)
        placed = joiner.place(trial)
        start_id = server_start_id(environment.instances)
        self._trial = placed.model_copy(
            update={
                "session_id": self._session.session_id,
                "server_start_id": start_id,
                "block": self._session.block_of(0, start_id),
            }
        )
        self._environment = environment
        self.notes = list(self._recovered)
        if (changed := self._session.changed(placed.system.name, environment)) is not None:
            self.notes.append(
                f"{changed.system} has changed since {changed.trial_id}: {changed.changes}; guides list both"
            )
        self.notes += joiner.report

    @property
    def environment(self) -> Environment:
        """What the trial is measured on, as it is kept."""
        return self._environment

    def keep(self, spool: Spool, states: tuple[StateMark, ...], outcome: Outcome) -> Path:
        """Commits the recording.

        Args:
            spool: As `begin` gave it.
            states: What the trial went through.
            outcome: What became of it.

        Raises:
            StorageError: The disk is full, or the folder was moved or removed.
        """
        self._trial = self.trial.model_copy(update={"states": states})
        try:
            spool.flush()
            return spool.partial.commit(self._trial, self._environment, outcome)
        except StorageError:
            self.refuse_moved()
            raise

    def give_up(self, spool: Spool, states: tuple[StateMark, ...], outcome: Outcome) -> None:
        """Keeps what was measured until a run failed; nothing where no load ran. Raises as `keep`."""
        if spool.intervals_count:
            self.keep(spool, states, outcome)
        else:
            spool.partial.discard()

    def refuse_moved(self) -> None:
        """Makes sure that the folder still is where it was; raises StorageError if not."""
        self._held.refuse_moved()

    @property
    def trial(self) -> TrialRecord:
        """The trial as it is kept."""
        assert self._trial is not None, "it has begun"
        return self._trial


@contextmanager
def joining(folder: Path) -> Iterator[Joined]:
    """Holds a folder while one more recording is made.

    Raises:
        SpecError: It holds something else.
        HostError: It cannot be written, or another process measures into it.
        RecordError: A newer Plimsoll wrote recordings of it.
    """
    refuse_for_recordings(folder)
    with HeldFolder(folder) as held:
        refuse_newer_study(folder)
        yield Joined(held)


def recording_wanted(
    folder: Path | None, system: str | None, workload: str | None, arrivals: OpenArrivals | None
) -> RecordingWanted | None:
    """Where a single run is kept; None for nowhere. Looked at before anything is started.

    Raises:
        SpecError: A name or the rate makes no sense, or the folder holds something else.
    """
    faults = name_faults(folder, system, workload)
    if folder is not None and arrivals is not None and arrivals.steady_tps is None:
        faults.append("--record: guides cannot compare a rate that changes; give --rate a single rate")
    if faults:
        raise SpecError(*faults)
    if folder is None:
        return None
    refuse_for_recordings(folder)
    return RecordingWanted(study=folder, system=system, workload=workload)


def name_faults(folder: Path | None, system: str | None, workload: str | None, option: str = "--record") -> list[str]:
    """What is wrong with the options that say where a run is kept and under which names, one line each."""
    names = {f"{option}-system": system, f"{option}-workload": workload}
    given = {naming: name for naming, name in names.items() if name is not None}
    if folder is None:
        return [f"{naming}: needs {option}, the folder to record into" for naming in given]
    return [
        f"{naming}: must be printable text, is {name!r}"
        for naming, name in given.items()
        if not (name and name.isprintable())
    ]


def told(trial: TrialRecord, outcome: Outcome, folder: Path) -> str:
    """What was kept where, as one line."""
    cell = f"{trial.system.name}, {trial.workload.name}, {trial.level.label()}"
    verdict = "" if outcome.verdict is Verdict.COMPLETE else f" as {outcome.verdict}: {outcome.reason}"
    return f"recorded{verdict}: {cell}, repetition {trial.repetition + 1}; next: plimsoll guide {folder}"
