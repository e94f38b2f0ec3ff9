"""One measured run without a study: nothing is recorded, the result is returned.

Deliberately not here: settling, resets and waiting for a warm server; a study does those.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from plimsoll.analyse.trial_checks import CHECKS_OF_A_RUN
from plimsoll.analyse.trial_summary import TrialSummary, summarise
from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.executable import engine_version
from plimsoll.drive.plans import trial_line
from plimsoll.drive.protocol import Done, EngineWarning, Interval, Progress
from plimsoll.errors import InvalidTrialError, TargetError
from plimsoll.record.model import (
    ClientFacts,
    Environment,
    LevelRecord,
    Outcome,
    SystemRecord,
    TrialRecord,
    TrialWarning,
    Verdict,
    Window,
)
from plimsoll.run.client_limits import known_limit_tps
from plimsoll.run.connections import OWN_CONNECTIONS
from plimsoll.run.in_memory import InMemory
from plimsoll.run.keeper import DataKeeper
from plimsoll.run.progressing import INTERVAL_S, account_of, connections_of, outages_of, warning_of, workload_record
from plimsoll.run.rows import IntervalRows
from plimsoll.run.unanswered import why_unanswered
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.facts import host_facts
from plimsoll.servers.managed import ManagedServer
from plimsoll.servers.managed_spec import ManagedSpec
from plimsoll.servers.option_file import PROFILE_CONNECTIONS
from plimsoll.servers.sweep import sweep
from plimsoll.spec.arrivals import OpenArrivals
from plimsoll.spec.clients import CLIENTS, Clients
from plimsoll.spec.statements import Workload
from plimsoll.spec.target import Target
from plimsoll.spec.terminals import checks_each_trial


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRun:
    """What to run.

    Attributes:
        warm_up_s: Load runs so long before it counts.
        duration_s: Load counts for so long.
        arrivals: The wanted rate; None for a closed loop.
        clients: How they connect, how long they think, and what they do about errors.
        look_first: Whether the engine looks at tables and limits before it connects.
    """

    workload: Workload
    target: Target
    connections: int
    warm_up_s: float
    duration_s: float
    seed: int
    arrivals: OpenArrivals | None = None
    clients: Clients = CLIENTS
    look_first: bool = True


def run_single(run: SingleRun, seen: Callable[[Interval], None] = lambda _: None) -> TrialSummary:
    """Runs the load and sums the measured window up.

    Args:
        run: What to run.
        seen: Is told of each interval.

    Returns:
        What was measured. Its outcome is `failed` where the server was gone or silent when the load ended: what was
        measured before is evidence then, and no result.

    Raises:
        SpecError, TargetError, HostError, EngineBugError: It could not be run, or the server was gone before anything
            was measured.
        InvalidTrialError: No transaction completed in the measured window.
    """
    first = math.ceil(run.warm_up_s / INTERVAL_S)
    count = math.ceil(run.duration_s / INTERVAL_S)
    rows, warnings, done = IntervalRows(driver="", host=""), list[TrialWarning](), None
    plan = trial_line(
        run.workload,
        {"target": run.target},
        connections=run.connections,
        duration_s=(first + count) * INTERVAL_S,
        seed=run.seed,
        arrivals=run.arrivals,
        clients=run.clients,
        look_first=run.look_first,
    )
    with LocalDriver().launch("trial", plan) as engine:
        ready = engine.ready(lambda warning: warnings.append(warning_of(warning)))
        began_unix_s = time.time()
        engine.start()
        for message in engine.messages():
            match message:
                case Interval():
                    rows.add(message, began_unix_s=began_unix_s)
                    if message.index < first + count:
                        seen(message)
                case EngineWarning():
                    warnings.append(warning_of(message))
                case Done():
                    done = message
    assert done is not None, "the messages of a run end with done"
    last = max(min(first + count, rows.interval_count) - 1, first)  # it ends early where the server stays away
    outcome = Outcome(
        verdict=Verdict.COMPLETE,
        window=Window(first=first, last=last),
        account=account_of(done),
        connections=connections_of(ready),
        outages=outages_of(done),
        outages_count=done.outages_count,
        warnings=tuple(warnings),
    )
    return _judged(run, outcome, rows)


def _judged(run: SingleRun, outcome: Outcome, rows: IntervalRows) -> TrialSummary:
    """What was measured, with its doubts and what became of it. Raises as `run_single`."""
    environment = Environment(client=_client_facts(run))
    summary = summarise(InMemory(_trial_record(run), outcome, rows, environment))
    reason = why_unanswered(outcome, rows.connected, summary)
    if summary is None or summary.counts is None or summary.counts.completed == 0:
        if reason is not None:
            raise TargetError(reason)
        raise InvalidTrialError(
            f"no transaction completed within {run.duration_s:g} s{rows.told_errors()}; measure longer, or look at the "
            "server"
        )
    doubts = [warning for check in CHECKS_OF_A_RUN for warning, _ in check(summary)]
    found: dict[str, object] = {"warnings": (*doubts, *outcome.warnings)}
    if reason is not None:
        found |= {"verdict": Verdict.FAILED, "reason": reason}
    return replace(summary, outcome=outcome.model_copy(update=found))


def refuse_inconsistent(run: SingleRun, when: str, progress: Callable[[Progress], None]) -> None:
    """Looks at the conditions of a TPC-C-derived workload that asks for it; of others at nothing.

    Args:
        run: Whose rows; its load must not run.
        when: Relative to the load, as the message says it.
        progress: Is told how far it is.

    Raises:
        DataError: A condition does not hold, so that what was measured, or would be, must not be believed.
    """
    if checks_each_trial(run.workload):
        DataKeeper(driver=LocalDriver(), data_sets=(run.workload,), progress=progress).verify(run.target, when)


def _client_facts(run: SingleRun) -> ClientFacts:
    limit_tps = known_limit_tps(host_facts(), engine_version(), run.workload, run.connections, [run.target])
    return ClientFacts(limit_tps=limit_tps)


def _trial_record(run: SingleRun) -> TrialRecord:
    return TrialRecord(
        trial_id="single",
        study="single",
        system=SystemRecord(name=str(run.target)),
        workload=workload_record(run.workload, run.clients.stated()),
        level=LevelRecord(connections=run.connections),
        repetition=0,
        seed=run.seed,
        interval_s=INTERVAL_S,
        duration_s=run.duration_s,
    )


@contextmanager
def throwaway_target(server: str, keeper: DataKeeper, *, connections: int) -> Iterator[Target]:
    """A managed server with the workload's data, removed afterwards.

    Args:
        server: `mariadb`, `mysql`, or a full command.
        keeper: Makes its rows.
        connections: It lets in so many.

    Raises:
        HostError, TargetError: It cannot be had.
    """
    sweep(default_base_dir())
    many = {"max_connections": max(connections + OWN_CONNECTIONS, PROFILE_CONNECTIONS)}
    with ManagedServer.create(name="trial", spec=ManagedSpec(server=server, options=many)) as managed:
        managed.start()
        keeper.ensure(managed.target)
        yield managed.target
