"""What the columns of a published table mean: recognised by name, or told by the user.

Names are compared without case, and blanks, hyphens and underscores are one: `CPU user %` is `cpu_user_pct`.
Deliberately not here: the rows (`rows`). Whatever is not recognised is a factor that tells systems apart.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal


class Role(StrEnum):
    """What a column says about its row."""

    SYSTEM = "system"
    WORKLOAD = "workload"
    INSTANCE = "instance"
    INSTANCES = "instances"
    REPETITION = "repetition"
    LEVEL = "level"
    LEVEL_PER_INSTANCE = "level_per_instance"
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

_WORDS: dict[Role, tuple[str, ...]] = {
    Role.SYSTEM: ("system",),
    Role.WORKLOAD: ("workload",),
    Role.INSTANCE: ("instance", "instance_name"),
    Role.INSTANCES: ("instances", "instance_count"),
    Role.REPETITION: ("repetition", "rep", "run"),
    Role.LEVEL: ("level", "connections", "threads", "clients", "users", "concurrency"),
    Role.COST: ("cost_per_month",),
    Role.CPU_MODEL: ("cpu", "cpu_model", "processor"),
    Role.CORES: ("cores", "cpu_cores"),
    Role.MEMORY: ("memory_gib", "memory_gb", "ram_gib", "ram_gb"),
}
_ROLE_BY_WORD = {word: role for role, words in _WORDS.items() for word in words}
_ROLE_BY_WORD |= {f"{word}_per_instance": Role.LEVEL_PER_INSTANCE for word in _WORDS[Role.LEVEL]}

_TPS = {"tps", "throughput_tps", "transactions_per_second"}
_TPM = {"tpm", "throughput_tpm", "notpm", "nopm", "tpmc", "transactions_per_minute"}

_STATISTICS = {"mean": "mean", "avg": "mean", "average": "mean", "p50": "p50", "median": "p50", "max": "max"}
_STATISTICS |= {name: name for name in ("p90", "p95", "p99", "p999")}
_TO_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
_MODES = {"user": "user", "usr": "user", "us": "user", "system": "system", "sys": "system", "sy": "system"}
_MODES |= {"iowait": "iowait", "wa": "iowait", "wio": "iowait", "idle": "idle", "id": "idle"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What the user says about a table that the table does not.

    Attributes:
        maps: Pairs of a recognised name and the column to read as such, like `("throughput", "tpmC")`; `factor` and
            `ignore` may be given several times.
        workload: Name of the workload, for a table without such a column.
        system: Name of the system, for a table without such a column.
        throughput_unit: For a throughput column whose name does not say it.
    """

    maps: tuple[tuple[str, str], ...] = ()
    workload: str | None = None
    system: str | None = None
    throughput_unit: Literal["tps", "tpm"] | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its meaning.

    Attributes:
        index: Place in the table, from 0.
        name: As the table calls it.
        key: The name as it is compared and kept.
        role: What it says.
        part: Statistic of a response time (`p95`), or mode of the processor (`user`); empty otherwise.
        scale: What a number in it is multiplied by to get the unit used inside: per second, milliseconds, 0..1. None
            when its name does not say its unit.
        unit: How its throughput is shown, `tps` or `tpm`; None when unknown or no throughput.
    """

    index: int
    name: str
    key: str
    role: Role
    part: str = ""
    scale: float | None = 1.0
    unit: str | None = None


def recognise(names: Iterable[str], options: TableOptions) -> tuple[tuple[Column, ...], list[str]]:
    """Finds out what each column means.

    Returns:
        The columns in their order, and the faults: a map that fits nothing, two columns for one thing, a missing one.
    """
    columns = [_by_name(index, name) for index, name in enumerate(names)]
    faults = _apply_maps(columns, options)
    told = {_key(column) for _, column in options.maps}
    columns = [_yield_to_told(column, columns, told) for column in columns]
    columns = [_with_unit(column, options) for column in columns]
    faults += _conflicts(columns) + _missing(columns, options) + _doubly_named(columns, options)
    return tuple(columns), faults


def _key(name: str) -> str:
    """The name as it is compared.

    >>> _key(" CPU user % "), _key("tpmC"), _key("Response-time p95 (ms)")
    ('cpu_user_pct', 'tpmc', 'response_time_p95_ms')
    """
    return re.sub(r"[\W_]+", "_", name.replace("%", " pct ")).strip("_").lower()


def _by_name(index: int, name: str, meaning: str | None = None) -> Column:
    """The column as its name, or the name that the user gave to it, says."""
    key = _key(name)
    word = _key(meaning) if meaning else key
    plain = Column(index, name, key, _ROLE_BY_WORD.get(word, Role.FACTOR))
    if word in _TPS | _TPM | {"throughput"}:
        return _throughput(plain, word if word != "throughput" else key)
    return _response(plain, word) or _host_cpu(plain, word) or plain


def _throughput(column: Column, word: str) -> Column:
    unit = "tps" if word in _TPS else "tpm" if word in _TPM else None
    scale = {"tps": 1.0, "tpm": 1 / 60, None: None}[unit]
    return replace(column, role=Role.THROUGHPUT, unit=unit, scale=scale)


def _response(column: Column, word: str) -> Column | None:
    """A response time: `response_ms_p95`, `latency_ms`, `avg_latency_ms`, `p99_ms`. No statistic means the mean."""
    parts = [part for part in word.split("_") if part != "time"]
    named = [part for part in parts if part in ("response", "latency")]
    statistics = [_STATISTICS[part] for part in parts if part in _STATISTICS]
    units = [part for part in parts if part in _TO_MS]
    understood = len(named) + len(statistics) + len(units) == len(parts)
    says_time = named or (statistics and (units or re.fullmatch(r"p\d+", parts[0])))
    if not understood or len(units) > 1 or len(statistics) > 1 or not says_time:
        return None
    scale = _TO_MS[units[0]] if units else None
    return replace(column, role=Role.RESPONSE, part=(statistics or ["mean"])[0], scale=scale)


def _host_cpu(column: Column, word: str) -> Column | None:
    match = re.fullmatch(r"(?:host_)?cpu_([a-z]+?)(?:_(pct|percent|ratio))?", word)
    if match is None or match[1] not in _MODES:
        return None
    scale = {"pct": 0.01, "percent": 0.01, "ratio": 1.0, None: None}[match[2]]
    return replace(column, role=Role.HOST_CPU, part=_MODES[match[1]], scale=scale)


def _apply_maps(columns: list[Column], options: TableOptions) -> list[str]:
    """Gives columns the meanings that the user told, in place."""
    faults = []
    for meaning, name in options.maps:
        found = [column for column in columns if _key(column.name) == _key(name)]
        exact = [column for column in found if column.name == name] or found
        if len(exact) != 1:
            names = ", ".join(column.name for column in columns)
            faults.append(f"--map {meaning}={name}: there is no one column {name!r}. The columns are: {names}")
            continue
        told = _told(exact[0], _key(meaning))
        if told is None:
            faults.append(f"--map {meaning}={name}: {meaning!r} is no name that is recognised. {_recognised()}")
            continue
        columns[told.index] = told
    return faults


def _told(column: Column, meaning: str) -> Column | None:
    plain = Column(column.index, column.name, column.key, Role.FACTOR)
    if meaning in (Role.FACTOR, Role.IGNORED):
        return replace(plain, role=Role(meaning))
    told = _by_name(column.index, column.name, meaning)
    return told if told.role is not Role.FACTOR else None


def _recognised() -> str:
    words = ", ".join(word for role in _WORDS for word in _WORDS[role][:1])
    return (
        f"Recognised are: {words}, level_per_instance, throughput (throughput_tps, throughput_tpm), response_ms_mean "
        "(p50, p90, p95, p99, p999, max), cpu_user_pct (system, iowait, idle; or _ratio), factor, ignore"
    )


def _yield_to_told(column: Column, columns: list[Column], told: set[str]) -> Column:
    """A column that was recognised gives way where the user named another for the same thing."""
    rivals = [other for other in columns if _same(other, column) and other.key in told]
    return replace(column, role=Role.IGNORED) if rivals and column.key not in told else column


def _same(one: Column, other: Column) -> bool:
    """Two columns say the same thing, so that only one can be read."""
    single = one.role not in (Role.FACTOR, Role.IGNORED)
    return one.index != other.index and single and (one.role, one.part) == (other.role, other.part)


def _with_unit(column: Column, options: TableOptions) -> Column:
    if column.role is not Role.THROUGHPUT or column.unit or not options.throughput_unit:
        return column
    return _throughput(column, options.throughput_unit)


def _conflicts(columns: list[Column]) -> list[str]:
    faults = []
    for column in columns:
        rivals = [other.name for other in columns if _same(column, other)]
        if rivals and min(other.index for other in columns if _same(column, other)) > column.index:
            names = ", ".join([column.name, *rivals])
            meaning = f"{column.role} {column.part}".strip()
            faults.append(f"columns {names}: all mean {meaning}. Leave all but one out with --map ignore=COLUMN")
    for column in columns:
        if column.scale is None:
            faults.append(f"column {column.name}: its unit is unknown. Say {_with_units(column)}")
        if any(other.key == column.key and other.index > column.index for other in columns):
            faults.append(f"column {column.name}: another one has the same name but for case and blanks. Rename one.")
    return faults


def _with_units(column: Column) -> str:
    """The options that would say the unit of a column."""
    names = {
        Role.RESPONSE: [f"response_{unit}_{column.part}" for unit in ("ms", "us", "s")],
        Role.HOST_CPU: [f"cpu_{column.part}_{unit}" for unit in ("pct", "ratio")],
        Role.THROUGHPUT: ["tps", "tpm"],
    }[column.role]
    return " or ".join(map_option(name, column.name) for name in names)


def map_option(meaning: str, column: str) -> str:
    """The option that tells what a column means, as it is typed in a shell.

    >>> map_option("response_ms_p95", "p95 of all")
    "--map 'response_ms_p95=p95 of all'"
    """
    return f"--map {shlex.quote(f'{meaning}={column}')}"


def _missing(columns: list[Column], options: TableOptions) -> list[str]:
    roles = {column.role for column in columns}
    names = ", ".join(column.name for column in columns)
    faults = []
    if not roles & {Role.LEVEL, Role.LEVEL_PER_INSTANCE}:
        faults.append(f"no column says the level (connections). Say --map level=COLUMN. The columns are: {names}")
    if Role.THROUGHPUT not in roles:
        faults.append(f"no column says the throughput. Say --map throughput=COLUMN. The columns are: {names}")
    if Role.SYSTEM not in roles and not options.system:
        faults.append(
            f"no column names the system. Say --system NAME, or --map system=COLUMN. The columns are: {names}"
        )
    return faults


def _doubly_named(columns: list[Column], options: TableOptions) -> list[str]:
    roles = {column.role: column.name for column in columns}
    given = ((Role.SYSTEM, options.system), (Role.WORKLOAD, options.workload))
    return [
        f"--{role} {name}: the column {roles[role]} says it. Leave the option out, "
        f"or say {map_option(Role.FACTOR, roles[role])}"
        for role, name in given
        if name and role in roles
    ]
