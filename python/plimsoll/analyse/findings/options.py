"""Doubts about what a server was given and what it uses: options, character sets, files, a quota.

Options that it ignored or changed, columns of another character set than the server was given, paths on one device,
huge pages that it did not use, and a quota of processor time that stopped it.

The option file of a recording is what was asked for, and the server's global variables are what is in effect. Later
lines of the file win. Values are compared as the server would read them: sizes with their suffixes, ON and 1, numbers
by value, lists such as `sql_mode` and `optimizer_switch` by their members. A number given for a value that the server
shows as a word cannot be judged and is passed over.

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
from dataclasses import dataclass

from plimsoll.analyse.explain.variable_names import stated_options
from plimsoll.analyse.findings.doubts import Code, Doubt, place_of
from plimsoll.analyse.findings.finding_model import Figure
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import InstanceFacts
from plimsoll.spec.server_options import OFF, ON
from plimsoll.units import parse_whole

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


@dataclass(frozen=True, slots=True)
class NotInEffect:
    """An option that the server does not run with.

    Attributes:
        option: Its name, without what allows a server to ignore it.
        given: As the option file has it.
        effective: The server's value; None when it has no such variable, so that the option was ignored.
    """

    option: str
    given: str
    effective: str | None


def check_options(one: TrialSummary) -> Iterator[Doubt]:
    """A doubt for each option that is not in effect on an instance, once for instances that agree."""
    found = dict.fromkeys(each for instance in one.environment.instances for each in options_not_in_effect(instance))
    for each in found:
        seen = "option-ignored" if each.effective is None else "option-changed"
        figures: dict[str, Figure] = {"option": each.option, "given": each.given, "effective": each.effective or ""}
        yield place_of(one.trial).doubt(Code.OPTION_NOT_IN_EFFECT, seen, 0.0, **figures)


def options_not_in_effect(instance: InstanceFacts) -> list[NotInEffect]:
    """Options of an instance's file that its variables contradict; none where either is unknown."""
    if not instance.option_file or not instance.variables:
        return []
    variables = {name.lower(): value for name, value in instance.variables.items()}
    found = []
    for name, given in stated_options(instance.option_file).items():
        names = _OTHER_NAMES.get(name, (name,))
        known = next((variables[one] for one in names if one in variables), None)
        if not names or (known is not None and _agree(name, given, known)):
            continue
        if known is None and _OTHER_NAMES.get(name):
            continue  # a newer server's name for it, which this table lacks
        found.append(NotInEffect(name, given, known))
    return found


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


def _paths_agree(one: str, other: str) -> bool:
    return "/" in one and one.rstrip("/") == other.rstrip("/")


def _number(text: str) -> float | None:
    """A number with the suffix of a size; None for anything else."""
    match = re.fullmatch(r"([+-]?\d+(?:\.\d+)?(?:E[+-]?\d+)?)([KMGTPE]?)", text)
    if match is None:
        return None
    return math.ldexp(float(match[1]), _SUFFIXES.get(match[2].lower(), 0))


def check_character_sets(one: TrialSummary) -> Iterator[Doubt]:
    """A doubt where the study stated a character set and columns have others; once for instances that agree."""
    found = dict.fromkeys(told for instance in one.environment.instances if (told := _others(instance)))
    for wanted, columns in found:
        yield place_of(one.trial).doubt(
            Code.CHARACTER_SET_KEPT,
            "character-set-kept",
            float(len(columns)),
            wanted=wanted,
            columns_count=len(columns),
            columns=columns,
        )


def _others(instance: InstanceFacts) -> tuple[str, tuple[str, ...]] | None:
    """The stated character set, and columns that have another one, with theirs; None where there are none."""
    stated = stated_options(instance.option_file or "").keys() & {"character_set_server", "collation_server"}
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


def check_files(one: TrialSummary) -> Iterator[Doubt]:
    """Paths of one server that share a device though they were given apart, and unused huge pages."""
    for instance in one.environment.instances:
        place = place_of(one.trial)
        for device, roles in _shared(instance).items():
            figures = {"device": device, "roles": " and ".join(roles)}
            yield place.doubt(Code.PATHS_ON_ONE_DEVICE, "paths-on-one-device", float(len(roles)), **figures)
        pool_bytes = parse_whole(instance.variables.get("innodb_buffer_pool_size", ""))
        in_huge_pages, wanted = instance.huge_pages_bytes, one.trial.system.factors.get("huge_pages") == "true"
        if wanted and in_huge_pages is not None and pool_bytes is not None and in_huge_pages < pool_bytes:
            yield place.doubt(
                Code.HUGE_PAGES_UNUSED,
                "huge-pages-unused",
                huge_pages_bytes=in_huge_pages,
                buffer_pool_bytes=pool_bytes,
            )


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


THROTTLED_RATIO = 0.01
"""Below a hundredth of the time it moves throughput by less than repetitions usually differ."""


def check_throttled(one: TrialSummary) -> Iterator[Doubt]:
    """The doubt that the quota, not the server, set the figures of a trial."""
    throttled_s = one.resources.per_s.get("throttled_s", 0.0)
    if throttled_s > THROTTLED_RATIO:
        # Version 1 and 2 add up what each CPU of the group was stopped for, so it may be more than all of the time.
        yield place_of(one.trial).doubt(
            Code.SERVER_THROTTLED, "server-throttled", throttled_s, throttled_s_per_s=throttled_s
        )
