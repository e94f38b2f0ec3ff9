"""A whole study: blocks in order, exactly one system running at a time, resume, a bounded number of failures.

Ctrl-C, SIGTERM or a crash at any instant loses at most the running trial: every finished one is committed, and running
the same study again does what is missing or failed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from plimsoll.drive.executable import find_engine
from plimsoll.errors import StorageError
from plimsoll.record.recovery import recover
from plimsoll.record.store import refuse_newer_study
from plimsoll.run import folder as study_folder
from plimsoll.run.course import Course, StudyResult
from plimsoll.run.drivers import driver_of
from plimsoll.run.environments import Switcher, there_from_the_start, turn_now
from plimsoll.run.equal_machines import EqualMachines
from plimsoll.run.events import Event, EventLog
from plimsoll.run.execution import Execution
from plimsoll.run.history import read_history
from plimsoll.run.hooks import HookPlace
from plimsoll.run.hosts import Hosts
from plimsoll.run.planning import plan_study, was_fitted
from plimsoll.run.preflight import refuse_before_start
from plimsoll.run.same_device import shared_devices
from plimsoll.run.study_preflight import StudyPreflight
from plimsoll.run.users_file import folder_of_file
from plimsoll.run.visiting import look_at_machines
from plimsoll.spec.study import StudySpec


def run_study(
    file: Path,
    spec: StudySpec,
    folder: Path,
    watch: Callable[[Event], None],
    *,
    strict: bool = False,
    fit_budget: bool = False,
    environment: str | None = None,
) -> StudyResult:
    """Runs what is missing of a study.

    Args:
        file: The study file; its text is kept in the folder.
        spec: What it says.
        folder: Where everything about the study is kept.
        watch: Is told of every event.
        strict: Refuse to measure where pre-flight checks find figures wrong or uncertain.
        fit_budget: Whether repetitions are reduced where the plan would take longer than the budget.
        environment: The one that is there, where environments are switched by hand; None to find it by checks.

    Raises:
        SpecError, TargetError, HostError: It could not begin, or could not go on.
        RecordError: A newer Plimsoll wrote something in the folder.
        KeyboardInterrupt: Somebody stopped it; all finished trials are kept.
    """
    plan_study(spec, fit_budget=fit_budget or was_fitted(spec, folder))
    find_engine()
    with (
        study_folder.opened(folder, file, spec) as opened,
        Hosts() as hosts,
        driver_of(spec.study.drivers, spec.study.client_cpus) as driver,
    ):
        refuse_newer_study(folder)
        recover(folder)
        planned = plan_study(spec, folder, fit_budget=fit_budget)
        spec = planned.spec
        opened.keep(planned.plan)
        place = HookPlace(study=spec.study.name, folder=folder_of_file(folder, file), say=watch)
        turn, todo = turn_now(spec, planned, folder, place, environment), planned.missing
        if turn is not None:
            todo = list(turn.todo)
            spec = spec.model_copy(
                update={"system": tuple(one for one in spec.system if one.environment == turn.environment)}
            )
        hosts.sweep(there_from_the_start(spec))
        if todo or planned.plan.searches:
            refuse_before_start(spec, folder, len(todo), watch, hosts=hosts, driver=driver, hooks_folder=place.folder)
        log = EventLog(folder / study_folder.EVENTS_FILE, watch, opened.held.refuse_moved)
        try:
            for shared in shared_devices(spec):
                log.say(shared)
            preflight = StudyPreflight(spec, folder, log, hosts, strict=strict)
            switcher = Switcher(spec, replace(place, say=log.say), hosts)
            history = read_history(folder, (trial.trial_id for trial in planned.plan.trials))
            if todo or planned.plan.searches:
                look_at_machines(spec, todo, switcher, preflight, EqualMachines(planned.spec, history))
            execution = Execution(
                spec, planned, folder, log, preflight=preflight, hosts=hosts, driver=driver,
                switcher=switcher, history=history,
            )  # fmt: skip
            return Course(spec, planned, folder, log, opened.keep, execution=execution, turn=turn).run()
        except StorageError:
            opened.held.refuse_moved()  # which says more than a file that is not there
            raise
        finally:
            log.close()
