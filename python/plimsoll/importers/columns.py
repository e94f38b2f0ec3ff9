"""What the columns of a table of results mean: one schema, and the user's words for columns with other names.

One row is one measurement, or that of one instance; names have their unit. Names are compared without case, and blanks,
hyphens and brackets are underscores. Whatever is not in the schema is a factor that tells systems apart.
Deliberately not here: the rows (`rows`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class Role(StrEnum):
    """What a column says about its row."""

    SYSTEM = "system"
    WORKLOAD = "workload"
    INSTANCE = "instance"
    INSTANCES = "instances"
    REPETITION = "repetition"
    LEVEL = "connections"
    LEVEL_PER_INSTANCE = "connections_per_instance"
    THROUGHPUT = "throughput"
    RESPONSE = "response"
    HOST_CPU = "host_cpu"
    COST = "cost_per_month"
    CPU_MODEL = "cpu"
    CORES = "cores"
    MEMORY = "memory_gib"
    FACTOR = "factor"
    IGNORED = "ignore"


HOST_ROLES = frozenset({Role.CPU_MODEL, Role.CORES, Role.MEMORY})
"""Facts about the machine: they tell systems apart as factors do, and are kept in the environment as well."""

STATISTICS = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
MODES = ("user", "system", "iowait", "idle")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name of the schema says.

    Attributes:
        role: About what.
        part: Statistic of a response time (`p95`), or mode of the processor (`user`); empty otherwise.
        scale: What a number is multiplied by to get the unit used inside: per second, milliseconds, 0..1.
        unit: How a throughput is shown, `tps` or `tpm`; empty for all else.
    """

    role: Role
    part: str = ""
    scale: float = 1.0
    unit: str = ""


SCHEMA = {
    **{role.value: Meaning(role) for role in Role if role not in (Role.THROUGHPUT, Role.RESPONSE, Role.HOST_CPU)},
    "throughput_tps": Meaning(Role.THROUGHPUT, unit="tps"),
    "throughput_tpm": Meaning(Role.THROUGHPUT, scale=1 / 60, unit="tpm"),
    **{
        f"response_{unit}_{part}": Meaning(Role.RESPONSE, part, scale)
        for part in STATISTICS
        for unit, scale in (("ms", 1.0), ("us", 0.001), ("s", 1000.0))
    },
    **{
        f"cpu_{part}_{unit}": Meaning(Role.HOST_CPU, part, scale)
        for part in MODES
        for unit, scale in (("pct", 0.01), ("ratio", 1.0))
    },
}
"""What each name means; `factor` and `ignore` are for maps alone."""

_MAPPED_ONLY = (Role.FACTOR, Role.IGNORED)
_NEEDED = (("connections", "connections_per_instance"), ("throughput_tps", "throughput_tpm"), ("system",))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What the user says about a table that the table does not.

    Attributes:
        maps: Pairs of a column and the name of the schema that it stands for, like `("tpmC", "throughput_tpm")`.
        workload: Name of the workload, for a table without such a column.
        system: Name of the system, for a table without such a column.
    """

    maps: tuple[tuple[str, str], ...] = ()
    workload: str | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its meaning.

    Attributes:
        index: Place in the table, from 0.
        name: As the table calls it.
        key: The name as it is compared and kept.
        means: What it says.
        is_told: The user said so.
    """

    index: int
    name: str
    key: str
    means: Meaning
    is_told: bool = False

    @property
    def role(self) -> Role:
        """What it says about its row."""
        return self.means.role


def understand(names: Iterable[str], options: TableOptions) -> tuple[tuple[Column, ...], list[str]]:
    """Finds out what each column means.

    Returns:
        The columns in their order, and the faults: a map that fits nothing, two columns for one thing, a missing one.
    """
    columns = [_by_name(index, name) for index, name in enumerate(names)]
    faults = [fault for theirs, ours in options.maps if (fault := _apply_map(columns, theirs, ours))]
    faults += [*_conflicts(columns), *_missing(columns, options), *_doubly_named(columns, options)]
    return tuple(columns), faults


