"""Warnings about what a server was given and what it uses: options, character sets, files, flushes, a quota.

Options that it ignored or changed, columns of another character set than the server was given, paths on one device,
huge pages that it did not use, and a quota of processor time that stopped it.

The options of a recording are what was asked for, and the server's global variables are what is in effect. Values are
compared as the server would read them: sizes with their suffixes, ON and 1, numbers by value, lists such as `sql_mode`
and `optimizer_switch` by their members. A number given for a value that the server shows as a word cannot be judged and
is passed over.

Columns whose character set is not that which the study gave the server. A study may state the character set of its
servers, and tables are then made with it. A column whose type in a workload file names another one keeps that, and so
does a table that was there before.

Whether the server was stopped because its control group had used up its quota of processor time. A quota may be a
factor of the study; that it took effect is still worth saying, since throughput is then the quota's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plimsoll.analyse.explain.variables import stated_options
from plimsoll.analyse.findings.doubts import Doubt, Observation, Voids, WarningKind, place_of
from plimsoll.record.environment import InstanceFacts
from plimsoll.spec.server_options import OFF, ON
from plimsoll.units import format_bytes, parse_whole
from plimsoll.wording import counted, first_few

if TYPE_CHECKING:
    from plimsoll.analyse.trial.trial_summary import TrialSummary

_SUFFIXES = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}

_OTHER_NAMES = {
    "default_time_zone": ("time_zone",),
    "transaction_isolation": ("transaction_isolation", "tx_isolation"),
    "transaction_read_only": ("transaction_read_only", "tx_read_only"),
    "expire_logs_days": ("expire_logs_days", "binlog_expire_logs_seconds"),
    "memlock": ("locked_in_memory",),
    "external_locking": ("skip_external_locking",),
    "log_bin_index": (),
    "plugin_load": (),
    "plugin_load_add": (),
    "relay_log": (),
    "skip_stack_trace": (),
    "stack_trace": (),
    "slave_start": (),
    "replica_start": (),
    "sysdate_is_now": (),
    "character_set_client_handshake": (),
    "innodb_status_file": (),
    "user": (),
    "mysqlx": (),
}
"""Options whose variables have other names, or that have none though servers obey them."""

_NAMES_A_FILE = frozenset({"log_bin", "general_log", "slow_query_log"})
"""Options that may be given a name, and whose variables only say ON."""


OPTION_NOT_IN_EFFECT = WarningKind(
    "option-not-in-effect",
    Voids.ABSOLUTE,
    "Remove the option, or set it to the server's value; the server's error log gives the reason.",
)


class OptionIgnored(Observation, kind=OPTION_NOT_IN_EFFECT, seen="option-ignored"):
    """The server has no such variable, and was allowed to ignore the option.

    Attributes:
        effective: Empty.
    """

    option: str
    given: str
    effective: str = ""

    def __str__(self) -> str:
        return f"{self.option} = {self.given} was given; the server has no such variable and ignored it"


class OptionChanged(Observation, kind=OPTION_NOT_IN_EFFECT, seen="option-changed"):
    """The server runs with another value."""

    option: str
    given: str
    effective: str

    def __str__(self) -> str:
        return f"{self.option} = {self.given} was given; {self.effective} is in effect"


def check_options(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """A doubt for each option that is not in effect on an instance, once for instances that agree."""
    instances = trial_summary.environment.instances
    for seen in dict.fromkeys(each for instance in instances for each in options_not_in_effect(instance)):
        yield place_of(trial_summary.trial).doubt(seen)


def options_not_in_effect(instance: InstanceFacts) -> list[OptionIgnored | OptionChanged]:
    """Options of an instance's file that its variables contradict; none where either is unknown."""
    if not instance.variables:
        return []
    variables = {name.lower(): value for name, value in instance.variables.items()}
    not_in_effect = list[OptionIgnored | OptionChanged]()
    for name, given in stated_options(instance).items():
        names = _OTHER_NAMES.get(name, (name,))
        known = next((variables[name] for name in names if name in variables), None)
        if not names or (known is not None and _agree(name, given, known)):
            continue
        if known is None and _OTHER_NAMES.get(name):
            continue  # a newer server's name for it, which this table lacks
        if known is None:
            not_in_effect.append(OptionIgnored(option=name, given=given))
        else:
            not_in_effect.append(OptionChanged(option=name, given=given, effective=known))
    return not_in_effect


