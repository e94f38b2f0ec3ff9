"""Whether a study could be measured on servers that run already: looked at before anything is loaded anywhere.

Whether the highest level fits what they let in: the engine looks too, before each trial, and a study may meet its
highest level hours later. What an account may do is asked without doing it: a server looks at privileges before it
looks whether a table exists, so a statement on a table that nobody has tells whether it is allowed: 1142 means no, 1146
(no such table) means yes. Nothing is created, changed or dropped, whatever the answer is. Roles and patterns in grants
need not be understood that way.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from plimsoll.analyse.findings.machine import OWN_CONNECTIONS
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.protocol import Progress
from plimsoll.errors import Fault, PlimsollError, TargetError
from plimsoll.run.events import DataProgressed
from plimsoll.run.replicas import role_targets, unfit_roles
from plimsoll.run.system_data import ANSWER_LIMIT_S, DataKeeper, tables_there
from plimsoll.run.trial_progress import data_progressed
from plimsoll.servers.control import connect
from plimsoll.servers.option_file import PROFILE_CONNECTIONS, SERVER_CONNECTIONS, Profile
from plimsoll.servers.settle import StatusSource
from plimsoll.spec.server_options import bare_name
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec, SystemSpec
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import Workload, data_sets
from plimsoll.units import parse_whole


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
            yield from _unfit(spec, system, target, _progress_for(system.name, watch))
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


def _progress_for(system: str, watch: Callable[[DataProgressed], None]) -> Callable[[Progress], None]:
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


def crowded_managed(spec: StudySpec) -> Iterable[Fault]:
    """A fault for each managed server that would not let its share of them in."""
    for index, system in enumerate(spec.system):
        if system.server is None:
            continue
        limit, level = _limit(system.server), -(-spec.sessions_max // system.server.instances)
        if limit is not None and level + OWN_CONNECTIONS > limit:
            yield Fault(
                ("system", index, "server", "options"),
                f"max_connections is {limit}, too few for the level of {level:,} and Plimsoll's own connections; set"
                f" options = {{ max_connections = {level + OWN_CONNECTIONS} }}",
            )


def unready_targets(level: int, targets: Iterable[Target]) -> Iterable[str]:
    """A line for each running server that does not answer, does not let us in, or not as many as a level has."""
    for target in targets:
        try:
            with connect(target, read_limit_s=ANSWER_LIMIT_S) as control:
                of_server = control.count("SELECT @@max_connections")
                of_account = control.count("SELECT @@max_user_connections")
        except TargetError as error:
            yield str(error)
            continue
        for name, limit in (("max_connections", of_server), ("max_user_connections of the account", of_account)):
            if limit and level + OWN_CONNECTIONS > limit:
                yield (
                    f"{target}: {name} is {limit}, too few for the level of {level:,} and Plimsoll's own connections;"
                    f" set it to {level + OWN_CONNECTIONS}, or use lower levels"
                )


def _limit(server: ServerSpec) -> int | None:
    """How many connections it will let in; None when the option is nothing that could be compared."""
    written = [value for name, value in server.server_options.items() if bare_name(name) == "max_connections"]
    if not written:
        return SERVER_CONNECTIONS if Profile(server.profile) is Profile.SERVER_DEFAULTS else PROFILE_CONNECTIONS
    return parse_whole(str(written[-1]))


_DENIED = frozenset({1044, 1142, 1227})
_READ_ONLY = frozenset({1290, 1836})

_PROBES: Mapping[str, str] = {
    "SELECT": "SELECT 1 FROM {none}",
    "INSERT": "INSERT INTO {none} VALUES (1)",
    "CREATE": "CREATE TABLE {none}_2 LIKE {none}",
    "DROP": "DROP TABLE {none}",
    "ALTER": "ALTER TABLE {none} COMMENT = 'x'",
    "INDEX": "CREATE INDEX i ON {none} (i)",
}

READING = ("SELECT",)
MAKING = ("SELECT", "INSERT", "CREATE", "ALTER", "INDEX")
"""To make tables, fill them, index them and mark them as complete."""

RESETTING = (*MAKING, "DROP")


def missing_privileges(control: StatusSource, wanted: Iterable[str]) -> tuple[str, ...]:
    """Which of some privileges the account does not have in the connection's database.

    Privileges on single tables cannot be asked for that way: an account that has some is taken at its word.

    Raises:
        TargetError: The server is read-only, or the connection was lost.
    """
    none = f"plimsoll_none_{secrets.token_hex(8)}"
    missing = tuple(name for name in wanted if _is_denied(control, _PROBES[name].format(none=none), name))
    return () if missing and _has_table_privileges(control) else missing


def _is_denied(control: StatusSource, statement: str, privilege: str) -> bool:
    try:
        control.rows(statement)
    except TargetError as error:
        if error.code in _READ_ONLY:
            raise
        # CREATE ... LIKE wants SELECT too; the message names the one that is missing.
        return error.code in _DENIED and (error.code != 1142 or f"{privilege} command denied" in str(error))
    return False


def _has_table_privileges(control: StatusSource) -> bool:
    return bool(
        control.rows("SELECT 1 FROM information_schema.table_privileges WHERE table_schema = DATABASE() LIMIT 1")
    )
