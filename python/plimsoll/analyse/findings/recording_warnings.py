"""Warnings that whoever raises them writes into a recording, with evidence in words: the engine, the run, importers."""

from __future__ import annotations

from plimsoll.analyse.findings.doubts import Voids, WarningKind

NO_SERVER = WarningKind(
    "no-server",
    Voids.RUN,
    "If the script was to use a server, let it connect by sysbench.sql. Otherwise its figures say nothing about any"
    " server.",
)
LOG_CUT_SHORT = WarningKind("log-cut-short", Voids.CERTAINTY, "Import the whole log, or run the load again.")
REPETITIONS_MAY_DIFFER = WarningKind(
    "repetitions-may-differ",
    Voids.CERTAINTY,
    "Import them again with {factor:NAME} or {workload} in --pattern where {any} stands, into a new study.",
)
NOT_WARM_AT_LIMIT = WarningKind("not-warm-at-limit", Voids.CERTAINTY, "Raise warm_up_limit, or measure longer.")
TARGET_INTERVAL_MISSED = WarningKind(
    "target-interval-missed",
    Voids.CERTAINTY,
    "Raise duration_limit or the budget, or accept a wider target_interval.",
)
OUTAGE = WarningKind(
    "outage",
    Voids.CERTAINTY,
    "Find out why the server closed the connections (see its error log), or why it or the network fell silent. Measure"
    " these trials again unless the outage was meant.",
)
CONNECTIONS_MISSING = WarningKind(
    "connections-missing",
    Voids.CERTAINTY,
    "Remove what limits connections, on the server or on the client's machine, and measure these trials again.",
)
CONNECTIONS_STUCK = WarningKind(
    "connections-stuck",
    Voids.CERTAINTY,
    "Look at the network to the server, and at what the server's threads wait for.",
)
INTERVALS_LATE = WarningKind(
    "intervals-late",
    Voids.NOTHING,
    "Run the client where it gets processor time, and measure these trials again.",
)
TELEMETRY_MISSING = WarningKind(
    "telemetry-missing",
    Voids.NOTHING,
    "Remove the cause that the evidence names, and measure these trials again.",
)
COLLECT_FAILED = WarningKind(
    "collect-failed",
    Voids.NOTHING,
    "Look at the output of the hook in the recording, and correct the command; the figures of the trial stand.",
)
COLUMNS_NOT_COMPARED = WarningKind(
    "columns-not-compared",
    Voids.NOTHING,
    "If that matters, use a type that keeps values as they are, such as DECIMAL or VARCHAR.",
)
NO_PROGRESS = WarningKind(
    "no-progress",
    Voids.NOTHING,
    "The server is busy with one long statement, waits for space on a full disk, hangs, or another connection holds a"
    " lock on a table: SHOW FULL PROCESSLIST on the server and its error log tell which.",
)