def _agree(name: str, given: str, effective: str) -> bool:
    """Whether a server that shows `effective` obeys `given`."""
    mine, its = given.strip().upper(), effective.strip().upper()
    if mine == its or (name in _NAMES_A_FILE and its in ON and mine not in OFF):
        return True
    switches = (ON, OFF)
    if any(mine in way and its in way for way in switches):
        return True
    number, shown = _number(mine), _number(its)
    if number is not None and shown is not None:
        return abs(number - shown) <= 1e-9 * max(abs(number), abs(shown))
    if number is not None and not any(its in way for way in switches):
        return True  # a position in a list of words
    members = set(re.split(r"[,;]", its))
    return (bool(mine) and "," in its and set(re.split(r"[,;]", mine)) <= members) or _paths_agree(mine, its)


def _paths_agree(path: str, other: str) -> bool:
    return "/" in path and path.rstrip("/") == other.rstrip("/")


def _number(text: str) -> float | None:
    """A number with the suffix of a size; None for anything else."""
    match = re.fullmatch(r"([+-]?\d+(?:\.\d+)?(?:E[+-]?\d+)?)([KMGTPE]?)", text)
    if match is None:
        return None
    return math.ldexp(float(match[1]), _SUFFIXES.get(match[2].lower(), 0))


CHARACTER_SET_KEPT = WarningKind(
    "character-set-kept",
    Voids.NOTHING,
    "Leave the character set out of the columns' types in the workload file, or out of the system's server.",
)


class CharacterSetKept(Observation, kind=CHARACTER_SET_KEPT, seen="character-set-kept"):
    """Columns have another character set than the server was given.

    Attributes:
        columns: Each with its own.
    """

    wanted: str
    columns_count: int
    columns: tuple[str, ...]

    def __str__(self) -> str:
        have = "has" if self.columns_count == 1 else "have"
        return (
            f"the server was given {self.wanted}; {counted(self.columns_count, 'column')} {have} another character set:"
            f" {first_few(self.columns)}"
        )


