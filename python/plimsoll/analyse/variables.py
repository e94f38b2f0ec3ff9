"""Which server variables have not the same effective value in all systems.

Two configurations are compared only after this was looked at.

A difference is expected when the study varies that variable, or when no two servers could agree on it (paths, ports,
process ids, identifiers, times, positions in a log). Between two servers of different flavour or version, a variable
that one of them does not have is expected too. Everything else is a doubt. Spellings of the same value (ON and 1) are
no difference.

Deliberately not here: what a variable does, and whether two values come to the same (`innodb_log_files_in_group`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plimsoll.analyse.factors import spelling
from plimsoll.analyse.model import SystemSummary, VariableDifference

_OWN_TO_EACH_SERVER = re.compile(
    r"(^|_)(dir|datadir|tmpdir|basedir|directory|file|filename|basename|path|port|socket|pid|uuid|id|index|timestamp|"
    r"time_stamp|hostname|host|address|ip|gtid|pos|position|lsn|executed|purged|cert|key|ca|seed[12]?)$"
    r"|^(hostname|timestamp|last_insert_id|insert_id|identity|server_uid|rand_seed[12]|pseudo_thread_id|"
    r"gtid_.*|log_bin_.*|.*_gtid_.*|version_compile_machine|error_count|log_error|secure_file_priv|warning_count|system_time_zone)$"
)

_IMPLIED = {
    "buffer_pool_bytes": ("innodb_buffer_pool_size",),
    "innodb_buffer_pool_size": ("innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances"),
    "innodb_flush_log_at_trx_commit": ("innodb_log_file_buffering",),
}
"""Variables that a server (the last seen with MariaDB 10.11), or Plimsoll, sets from another one or from a factor."""

_DIVIDED = frozenset(
    {
        "innodb_buffer_pool_size",
        "innodb_log_file_size",
        "innodb_redo_log_capacity",
        "innodb_io_capacity",
        "innodb_io_capacity_max",
    }
)
"""Variables that Plimsoll sets lower the more instances a system has."""

_OPTION_LINE = re.compile(r"^\s*(?:loose[-_])?([a-z][a-z0-9_-]*)\s*(?:=|$)", re.IGNORECASE | re.MULTILINE)


def variable_differences(systems: Sequence[SystemSummary]) -> tuple[VariableDifference, ...]:
    """Compares the effective variables of all systems that state any; unexpected differences first, then by name."""
    known = {one.name: effective_variables(one) for one in systems}
    known = {name: variables for name, variables in known.items() if variables}
    if len(known) < 2:
        return ()
    varied = _varied_variables(systems)
    kinds = {_server_kind(one) for one in systems if one.name in known}
    found = []
    for variable in sorted(set().union(*known.values())):
        values = {name: variables.get(variable) for name, variables in known.items()}
        if len({spelled(value) for value in values.values()}) > 1:
            absent = None in values.values() and len(kinds) > 1
            expected = absent or variable in varied or is_own(variable, values)
            found.append(VariableDifference(variable=variable, values=values, expected=expected))
    return tuple(sorted(found, key=lambda one: (one.expected, one.variable)))


def effective_variables(system: SystemSummary) -> dict[str, str]:
    """Variables of a system; where its instances disagree, all their values."""
    values: dict[str, list[str]] = {}
    for instance in system.environment.instances:
        for name, value in instance.variables.items():
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
    return None if value is None else spelling(value)


def _server_kind(system: SystemSummary) -> frozenset[tuple[str | None, str | None]]:
    return frozenset((one.flavour, one.version) for one in system.environment.instances)


def _varied_variables(systems: Sequence[SystemSummary]) -> set[str]:
    """Variables that follow from factors whose values differ between systems."""
    stated: list[Mapping[str, str]] = [one.factors for one in systems]
    names = {name for factors in stated for name in factors}
    varied = {name for name in names if len({factors.get(name) for factors in stated}) > 1}
    variables = {name.replace("-", "_").rsplit(".", 1)[-1].strip().lower() for name in varied}
    if "profile" in variables:
        variables |= {option for one in systems for option in _options_written(one)}
    if len({one.instances for one in systems}) > 1:
        variables |= _DIVIDED
    for _ in range(2):  # what is implied may imply more
        variables |= {implied for name in variables for implied in _IMPLIED.get(name, ())}
    return variables


def _options_written(system: SystemSummary) -> set[str]:
    """Variables that the option files of a system set: all of them follow from its profile."""
    texts = (instance.option_file or "" for instance in system.environment.instances)
    return {name.replace("-", "_").lower() for text in texts for name in _OPTION_LINE.findall(text)}
