"""Whether a study could be measured on servers that run already: looked at before anything is loaded anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import Progress
from plimsoll.errors import PlimsollError, TargetError
from plimsoll.run.connections import unready_targets
from plimsoll.run.events import DataProgressed
from plimsoll.run.keeper import ANSWER_LIMIT_S, DataKeeper, tables_there
from plimsoll.run.privileges import MAKING, READING, RESETTING, missing_privileges
from plimsoll.run.progressing import data_progressed
from plimsoll.run.role_targets import role_targets, unfit_roles
from plimsoll.servers.control import connect
from plimsoll.spec.statements import Workload, data_sets
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import SystemSpec
from plimsoll.spec.target import Target


def unfit_targets(
    spec: StudySpec, targets: list[tuple[SystemSpec, Target]], watch: Callable[[DataProgressed], None]
) -> Iterator[str]:
    """A line for everything that would keep trials from running on servers; of one that does not answer, that.

    Args:
        spec: What the user wrote.
        targets: Systems that are running servers, with how they are reached.
        watch: Is told how far looking at tables is.
    """
    for system, target in targets:
        if faults := [*unready_targets(spec.sessions_max, role_targets(system))] or [*unfit_roles(spec, [system])]:
            yield from faults
            continue
        try:
            yield from _unfit(spec, system, target, _told_of(system.name, watch))
        except TargetError as error:
            yield _named(system, error)


def refuse_unfit(target: Target, workload: Workload, connections: int) -> None:
    """Refuses a running server on which a search could not be run to its end, before it waits or loads anything.

    Rows are not counted: the engine does that before each run.

    Raises:
        TargetError: It does not answer, lets too few connections in, or the account may not read; all of it at once.
        DataError: Tables are missing.
    """
    if faults := [*unready_targets(connections, [target])]:
        raise TargetError("\n".join(faults))
    if missing := _missing(target, READING):
        raise TargetError(
            f"{target}: the account {target.user} lacks {', '.join(missing)} to measure; {_grant(target, missing)}"
        )
    with connect(target, read_limit_s=ANSWER_LIMIT_S) as control:
        there = tables_there(control, workload.table_names)
    if len(there) < len(workload.table_names):
        DataKeeper(driver=LocalDriver(), data_sets=(workload,)).check(target)  # it says which, and the cure


def _told_of(system: str, watch: Callable[[DataProgressed], None]) -> Callable[[Progress], None]:
    return lambda progress: watch(data_progressed(system, progress))


def _unfit(spec: StudySpec, system: SystemSpec, target: Target, progress: Callable[[Progress], None]) -> Iterator[str]:
    resets = spec.reset_of(system) not in ("never", "hook")
    keeper = DataKeeper(
        driver=LocalDriver(),
        data_sets=data_sets(spec.workload),
        changing=any(workload.changes_row_count for workload in spec.workload),
        progress=progress,
    )
    if missing := _missing(target, READING):
        yield _lacking(system, target, missing, "to measure")
        return
    try:
        makes = keeper.foresee(target, resets=resets)
    except PlimsollError as error:
        yield _named(system, error)
        return
    if (resets or makes) and (missing := _missing(target, RESETTING if resets else MAKING)):
        yield _lacking(system, target, missing, "to put data back" if resets else "to make the tables")


def _missing(target: Target, wanted: Sequence[str]) -> tuple[str, ...]:
    """Privileges that the account lacks; its connection is closed before the engine opens one: there may be no other.

    Raises:
        TargetError: It may not even ask for the server's variables and status, which every trial does.
    """
    with connect(target, read_limit_s=ANSWER_LIMIT_S) as control:
        control.status()
        control.variables()
        return missing_privileges(control, wanted)


def _lacking(system: SystemSpec, target: Target, missing: tuple[str, ...], why: str) -> str:
    other = "" if why == "to measure" else ', or make the tables with another account and say reset = "never"'
    return (
        f"system {system.name}: {target}: the account {target.user} lacks {', '.join(missing)} {why};"
        f" {_grant(target, missing)}{other}"
    )


def _grant(target: Target, missing: tuple[str, ...]) -> str:
    return f"GRANT {', '.join(missing)} ON `{target.database}`.* to it"


def _named(system: SystemSpec, error: PlimsollError) -> str:
    return f"system {system.name}: {error}"
