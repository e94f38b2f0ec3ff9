"""All warning codes in one place: what each means and what to do. docs/warnings.md describes the same codes.

Codes of the engine and of the run are here too: they pass through the analysis as they are.
Deliberately not here: when a warning is given (`trial_checks`, `curve_checks`, and whoever else notices something).
"""

from __future__ import annotations

from plimsoll.analyse.warning_kind import WarningKind

THROUGHPUT_STALLED = WarningKind(
    "throughput-stalled",
    "Nothing completed for a while",
    "For some of the measured time nothing completed, or nearly nothing. In a closed loop a stall delays only one "
    "transaction for each connection, so percentiles of response time hardly show it.",
    "Look at the server's error log, storage and telemetry at that time, at the network and at the client; remove the "
    "cause and measure these trials again.",
)
TRANSACTIONS_UNFINISHED = WarningKind(
    "transactions-unfinished",
    "Transactions never ended",
    "Transactions that had not ended at the end of the window count with their age at that time. Statistics that rest "
    "on them are lower bounds: the true value is that or more.",
    "Find out what held them up (locks, a stalled server, the network), and measure these trials again.",
)
REPETITION_LAGS = WarningKind(
    "repetition-lags",
    "One repetition is far below the others",
    "This repetition differs from the others by more than chance explains. Something disturbed it; it lowers the mean "
    "and widens the bounds.",
    "Look at the telemetry of that trial and at the server's error log, remove the cause and measure it again.",
)
CLIENT_SATURATED = WarningKind(
    "client-saturated",
    "The client may be the limit",
    "The load generator took so much processor time that throughput may be its limit and not the server's.",
    "Run the client on another host, or give it processors of its own, and measure these levels again.",
)
CLIENT_ON_SERVER_HOST = WarningKind(
    "client-on-server-host",
    "Client and server share a host",
    "What the client uses is missing to the server: the server alone would carry more, and peak elsewhere.",
    "Take differences between systems from such trials rather than absolute figures, or run the client on another "
    "host.",
)
NO_SERVER = WarningKind(
    "no-server",
    "A script connected to no server",
    "The figures are those of what the script does without one: nothing is known of any server.",
    "If the script was to use a server, let it connect by sysbench.sql; otherwise take it for what it is.",
)
SERVER_PLACE_UNKNOWN = WarningKind(
    "server-place-unknown",
    "Nobody knows where the server ran",
    "Whether client and server shared a machine could not be found out: the client may have taken what the server "
    "lacked, and the server's processors were not watched.",
    "Run plimsoll where it sees the server's process, or against the server's own address, without a tunnel or a "
    "forwarded port.",
)
SINGLE_REPETITION = WarningKind(
    "single-repetition",
    "Measured once",
    "How much runs differ from each other is unknown, so a difference between systems cannot be told from chance.",
    "Measure at least three repetitions.",
)
ERRORS_OCCURRED = WarningKind(
    "errors-occurred",
    "Transactions failed",
    "Failed statements are fast or slow for reasons of their own, and failed transactions are missing from throughput.",
    "Look up the error codes in docs/warnings.md and in the server's log, remove the cause and measure again.",
)
DATA_LARGER_THAN_BUFFER_POOL = WarningKind(
    "data-larger-than-buffer-pool",
    "Data does not fit the buffer pool",
    "Results depend on the storage and the page cache, not only on processors: they hold for this ratio of data to "
    "memory only.",
    "Make sure that this is meant; otherwise enlarge the buffer pool, or measure with the ratio that production has.",
)
DATA_IN_PAGE_CACHE = WarningKind(
    "data-in-page-cache",
    "Reads may come from the page cache",
    "The data does not fit the buffer pool, but fits the host's free memory and is read through the page cache: "
    "reads are served by memory, which looks like a fast disk.",
    "Set innodb_flush_method to O_DIRECT, or use more data than the host has memory.",
)
PEAK_AT_LAST_LEVEL = WarningKind(
    "peak-at-last-level",
    "The peak may lie further on",
    "Throughput was highest at the last level that was measured, so where it peaks is unknown.",
    "Add higher levels until throughput falls.",
)
PEAK_AT_FIRST_LEVEL = WarningKind(
    "peak-at-first-level",
    "The peak may lie below the first level",
    "Throughput was highest at the first level that was measured: fewer connections may carry more.",
    "Add lower levels, down to one connection.",
)
FLUSH_COSTS_NOTHING = WarningKind(
    "flush-costs-nothing",
    "Flushing to storage costs nothing",
    "The storage acknowledges a flush faster than a device can: the data is on a file system in memory, or a cache "
    "lies. Durability costs nothing here, so a durable and a relaxed configuration look alike.",
    "Put the data directory on the storage that production has.",
)
QUERY_CACHE_ON = WarningKind(
    "query-cache-on",
    "The query cache is on",
    "Repeated reads are answered without being executed, and every write makes all clients wait for one lock: reads "
    "and mixes are distorted in opposite directions.",
    "Set query_cache_type = OFF and query_cache_size = 0, unless production runs with the query cache.",
)
READ_ONLY_SLOWER = WarningKind(
    "read-only-slower-than-read-write",
    "Read-only is slower than read/write",
    "A read-only transaction is part of the read/write one, so it cannot be slower: something is wrong with one of "
    "the two.",
    "Look for a query cache, another data set, other range options or plans, or a cold start of the read-only trials.",
)
KEY_RANGE_MISSES_DATA = WarningKind(
    "key-range-misses-data",
    "Statements look for rows that do not exist",
    "Keys are drawn from a range that the tables do not fill: statements that find nothing are cheaper than real ones.",
    "Set table_size to the number of rows that the tables have, or prepare them again.",
)
COLUMNS_NOT_COMPARED = WarningKind(
    "columns-not-compared",
    "Some columns were not compared",
    "Servers show values of these types otherwise than they were sent, so whether the rows are those that were made is "
    "known of the other columns only.",
    "Take a type that keeps values as they are, such as DECIMAL or VARCHAR, if that matters.",
)
NO_PROGRESS = WarningKind(
    "no-progress",
    "Loading or checking rows stands still",
    "The server is busy with one long statement, such as an index on a large table, hangs, or another connection holds "
    "a lock on a table.",
    "Find out by SHOW FULL PROCESSLIST on the server; end whoever holds the lock.",
)
THROUGHPUT_DRIFTS = WarningKind(
    "throughput-drifts",
    "Throughput moved within the window",
    "The system was not steady: a longer trial would have shown another figure.",
    "Warm up longer and measure longer, until throughput neither rises nor falls.",
)
SHORT_WINDOW = WarningKind(
    "short-window",
    "Few intervals were measured",
    "Checkpoints, flushing and purging take longer than this to show; neither drift nor spread can be judged.",
    "Measure at least 60 s; several minutes for workloads that write.",
)
LOG_CUT_SHORT = WarningKind(
    "log-cut-short",
    "The log ends before its run does",
    "What was imported are the intervals up to there: how the run ended is unknown, and so are its response times.",
    "Import the whole log, or run the load again.",
)
REPETITIONS_MAY_DIFFER = WarningKind(
    "repetitions-may-differ",
    "Repetitions may be of different configurations",
    "Logs that count as repetitions have names that differ in more than a number or a date. If they are of different "
    "configurations, their mean is of none of them, and its bounds are too wide.",
    "Import them again with {factor:NAME} or {workload} in --pattern where {any} stands, into a new study.",
)
HOST_BUSY_ELSEWHERE = WarningKind(
    "host-busy-elsewhere",
    "Something else used the processors",
    "The host's processors were busy with more than server and client, or were taken by its hypervisor.",
    "Find and stop what else runs there, or measure on a quiet host.",
)
VARIABLES_DIFFER = WarningKind(
    "variables-differ-unexpectedly",
    "Configurations differ in more than the factor",
    "Server variables differ between systems that the study does not vary: they may have made the difference.",
    "Set them to the same value, or state them as factors.",
)
FAILED_TRIALS = WarningKind(
    "failed-trials",
    "Trials are missing",
    "Trials that failed, must not be believed or cannot be read are part of no number here.",
    "Remove the cause and run the study again: it does the missing trials.",
)
TRIALS_NOT_RUN = WarningKind(
    "trials-not-run",
    "The study is not complete",
    "Planned trials have not run yet: systems, workloads and levels are missing from every comparison, or rest on "
    "fewer repetitions than planned.",
    "Run the study again: it runs what is missing.",
)
LEVELS_DIFFER = WarningKind(
    "levels-differ",
    "Systems were measured at different levels",
    "Systems that share no level can only be compared at their peaks, where connections differ as well.",
    "Measure all systems at the same levels.",
)
NOT_WARM_AT_LIMIT = WarningKind(
    "not-warm-at-limit",
    "Measured before it was warm",
    "Throughput or the server's stocks (dirty pages, history, checkpoint age) still trended when the warm-up ended.",
    "Raise warm_up_limit, or measure longer.",
)
OUTAGE = WarningKind(
    "outage",
    "Connections were lost",
    "Connections were lost while the load ran, as when a server stops: what ran on them failed, and nothing was sent "
    "until they were open again.",
    "Find out why the server ended the connections (its error log says so), or why it or the network fell silent, and "
    "measure these trials again unless the outage was meant.",
)
CONNECTIONS_MISSING = WarningKind(
    "connections-missing",
    "Fewer connections than planned",
    "Some connections could not be opened, and the load ran on those that could: the figures are those of fewer "
    "connections than the level says.",
    "Remove what limits connections, on the server or on the client's machine, and measure these trials again.",
)
CONNECTIONS_STUCK = WarningKind(
    "connections-stuck",
    "Connections did not end",
    "Some connections did not end with the trial, even after they were cut; their transactions count as unfinished.",
    "Look at the network to the server, and at what the server's threads wait for.",
)
INTERVALS_LATE = WarningKind(
    "intervals-late",
    "The client did not keep its grid",
    "The client stood still for longer than an interval: transactions may count in an interval before the one they "
    "ended in, and the client, not the server, may have been the limit.",
    "Run the client where it gets processor time, and measure these trials again.",
)
TELEMETRY_MISSING = WarningKind(
    "telemetry-missing",
    "Something could not be watched",
    "A part of the telemetry failed for some or all of the time: what rests on it is not judged.",
    "Remove the cause that the evidence names, and measure these trials again.",
)

