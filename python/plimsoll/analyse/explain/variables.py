"""Server variables by the names of MySQL 9: which differ between systems, and the size of the redo log.

Where flavours and versions name a variable differently, or one is gone, servers can be compared all the same.

A variable is only renamed where another of the compared systems has the new name; so servers of one version are shown
with their own names. A variable that was removed, or came later, counts with what a server without it does: a query
cache that MySQL 8 does not have is off.

See "Server System Variables" and "What Is New" in the manuals of MySQL 5.0 to 9, and of MariaDB 10 and 11. Real servers
that tests compare are MariaDB 10.11 and MySQL 9; the other names are as the manuals have them.

Configurations are compared by the variables whose effective values differ between systems. The variables of replication
are not compared on a replica, and where systems differ in their number of replicas or in how these replicate, such
differences are expected: `workloads`, `server_id`, the binary and relay logs.

A difference is expected when the study varies that variable, or when no two servers could agree on it (paths, ports,
process ids, identifiers, times, positions in a log). Between servers of unlike flavour or version these are expected
too, unless the variable is material (`MATERIAL`): a variable that one of them does not have, and one that nobody set in
any of them, so that only their defaults differ. Everything else is a doubt. Spellings of the same value (ON and 1) are
no difference, nor are names that a version or flavour has of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.model import SystemSummary, VariableDifference, VariableReason
from plimsoll.analyse.trial.instances import REPLICA
from plimsoll.record.environment import InstanceFacts
from plimsoll.spec.server_options import switch_spelling, variables_stated
from plimsoll.units import parse_whole

Variables = dict[str, str]


def _same(value: str) -> str:
    return value


def _from_days(value: str) -> str:
    days = parse_whole(value)
    return value if days is None else str(days * 86_400)


def _of_checksums(value: str) -> str:
    """`innodb_checksums = ON` is the algorithm `innodb`."""
    return "none" if value.upper() in ("OFF", "0") else "innodb"


RENAMED: Mapping[str, tuple[str, Callable[[str], str]]] = {
    # MySQL 5.0 and 5.1
    "table_cache": ("table_open_cache", _same),
    "table_type": ("default_storage_engine", _same),
    "storage_engine": ("default_storage_engine", _same),
    "log": ("general_log", _same),
    "log_slow_queries": ("slow_query_log", _same),
    "innodb_file_io_threads": ("innodb_read_io_threads", _same),
    "innodb_checksums": ("innodb_checksum_algorithm", _of_checksums),
    "skip_locking": ("skip_external_locking", _same),
    # MySQL 5.5 to 5.7, and MariaDB
    "tx_isolation": ("transaction_isolation", _same),
    "tx_read_only": ("transaction_read_only", _same),
    "innodb_undo_logs": ("innodb_rollback_segments", _same),
    "expire_logs_days": ("binlog_expire_logs_seconds", _from_days),
    "log_slow_query": ("slow_query_log", _same),
    "log_slow_query_time": ("long_query_time", _same),
    "max_long_data_size": ("max_allowed_packet", _same),
    "log_bin_compress": ("binlog_transaction_compression", _same),
    "encrypt_binlog": ("binlog_encryption", _same),
    # MySQL 8: source and replica
    "log_slave_updates": ("log_replica_updates", _same),
    "slave_compressed_protocol": ("replica_compressed_protocol", _same),
    "slave_net_timeout": ("replica_net_timeout", _same),
    "slave_parallel_workers": ("replica_parallel_workers", _same),
    "slave_parallel_threads": ("replica_parallel_workers", _same),
    "slave_preserve_commit_order": ("replica_preserve_commit_order", _same),
    "slave_max_allowed_packet": ("replica_max_allowed_packet", _same),
    "slave_transaction_retries": ("replica_transaction_retries", _same),
    "slave_skip_errors": ("replica_skip_errors", _same),
    "slave_exec_mode": ("replica_exec_mode", _same),
    "slave_load_tmpdir": ("replica_load_tmpdir", _same),
    "slave_type_conversions": ("replica_type_conversions", _same),
    "slave_sql_verify_checksum": ("replica_sql_verify_checksum", _same),
    "init_slave": ("init_replica", _same),
    "master_verify_checksum": ("source_verify_checksum", _same),
    "sync_master_info": ("sync_source_info", _same),
    "rpl_semi_sync_master_enabled": ("rpl_semi_sync_source_enabled", _same),
    "rpl_semi_sync_master_timeout": ("rpl_semi_sync_source_timeout", _same),
    "rpl_semi_sync_slave_enabled": ("rpl_semi_sync_replica_enabled", _same),
}
"""By old name: the new one, and how a value is written there."""

GONE: Mapping[str, str] = {
    "query_cache_type": "OFF",
    "innodb_support_xa": "ON",
    "innodb_locks_unsafe_for_binlog": "OFF",
    "innodb_large_prefix": "ON",
    "innodb_file_format": "Barracuda",
    "innodb_doublewrite": "ON",
    "innodb_thread_concurrency": "0",
    "innodb_change_buffering": "none",
    "thread_handling": "one-thread-per-connection",
    "secure_auth": "ON",
    "old_passwords": "0",
    "performance_schema": "OFF",
    "binlog_transaction_compression": "OFF",
    "innodb_encrypt_tables": "OFF",
    "binlog_encryption": "OFF",
    "wsrep_on": "OFF",
}
"""What a server without the variable does. Only those that change what is measured."""

_REDO = ("innodb_log_file_size", "innodb_log_files_in_group")
REDO_CAPACITY = "innodb_redo_log_capacity"

MATERIAL = frozenset(
    {
        *GONE,
        REDO_CAPACITY,
        "autocommit",
        "binlog_format",
        "binlog_row_image",
        "binlog_group_commit_sync_delay",
        "default_storage_engine",
        "innodb_adaptive_hash_index",
        "innodb_buffer_pool_size",
        "innodb_default_row_format",
        "innodb_file_per_table",
        "innodb_flush_log_at_trx_commit",
        "innodb_flush_method",
        "innodb_flush_neighbors",
        "innodb_io_capacity",
        "innodb_io_capacity_max",
        "innodb_page_size",
        "innodb_read_ahead_threshold",
        "innodb_read_io_threads",
        "innodb_write_io_threads",
        "large_pages",
        "log_bin",
        "max_connections",
        "slow_query_log",
        "general_log",
        "sync_binlog",
        "transaction_isolation",
    }
)
"""Variables whose other default is a difference of what is measured: durability, memory, I/O, isolation, diagnosis.

