"""Which server variables have not the same effective value in all systems.

Two configurations are compared only after this was looked at.

Of a replica, what has to do with replication is not looked at, and where systems differ in their number of replicas or
in the way of replication, such differences are expected: `workloads`, `server_id`, the binary and relay logs.

A difference is expected when the study varies that variable, or when no two servers could agree on it (paths, ports,
process ids, identifiers, times, positions in a log). Between servers of unlike flavour or version these are expected
too, unless the variable is material (`variable_names.MATERIAL`): a variable that one of them does not have, and one
that nobody set in any of them, so that only their defaults differ. Everything else is a doubt. Spellings of the same
value (ON and 1) are no difference, nor are names that a version or flavour has of its own (`variable_names`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.analyse.explain.variable_names import (
    GONE,
    MATERIAL,
    RENAMED,
    SIZE_TOLERANCE,
    SIZES,
    common_spelling,
    in_common_names,
    stated_options,
)
from plimsoll.analyse.model import SystemSummary, VariableDifference, VariableReason
from plimsoll.analyse.trial.instances import REPLICA
from plimsoll.spec.server_options import switch_spelling
from plimsoll.units import parse_whole

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
