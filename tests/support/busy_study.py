"""A made-up study of twelve trials as a busy machine leaves it: few repetitions, and many warnings of many kinds.

Two systems at three levels, each twice, with everything a recording can say: for tests of how much room a guide takes.
"""

from __future__ import annotations

import numpy as np

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis, StudyFile
from plimsoll.record.environment import Environment
from plimsoll.record.model import TrialWarning
from support.analyses import environment
from support.disturbed import DISTURBED, QUIET, machine_table
from support.made import Made, measured

WINDOW_S = 8
RATES_TPS = {
    "durable": {1: 212.0, 4: 471.0, 16: 628.0},
    "relaxed": {1: 348.0, 4: 690.0, 16: 812.0},
}
FLUSH = {"durable": "1", "relaxed": "2"}

SEEN = {
    "cpu_user_ratio": 0.71,
    "cpu_system_ratio": 0.27,
    "server_cpu_ratio": 0.3,
    "client_cpu_ratio": 0.22,
    "disk_vda_busy_ratio": 0.31,
    "server_context_switches_per_s": 7610.0,
    "pressure_cpu_some_ratio": 0.97,
    "com_commit": 400.0,
    "innodb_os_log_written": 4.1e6,
    "innodb_data_fsyncs": 380.0,
    "innodb_row_lock_time": 210.0,
    "innodb_row_lock_waits": 31.0,
}
"""Metrics of a second besides those that say how disturbed it was."""

STUDY = """
[study]
name = "flush-at-commit"
levels = { connections = [1, 4, 16] }
warm_up = "2s"
duration = "8s"
repetitions = 2
objective = { response_p99 = "50ms" }

[[workload]]
name = "read-write"
kind = "oltp_read_write"
tables = 2
table_size = 20_000

[[system]]
name = "durable"
server = { managed = "mariadb", options = { innodb_flush_log_at_trx_commit = 1 } }

[[system]]
name = "relaxed"
server = { managed = "mariadb", options = { innodb_flush_log_at_trx_commit = 2 } }
"""


def busy_analysis() -> Analysis:
    """Its analysis, with what the study's folder adds."""
    recordings = [
        _trial(system, connections, repetition)
        for system in RATES_TPS
        for connections in RATES_TPS[system]
        for repetition in range(2)
    ]
    analysis = analyse("flush-at-commit", recordings, objective_ms_p99=50.0)
    options = {"warm-up": "2 s", "measured": f"{WINDOW_S} s", "repetitions": "2", "design": "sequential", "seed": "1"}
    return analysis.model_copy(update={"study_file": StudyFile(options=options, text=STUDY)})


def _trial(system: str, connections: int, repetition: int) -> Made:
    random = np.random.default_rng([connections, repetition, len(system)])
    slow = random.random(WINDOW_S) < 0.3 + 0.3 * repetition
    rates = RATES_TPS[system][connections] * np.where(slow, 0.55, 1.0) * random.normal(1.0, 0.06, WINDOW_S)
    if (system, connections, repetition) == ("durable", 16, 1):
        rates[4:6] = 0.0
    count = int(rates.sum())
    response_ns = (connections / rates.mean() * 1e9 * random.gamma(2.0, 0.5, count)).astype(np.int64)
    seconds = [SEEN | (DISTURBED if is_slow else QUIET) for is_slow in slow]
    return measured(
        rates,
        environment=_environment(system),
        response_ns=response_ns,
        telemetry=machine_table(seconds),
        system=system,
        workload="read-write",
        kind="oltp_read_write",
        options={"tables": "2", "table_size": "20,000", "distribution": "uniform"},
        connections=connections,
        repetition=repetition,
        factors={"innodb_flush_log_at_trx_commit": FLUSH[system]},
        warnings=_warnings(connections, repetition),
        errors=_errors(connections, repetition),
    )


def _environment(system: str) -> Environment:
    """A small server that does not hold its data, on a machine set up in haste."""
    here = environment(FLUSH[system])
    variables = here.instances[0].variables | {
        "innodb_buffer_pool_size": str(128 * 2**20),
        "innodb_log_file_size": str(4 * 2**20),
        "query_cache_type": "ON",
        "query_cache_size": "1048576",
        "innodb_doublewrite": "OFF",
        "innodb_io_capacity": "200" if system == "durable" else "400",
    }
    host = here.host.model_copy(update={"transparent_huge_pages": "always", "cpu_governor": "ondemand"})
    return here.model_copy(
        update={"host": host, "instances": (here.instances[0].model_copy(update={"variables": variables}),)}
    )


def _warnings(connections: int, repetition: int) -> tuple[TrialWarning, ...]:
    """What the run wrote into a recording, with figures of its own."""
    return (
        TrialWarning(
            code="intervals-late",
            evidence=f"{connections + repetition + 1} intervals ended up to {7 * connections} ms late",
            advice="Run the client where it gets processor time, and measure these trials again.",
        ),
        TrialWarning(
            code="telemetry-missing",
            evidence=f"no sample of vda in {2 + repetition} seconds",
            advice="Remove the cause that the evidence names, and measure these trials again.",
        ),
        TrialWarning(
            code="not-warm-at-limit",
            evidence=f"throughput still rose by {11 + connections} % when the warm-up ended",
            advice="Raise warm_up_limit, or measure longer.",
        ),
    )


def _errors(connections: int, repetition: int) -> list[dict[str, object]]:
    if connections < 16:
        return []
    return [{"transaction": "t", "class": "retryable", "code": 1213, "count": 9 + repetition}]