Character sets are compared as tables have them (`equivalence`), buffers of sessions hardly matter to short statements.
"""

SIZES = frozenset({REDO_CAPACITY, "innodb_buffer_pool_size", "innodb_log_file_size"})
"""Sizes that servers round, and that flavours write with other defaults of nearly the same size."""

SIZE_TOLERANCE = 0.05

_EQUAL_VALUES: Mapping[str, Mapping[str, str]] = {
    "innodb_doublewrite": {"DETECT_AND_RECOVER": "1"},
    "innodb_flush_method": {"": "FSYNC"},
    "default_storage_engine": {"INNOBASE": "INNODB"},
}


def in_common_names(known: Mapping[str, Mapping[str, str]]) -> dict[str, Variables]:
    """Variables by system, those that have another name in another system under the newer one.

    Args:
        known: By system: its effective variables, names in lower case.
    """
    everywhere = set().union(*known.values()) if known else set()
    return {system: _renamed(dict(variables), everywhere) for system, variables in known.items()}


def _renamed(variables: Variables, everywhere: set[str]) -> Variables:
    if REDO_CAPACITY in everywhere:
        redo = redo_bytes(variables)
        for name in _REDO:
            variables.pop(name, None)
        if redo is not None:
            variables[REDO_CAPACITY] = str(redo)
    for old, (new, written) in RENAMED.items():
        if old in variables and new in everywhere:
            value = variables.pop(old)
            variables.setdefault(new, written(value))
    return variables


def common_spelling(variable: str, value: str) -> str:
    """A value as it is compared: letters do not matter, nor zeros of fractions, nor older names of the same thing.

    >>> common_spelling("long_query_time", "10.000000"), common_spelling("collation_server", "utf8_general_ci")
    ('10', 'UTF8MB3_GENERAL_CI')
    """
    text = value.strip().upper()
    if "." in text and text.replace(".", "", 1).isdigit():
        text = text.rstrip("0").rstrip(".")
    if text == "UTF8" or text.startswith("UTF8_"):
        text = f"UTF8MB3{text[4:]}"
    return _EQUAL_VALUES.get(variable, {}).get(text, text)


_LINE = re.compile(r"^\s*([A-Za-z][A-Za-z0-9_-]*)\s*(?:=\s*(.*?))?\s*$")


def stated_options(instance: InstanceFacts) -> Mapping[str, str]:
    """What the option file of a server states: values as text, by the variables that they are for.

    Recordings from before it was kept as data have the text of the file only.
    """
    return parsed_options(instance.option_file or "") if instance.options is None else instance.options


def parsed_options(text: str) -> Mapping[str, str]:
    r"""What an option file states; an option without a value is `ON`, values are without quotes.

    >>> parsed_options("[mysqld]\nskip-log-bin\nloose_innodb_io_capacity = 200\n")
    {'log_bin': 'OFF', 'innodb_io_capacity': '200'}
    """
    matches = (match for line in text.splitlines() if (match := _LINE.match(line)))
    return variables_stated(
        (match[1].lower().replace("-", "_"), "ON" if match[2] is None else _unquoted(match[2])) for match in matches
    )


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return value


def redo_bytes(variables: Mapping[str, str]) -> int | None:
    """All files of the redo log together, bytes; None where the variables do not say.

    MySQL from 8.0.30 on has one capacity, whatever the older variables say; MariaDB from 10.5 on has one file.

    >>> redo_bytes({"innodb_log_file_size": "5242880", "innodb_log_files_in_group": "2"})
    10485760
    """
    capacity = parse_whole(variables.get("innodb_redo_log_capacity", ""))
    if capacity is not None:
        return capacity
    size = parse_whole(variables.get("innodb_log_file_size", ""))
    files = parse_whole(variables.get("innodb_log_files_in_group", "1")) or 1
    return None if size is None else size * files


_OWN_TO_EACH_SERVER = re.compile(
    r"(^|_)(dir|datadir|tmpdir|basedir|directory|file|filename|basename|path|port|socket|pid|uuid|id|index|timestamp|"
    r"time_stamp|hostname|host|address|ip|gtid|pos|position|lsn|executed|purged|cert|key|ca|seed[12]?)$"
    r"|^(hostname|timestamp|last_insert_id|insert_id|identity|server_uid|rand_seed[12]|pseudo_thread_id|"
    r"gtid_.*|log_bin_.*|.*_gtid_.*|wsrep_node_name|version_compile_machine|error_count|log_error|secure_file_priv|warning_count|system_time_zone)$"
)

_OF_CPUS = (
    "thread_pool_size",
    "innodb_buffer_pool_instances",
    "innodb_log_writer_threads",
    "innodb_page_cleaners",
    "innodb_parallel_read_threads",
    "innodb_purge_threads",
    "innodb_read_io_threads",
)
"""Variables whose defaults follow from the processors that a server sees."""

_IMPLIED = {
    "cpus": _OF_CPUS,
    "cpu_count": _OF_CPUS,
    "buffer_pool_bytes": ("innodb_buffer_pool_size",),
    "innodb_buffer_pool_size": ("innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances"),
    "innodb_flush_log_at_trx_commit": ("innodb_log_file_buffering",),
    "pool_ratio": ("innodb_buffer_pool_size", "innodb_buffer_pool_chunk_size", "innodb_flush_method"),
    "start": (
        "innodb_buffer_pool_dump_at_shutdown",
        "innodb_buffer_pool_dump_pct",
        "innodb_buffer_pool_load_at_startup",
    ),
    "undo_dir": ("innodb_undo_tablespaces",),
    "huge_pages": ("large_pages",),
    "character_set": ("character_set_server", "character_set_database", "collation_server", "collation_database"),
    "collation": ("character_set_server", "character_set_database", "collation_server", "collation_database"),
}
"""Variables that a server (the last seen with MariaDB 10.11), or Plimsoll, sets from another one or from a factor."""

_OF_REPLICATION = re.compile(
    r"^(super_)?read_only$|^(log_bin|log_slave_updates|log_replica_updates|gtid_mode|enforce_gtid_consistency)$"
    r"|^(relay_log|sync_relay|slave_|replica_|rpl_|semi_?sync|master_|source_|binlog_|skip_(slave|replica)_start|gtid_|init_(slave|replica))"
    r"|^server_(id|uuid)$|^report_"
)
"""What a replica sets otherwise than its source, or has to do with replication on either."""

_DIVIDED = frozenset(
    {
        "innodb_buffer_pool_size",
        "innodb_log_file_size",
        "innodb_redo_log_capacity",
        "innodb_io_capacity",
        "innodb_io_capacity_max",
        "thread_pool_size",
    }
)
"""Variables that are lower the more instances a system has: Plimsoll sets them, or they follow from the processors."""


def variable_differences(systems: Sequence[SystemSummary]) -> tuple[VariableDifference, ...]:
    """Compares the effective variables of all systems that state any; unexpected differences first, then by name."""
    known = {system.name: effective_variables(system) for system in systems}
    known = {name: variables for name, variables in known.items() if variables}
    if len(known) < 2:
        return ()
    compared = [system for system in systems if system.name in known]
    kinds = {_server_kind(system) for system in compared}
    if len(kinds) > 1:
        known = in_common_names(known)
    judge = _Judge(varied_variables(systems), _set_by_somebody(compared), are_of_one_kind=len(kinds) == 1)
    differences = []
    for variable in sorted(set().union(*known.values())):
        values = {name: variables.get(variable) for name, variables in known.items()}
        if judge.differs(variable, values):
            reason = judge.reason(variable, values)
            expected = reason is not VariableReason.UNEXPLAINED
            differences.append(VariableDifference(variable=variable, values=values, expected=expected, reason=reason))
    return tuple(sorted(differences, key=lambda difference: (difference.expected, difference.variable)))


@dataclass(frozen=True, slots=True)
class _Judge:
    """What is known of all systems when one variable of theirs is compared.

    Attributes:
        varied: Variables that follow from factors of the study.
        chosen: Variables that somebody set in some system; None where some server does not say.
        are_of_one_kind: All servers have the same flavour and version.
    """

    varied: set[str]
    chosen: set[str] | None
    are_of_one_kind: bool

    def differs(self, variable: str, values: Mapping[str, str | None]) -> bool:
        """Whether the values mean different things; between unlike servers, absence may have a meaning."""
        if self.are_of_one_kind:
            return len({spelled(value) for value in values.values()}) > 1
        known = [GONE.get(variable) if value is None else value for value in values.values()]
        if variable in SIZES and _are_about_equal(known):
            return False
        spellings = {None if value is None else switch_spelling(common_spelling(variable, value)) for value in known}
        return len(spellings) > 1

    def reason(self, variable: str, values: Mapping[str, str | None]) -> VariableReason:
        """Why they differ."""
        if variable in self.varied:
            return VariableReason.FACTOR
        is_absent = None in values.values() and not self.are_of_one_kind
        if is_absent and variable not in GONE:
            return VariableReason.ABSENT
        if is_own(variable, values):
            return VariableReason.OWN
        if self.are_of_one_kind or variable in MATERIAL:
            return VariableReason.UNEXPLAINED
        is_default = self.chosen is not None and variable not in self.chosen
        return VariableReason.DEFAULT if is_default else VariableReason.UNEXPLAINED


def _are_about_equal(values: Sequence[str | None]) -> bool:
    sizes = [parse_whole(value or "") or 0 for value in values]
    return min(sizes) > 0 and max(sizes) <= min(sizes) * (1 + SIZE_TOLERANCE)


def _set_by_somebody(systems: Sequence[SystemSummary]) -> set[str] | None:
    """Variables that were set in some server, by all names that they have; None where a server does not say."""
    chosen: set[str] = set()
    for system in systems:
        for instance in system.environment.instances:
            if instance.variables_set is None:
                return None
            chosen |= set(instance.variables_set)
    return chosen | {RENAMED[name][0] for name in chosen if name in RENAMED}


def effective_variables(system: SystemSummary) -> dict[str, str]:
    """Variables of a system; where its instances disagree, all their values.

    A replica differs from its source in what has to do with replication, and that says nothing.
    """
    values: dict[str, list[str]] = {}
    for instance in system.environment.instances:
        for name, value in instance.variables.items():
            is_replicas = _OF_REPLICATION.search(name.lower()) or is_own(name.lower(), {instance.name: value})
            if instance.role == REPLICA and is_replicas:
                continue
            seen = values.setdefault(name.lower(), [])
            if value not in seen:
                seen.append(value)
    return {name: " | ".join(seen) for name, seen in values.items()}


def is_own(variable: str, values: Mapping[str, str | None]) -> bool:
    """Whether no two servers could agree on a variable, or no two starts of one: a path, a port, an identifier."""
    are_paths = all(value is None or value.startswith(("/", "./")) for value in values.values())
    return are_paths or _OWN_TO_EACH_SERVER.search(variable) is not None


def spelled(value: str | None) -> str | None:
    """A value in one spelling: ON and 1 are the same."""
    return None if value is None else switch_spelling(value)


def _server_kind(system: SystemSummary) -> frozenset[tuple[str | None, str | None]]:
    return frozenset((instance.flavour, instance.version) for instance in system.environment.instances)


def varied_variables(systems: Sequence[SystemSummary]) -> set[str]:
    """Variables that follow from factors whose values differ between systems."""
    stated: list[Mapping[str, str]] = [system.factors for system in systems]
    names = {name for factors in stated for name in factors}
    varied = {name for name in names if len({factors.get(name) for factors in stated}) > 1}
    variables = {name.replace("-", "_").rsplit(".", 1)[-1].strip().lower() for name in varied}
    if "profile" in variables:
        variables |= {option for system in systems for option in _options_written(system)}
    if len({system.instances for system in systems}) > 1:
        variables |= _DIVIDED
    if len({system.replicas for system in systems}) > 1 or "replication" in variables:
        stated_by = (system.environment.instances for system in systems)
        instance_variables = {
            name.lower() for instances in stated_by for instance in instances for name in instance.variables
        }
        variables |= {name for name in instance_variables if _OF_REPLICATION.search(name)}
    for _ in range(2):  # what is implied may imply more
        variables |= {implied for name in variables for implied in _IMPLIED.get(name, ())}
    return variables


def _options_written(system: SystemSummary) -> set[str]:
    """Variables that the option files of a system set: all of them follow from its profile."""
    return {name for instance in system.environment.instances for name in stated_options(instance)}
