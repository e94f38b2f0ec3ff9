"""Options of a managed server against what it reports: an option that was ignored or changed is a doubt.

The option file of a recording is what was asked for, and the server's global variables are what is in effect. Later
lines of the file win. Values are compared as the server would read them: sizes with their suffixes, ON and 1, numbers
by value, lists such as `sql_mode` and `optimizer_switch` by their members. A number given for a value that the server
shows as a word cannot be judged and is passed over.

Deliberately not here: reading the file (`stated_options`), whether systems agree in their variables (`variables`), and
options that the server accepts, shows as given and does not use: nothing that it reports tells them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.analyse.doubts import Code, Doubt, place_of
from plimsoll.analyse.finding_model import Figure
from plimsoll.analyse.stated_options import stated_options
from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.environment import InstanceFacts
from plimsoll.spec.switches import OFF, ON

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
