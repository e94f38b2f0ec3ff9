"""What to do about each warning. docs/warnings.md describes the same codes.

Deliberately not here: when a warning is given (`plimsoll.analyse`), and how evidence reads (`evidence`).
"""

from __future__ import annotations

from plimsoll.analyse.doubts import Code
from plimsoll.record.model import TrialWarning

ADVICE: dict[Code, str] = {
    Code.NO_SERVER: (
        "If the script was to use a server, let it connect by sysbench.sql. Otherwise its figures say nothing about"
        " any server."
    ),
    Code.THROUGHPUT_STALLED: (
        "Look at the server's error log, storage and telemetry at that time, at the network and at the client; remove"
        " the cause and measure these trials again."
    ),
    Code.TRANSACTIONS_UNFINISHED: (
        "Find out what held them up (locks, a stalled server, the network), and measure these trials again."
    ),
    Code.REPLICA_LAG_GROWS: (
        "Take no figure of these trials as capacity: ask for less, or let the replica apply faster (more applier"
        " threads, more CPUs, less strict flushing), and measure again."
    ),
    Code.HOST_BUSY_ELSEWHERE: "Find and stop what else runs there, or measure on a quiet host.",
    Code.SERVER_THROTTLED: (
        "Raise the quota of processor time of the server's control group, or state that quota as a factor of the study."
    ),
    Code.BURSTABLE_INSTANCE: "Measure on an instance type with a fixed share of its processors.",
    Code.MEMORY_OVERCOMMITTED: "Set innodb_buffer_pool_size so that all buffer pools take at most 80 % of memory.",
    Code.CLIENT_SATURATED: (
        "Run the client on another host, or give it processors of its own, and measure these levels again."
    ),
    Code.DRIVERS_STARTED_APART: (
        "Look for what delays messages to that driver (network, a busy machine), or measure with a longer warm-up: only"
        " the beginning of the load is concerned."
    ),
    Code.DRIVER_DIFFERS: (
        "Look for what is different about that driver: its processors, what else runs there, its way to the server."
        " Replace it or leave it out, and measure these trials again."
    ),
    Code.REPETITION_LAGS: (
        "Look at the telemetry of that trial and at the server's error log, remove the cause and measure it again."
    ),
    Code.TURN_SHORT: (
        "Raise turn to ten times the mean response time or more (at most 10s), and duration with it. For transactions"
        " of more than a second, use the sequential design."
    ),
    Code.DEBUG_BUILD: "Measure a release build of the same version.",
    Code.DATA_DIFFERS: (
        "Make the tables of all systems with the same definitions, character set and rows; or state what differs as a"
        " factor."
    ),
    Code.MACHINES_DIFFER: (
        "Give both environments the same CPUs and memory and measure again; or state what differs as a parameter, if it"
        " is what you compare."
    ),
    Code.SERVER_PLACE_UNKNOWN: (
        "Run plimsoll where it sees the server's process, or against the server's own address, without a tunnel or a"
        " forwarded port."
    ),
    Code.CLIENT_ON_SERVER_HOST: (
        "Take differences between systems from such trials rather than absolute figures, or run the client on another"
        " host."
    ),
    Code.SINGLE_REPETITION: "Measure at least three repetitions.",
    Code.SHORT_WINDOW: "Measure at least 60 s; several minutes for workloads that write.",
    Code.LOG_CUT_SHORT: "Import the whole log, or run the load again.",
    Code.REPETITIONS_MAY_DIFFER: (
        "Import them again with {factor:NAME} or {workload} in --pattern where {any} stands, into a new study."
    ),
    Code.NOT_WARM_AT_LIMIT: "Raise warm_up_limit, or measure longer.",
    Code.WARM_UP_UNFINISHED: "Raise warm_up or warm_up_limit, and measure these trials again.",
    Code.THROUGHPUT_DRIFTS: "Warm up longer and measure longer, until throughput neither rises nor falls.",
    Code.THROUGHPUT_UNSTEADY: (
        "Look at the server's error log and at the telemetry of that time, remove the cause, or measure for long enough"
        " that such changes average out."
    ),
    Code.FEW_CYCLES: 'Measure for at least two whole cycles, or set duration = "auto".',
    Code.INNODB_DRIFTS: "Measure longer: throughput may change when the server has to do what it puts off.",
    Code.TARGET_INTERVAL_MISSED: "Raise duration_limit or the budget, or accept a wider target_interval.",
    Code.MACHINE_SLOWER: (
        "Find out what slowed the machine down (neighbours, heat, other processes). With a budget and a number of"
        " repetitions in the study file, such trials are measured again; rounds of a duet are not, since both systems"
        " of each pair of turns met the same machine."
    ),
    Code.PLANS_DIFFER: (
        "Run ANALYZE TABLE on all systems and compare indexes; if the plans still differ, that is part of what is"
        " compared."
    ),
    Code.LIMIT_TOO_LOW: "Raise the limit to what is needed, or use lower levels or fewer tables.",
    Code.LITTLE_SPACE: "Free space, or choose another data_dir, --to or PLIMSOLL_DATA_DIR.",
    Code.CPU_FREQUENCY_VARIES: "Set the governor to performance (cpupower frequency-set -g performance).",
    Code.HUGE_PAGES_ALWAYS: (
        "Write madvise or never to /sys/kernel/mm/transparent_hugepage/enabled and start the servers again."
    ),
    Code.SWAP_LIKELY: "Set vm.swappiness = 1 (sysctl), or turn swap off while you measure (swapoff -a).",
    Code.SLOW_CLOCK: "Use tsc where the machine offers it (boot with clocksource=tsc).",
    Code.REDO_LOG_SMALL: (
        "Raise innodb_redo_log_capacity (MySQL) or innodb_log_file_size (MariaDB) to half the buffer pool, or to what"
        " production has."
    ),
    Code.INSTANCE_LAGS: "Look at that instance's error log, storage and telemetry, remove the cause and measure again.",
    Code.INSTANCES_SKEWED: (
        "Look for what the instances do not share equally: CPUs, memory nodes, devices, rows. The sum is that of uneven"
        " instances until then."
    ),
    Code.ERRORS_OCCURRED: (
        "Look up the error codes in docs/warnings.md and in the server's log, remove the cause and measure again."
    ),
    Code.FAILED_TRIALS: "Remove the cause and run the study again: it runs the missing trials.",
    Code.TRIALS_NOT_RUN: "Run the study again: it runs what is missing.",
    Code.OUTAGE: (
        "Find out why the server closed the connections (see its error log), or why it or the network fell silent."
        " Measure these trials again unless the outage was meant."
    ),
    Code.CONNECTIONS_MISSING: (
        "Remove what limits connections, on the server or on the client's machine, and measure these trials again."
    ),
    Code.CONNECTIONS_STUCK: "Look at the network to the server, and at what the server's threads wait for.",
    Code.INTERVALS_LATE: "Run the client where it gets processor time, and measure these trials again.",
    Code.TELEMETRY_MISSING: "Remove the cause that the evidence names, and measure these trials again.",
    Code.COLLECT_FAILED: (
        "Look at the output of the hook in the recording, and correct the command; the figures of the trial stand."
    ),
    Code.PEAK_AT_LAST_LEVEL: "Add higher levels (of a search: --connections) until throughput falls.",
    Code.PEAK_AT_FIRST_LEVEL: "Add lower levels, down to one connection.",
    Code.LEVELS_DIFFER: "Measure all systems at the same levels.",
    Code.READ_ONLY_SLOWER: (
        "Look for a query cache, another data set, other range options or plans, or a cold start of the read-only"
        " trials."
    ),
    Code.KEY_RANGE_MISSES_DATA: "Set table_size to the number of rows that the tables have, or prepare them again.",
    Code.COLUMNS_NOT_COMPARED: "If that matters, use a type that keeps values as they are, such as DECIMAL or VARCHAR.",
    Code.NO_PROGRESS: "Find the statement with SHOW FULL PROCESSLIST on the server, and end whoever holds the lock.",
    Code.QUERY_CACHE_ON: (
        "Set query_cache_type = OFF and query_cache_size = 0, unless production runs with the query cache."
    ),
    Code.REPLICA_WRITABLE: "Set read_only = ON on the replica (MySQL: super_read_only = ON).",
    Code.DATA_LARGER_THAN_BUFFER_POOL: (
        "Enlarge the buffer pool, or measure with the ratio of data to memory that production has."
    ),
    Code.DATA_IN_PAGE_CACHE: "Set innodb_flush_method to O_DIRECT, or use more data than the host has memory.",
    Code.FLUSH_COSTS_NOTHING: "Put the data directory on the storage that production has.",
    Code.OPTION_NOT_IN_EFFECT: (
        "Remove the option, or set it to the server's value; the server's error log gives the reason."
    ),
    Code.CHARACTER_SET_KEPT: (
        "Leave the character set out of the columns' types in the workload file, or out of the system's server."
    ),
    Code.PATHS_ON_ONE_DEVICE: "Put them on devices of their own, or leave the paths out.",
    Code.HUGE_PAGES_UNUSED: (
        "Reserve more huge pages (sysctl vm.nr_hugepages) and allow the server to lock them; its error log names the"
        " cause."
    ),
    Code.ENVIRONMENT_CHANGED: "Undo the change, or remove the recordings from before it, and run the study again.",
    Code.ENCRYPTION_DIFFERS: (
        'Encrypt the connections of all systems alike, or set tls = "disabled" for those that are to be unencrypted.'
    ),
    Code.VARIABLES_DIFFER: "Set them to the same value, or state them as factors.",
    Code.NOT_DURABLE: "Use the settings that production has, and state them wherever you quote the figures.",
    Code.TURBO_ON: "Turn turbo off for the comparison of small differences, or measure long enough to be warm.",
    Code.SMT_ON: "Count cores and not hardware threads when you size, and give client and server whole cores.",
}


def warning(code: Code, evidence: str) -> TrialWarning:
    """A warning for a recording, whose evidence is already in words."""
    return TrialWarning(code=code.value, evidence=evidence, advice=ADVICE[code])