INSTANCE_LAGS = WarningKind(
    "instance-lags",
    "One instance is behind the others",
    "The instances of a system are alike and have equal shares of load and rows: one that carries clearly less met "
    "something that the others did not.",
    "Look at that instance's error log, storage and telemetry, remove the cause and measure again.",
)
ENCRYPTION_DIFFERS = WarningKind(
    "encryption-differs",
    "Connections were not encrypted alike",
    "Encryption takes processor time of client and server: what differs in it differs besides what the study is about, "
    "and may have made the difference.",
    'Encrypt the connections of all systems alike, or say tls = "disabled" for those that are to be in plain.',
)

ENVIRONMENT_CHANGED = WarningKind(
    "environment-changed",
    "A system was not measured in one environment",
    "Host, kernel, server, storage, load engine or effective variables changed between two trials of the system: they "
    "are no repetitions of each other, and are shown as two systems.",
    "Undo the change, or remove the recordings from before it, and run the study again.",
)

CATALOGUE: tuple[WarningKind, ...] = (
    THROUGHPUT_STALLED,
    TRANSACTIONS_UNFINISHED,
    REPETITION_LAGS,
    CLIENT_SATURATED,
    CLIENT_ON_SERVER_HOST,
    NO_SERVER,
    SERVER_PLACE_UNKNOWN,
    HOST_BUSY_ELSEWHERE,
    SINGLE_REPETITION,
    SHORT_WINDOW,
    LOG_CUT_SHORT,
    REPETITIONS_MAY_DIFFER,
    NOT_WARM_AT_LIMIT,
    THROUGHPUT_DRIFTS,
    INSTANCE_LAGS,
    ERRORS_OCCURRED,
    FAILED_TRIALS,
    TRIALS_NOT_RUN,
    OUTAGE,
    CONNECTIONS_MISSING,
    CONNECTIONS_STUCK,
    INTERVALS_LATE,
    TELEMETRY_MISSING,
    PEAK_AT_LAST_LEVEL,
    PEAK_AT_FIRST_LEVEL,
    LEVELS_DIFFER,
    READ_ONLY_SLOWER,
    KEY_RANGE_MISSES_DATA,
    COLUMNS_NOT_COMPARED,
    NO_PROGRESS,
    QUERY_CACHE_ON,
    DATA_LARGER_THAN_BUFFER_POOL,
    DATA_IN_PAGE_CACHE,
    FLUSH_COSTS_NOTHING,
    ENVIRONMENT_CHANGED,
    ENCRYPTION_DIFFERS,
    VARIABLES_DIFFER,
)