def check_character_sets(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """A doubt where the study stated a character set and columns have others; once for instances that agree."""
    mismatches = dict.fromkeys(
        mismatch for instance in trial_summary.environment.instances if (mismatch := _others(instance))
    )
    for wanted, columns in mismatches:
        seen = CharacterSetKept(wanted=wanted, columns_count=len(columns), columns=columns)
        yield place_of(trial_summary.trial).doubt(seen, float(len(columns)))


def _others(instance: InstanceFacts) -> tuple[str, tuple[str, ...]] | None:
    """The stated character set, and columns that have another one, with theirs; None where there are none."""
    stated = stated_options(instance).keys() & {"character_set_server", "collation_server"}
    wanted = _name(instance.variables.get("character_set_server"))
    if not stated or wanted is None or instance.data is None:
        return None
    columns = tuple(
        f"{table}.{name}: {column.character_set}"
        for table, facts in instance.data.tables.items()
        for name, column in facts.columns.items()
        if _name(column.character_set) not in (None, wanted)
    )
    return (wanted, columns) if columns else None


def _name(character_set: str | None) -> str | None:
    """In one spelling: `utf8` and `utf8mb3` are the same.

    >>> _name("utf8"), _name("UTF8MB3"), _name("utf8mb4")
    ('utf8', 'utf8', 'utf8mb4')
    """
    return None if character_set is None else character_set.lower().replace("utf8mb3", "utf8")


_FLUSHED = ("redo", "binlog", "undo")
"""What shares a device's flushes with the data; temporary files are not flushed."""


PATHS_ON_ONE_DEVICE = WarningKind(
    "paths-on-one-device", Voids.NOTHING, "Put them on devices of their own, or leave the paths out."
)
HUGE_PAGES_UNUSED = WarningKind(
    "huge-pages-unused",
    Voids.NOTHING,
    "Reserve more huge pages (sysctl vm.nr_hugepages) and allow the server to lock them; its error log names the"
    " cause.",
)


class PathsOnOneDevice(Observation, kind=PATHS_ON_ONE_DEVICE, seen="paths-on-one-device"):
    """Paths that were given apart share a device."""

    device: str
    roles: str

    def __str__(self) -> str:
        return f"{self.roles} are on one device, {self.device}"


class HugePagesUnused(Observation, kind=HUGE_PAGES_UNUSED, seen="huge-pages-unused"):
    """The buffer pool lies in ordinary pages."""

    huge_pages_bytes: int
    buffer_pool_bytes: int

    def __str__(self) -> str:
        huge, pool = format_bytes(self.huge_pages_bytes), format_bytes(self.buffer_pool_bytes)
        return f"{huge} in huge pages, {pool} of buffer pool"


def check_files(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Paths of one server that share a device though they were given apart, and unused huge pages."""
    for instance in trial_summary.environment.instances:
        place = place_of(trial_summary.trial)
        for device, roles in _shared(instance).items():
            yield place.doubt(PathsOnOneDevice(device=device, roles=" and ".join(roles)), float(len(roles)))
        pool_bytes = parse_whole(instance.variables.get("innodb_buffer_pool_size", ""))
        in_huge_pages, wanted = (
            instance.huge_pages_bytes,
            trial_summary.trial.system.factors.get("huge_pages") == "true",
        )
        if wanted and in_huge_pages is not None and pool_bytes is not None and in_huge_pages < pool_bytes:
            yield place.doubt(HugePagesUnused(huge_pages_bytes=in_huge_pages, buffer_pool_bytes=pool_bytes))


def _shared(instance: InstanceFacts) -> dict[str, list[str]]:
    """What lies on each device that holds more than one of a server's paths; empty where there is one path only."""
    below: dict[str, list[str]] = {}
    if instance.storage is not None and instance.storage.device is not None:
        below[instance.storage.device] = ["data"]
    for role in _FLUSHED:
        storage = instance.storage_of_roles.get(role)
        if storage is not None and storage.device is not None:
            below.setdefault(storage.device, []).append(role)
    return {device: roles for device, roles in below.items() if len(roles) > 1}


FLUSH_COSTS_NOTHING = WarningKind(
    "flush-costs-nothing", Voids.ABSOLUTE, "Put the data directory on the storage that production has."
)

_MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs", "devtmpfs")
FLUSH_MS_OF_A_DEVICE = 0.05
"""No device makes a write durable faster: enterprise NVMe with power-loss protection needs about as long."""


class DataInMemory(Observation, kind=FLUSH_COSTS_NOTHING, seen="data-in-memory"):
    """The data lies in memory."""

    path: str | None
    file_system: str

    def __str__(self) -> str:
        return f"{self.path or 'the data directory'} is on {self.file_system}, which is memory"


class FastFlush(Observation, kind=FLUSH_COSTS_NOTHING, seen="fast-flush"):
    """A flush is faster than any device."""

    flush_us_median: float

    def __str__(self) -> str:
        return f"a small write with fdatasync took {self.flush_us_median:.0f} µs in the data directory"


def check_flush(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Whether flushes to the data directory cost what they cost on a device."""
    place = place_of(trial_summary.trial)
    for instance in trial_summary.environment.instances:
        storage = instance.storage
        if storage is None:
            continue
        if storage.file_system in _MEMORY_FILE_SYSTEMS:
            yield place.doubt(DataInMemory(path=storage.path, file_system=storage.file_system), 2.0)
        elif storage.flush_ms_median is not None and storage.flush_ms_median < FLUSH_MS_OF_A_DEVICE:
            yield place.doubt(FastFlush(flush_us_median=storage.flush_ms_median * 1000), 1.0)


SERVER_THROTTLED = WarningKind(
    "server-throttled",
    Voids.MACHINE,
    "Raise the quota of processor time of the server's control group, or state that quota as a factor of the study.",
)


class ServerThrottled(Observation, kind=SERVER_THROTTLED, seen="server-throttled"):
    """The quota of the server's control group stopped it."""

    throttled_s_per_s: float

    def __str__(self) -> str:
        return (
            f"its control group's quota of processor time stopped the server for {self.throttled_s_per_s:.2f} s of CPU"
            " time in each second"
        )


THROTTLED_RATIO = 0.01
"""Below a hundredth of the time it moves throughput by less than repetitions usually differ."""


def check_throttled(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """The doubt that the quota, not the server, set the figures of a trial."""
    throttled_s = trial_summary.resources.per_s.get("throttled_s", 0.0)
    if throttled_s > THROTTLED_RATIO:
        # Version 1 and 2 add up what each CPU of the group was stopped for, so it may be more than all of the time.
        yield place_of(trial_summary.trial).doubt(ServerThrottled(throttled_s_per_s=throttled_s), throttled_s)