def _key(name: str) -> str:
    """The name as it is compared.

    >>> _key(" CPU user % "), _key("tpmC"), _key("Response-time p95 (ms)")
    ('cpu_user_pct', 'tpmc', 'response_time_p95_ms')
    """
    return re.sub(r"[\W_]+", "_", name.replace("%", " pct ")).strip("_").lower()


def _by_name(index: int, name: str) -> Column:
    found = SCHEMA.get(_key(name), Meaning(Role.FACTOR))
    return Column(index, name, _key(name), Meaning(Role.FACTOR) if found.role in _MAPPED_ONLY else found)


def _apply_map(columns: list[Column], theirs: str, ours: str) -> str | None:
    """Gives a column the meaning that the user told, in place; returns what is wrong with it."""
    found = [column for column in columns if column.key == _key(theirs)]
    exact = [column for column in found if column.name == theirs] or found
    if len(exact) != 1:
        return f"{map_option(theirs, ours)}: there is no one column {theirs!r}. {_listed(columns)}"
    if _key(ours) not in SCHEMA:
        known = f"{', '.join(role for role in Role if role in SCHEMA)}, throughput_tps (_tpm), response_ms_p95"
        known += f" (_us, _s; {', '.join(STATISTICS)}), cpu_user_pct (_ratio; {', '.join(MODES)})"
        return f"{map_option(theirs, ours)}: {ours!r} is no name of the schema. There are: {known}"
    columns[exact[0].index] = replace(exact[0], means=SCHEMA[_key(ours)], is_told=True)
    return None


def map_option(theirs: str, ours: str) -> str:
    """The option that tells what a column means, as it is typed in a shell.

    >>> map_option("p95 of all", "response_ms_p95")
    "--map 'p95 of all=response_ms_p95'"
    """
    return f"--map {shlex.quote(f'{theirs}={ours}')}"


def _listed(columns: Iterable[Column]) -> str:
    return f"The columns are: {', '.join(column.name for column in columns)}"


def _conflicts(columns: list[Column]) -> Iterator[str]:
    for column in columns:
        later = [other for other in columns if other.index > column.index]
        same = [other for other in later if (other.role, other.means.part) == (column.role, column.means.part)]
        if same and column.role not in _MAPPED_ONLY:
            names = ", ".join(one.name for one in (column, *same))
            meaning = f"{column.role} {column.means.part}".strip()
            yield f"columns {names}: all mean {meaning}. Leave all but one out with --map COLUMN={Role.IGNORED}"
        if any(other.key == column.key for other in later):
            yield f"column {column.name}: another one has the same name but for case and blanks. Rename one."


def _missing(columns: list[Column], options: TableOptions) -> Iterator[str]:
    for names in _NEEDED:
        if {SCHEMA[name].role for name in names} & {column.role for column in columns}:
            continue
        if names == ("system",) and options.system:
            continue
        cure = " or ".join(map_option(_likely(columns, name), name) for name in names)
        option = "--system NAME, or " if names == ("system",) else ""
        yield f"no column is called {' or '.join(names)}. Say {option}{cure}. {_listed(columns)}"


def _likely(columns: list[Column], ours: str) -> str:
    """The column that a map would name: one that shares a word with the name; else a place to fill in."""
    words = set(ours.split("_"))
    found = [one.name for one in columns if one.role is Role.FACTOR and words & set(one.key.split("_"))]
    return found[0] if len(found) == 1 else "COLUMN"


def _doubly_named(columns: list[Column], options: TableOptions) -> Iterator[str]:
    roles = {column.role: column.name for column in columns}
    for role, name in ((Role.SYSTEM, options.system), (Role.WORKLOAD, options.workload)):
        if name and role in roles:
            cure = map_option(roles[role], Role.FACTOR)
            yield f"--{role} {name}: the column {roles[role]} says it. Leave the option out, or say {cure}"
