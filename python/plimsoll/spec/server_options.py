"""Which server options a user may state: those that keep the instance in its own directory and within reach.

Also here: the spellings of on and off (options take `1` and `TRUE`, variables show `YES`), and which word of a server's
full command is the server itself, since a loader and its options may stand before it. Pure, and it imports nothing
heavy: commands say first which server they start. Deliberately not here: what the options mean (the server says so
itself when it starts), and the switches of sysbench's command line (`sysbench`), which knows no `YES`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from plimsoll.errors import Fault, SpecError

OptionValue = str | int | float | bool

_ESCAPING = frozenset(
    {
        # where it keeps its files
        "basedir",
        "character_sets_dir",
        "chroot",
        "core_file",
        "datadir",
        "general_log_file",
        "innodb_data_home_dir",
        "innodb_directories",
        "innodb_doublewrite_dir",
        "innodb_log_group_home_dir",
        "innodb_temp_tablespaces_dir",
        "innodb_tmpdir",
        "innodb_undo_directory",
        "keyring_file_data",
        "lc_messages_dir",
        "log_basename",
        "log_error",
        "pid_file",
        "replica_load_tmpdir",
        "secure_file_priv",
        "slave_load_tmpdir",
        "slow_query_log_file",
        "symbolic_links",
        "tmpdir",
        # where it listens
        "admin_address",
        "admin_port",
        "bind_address",
        "extra_port",
        "mysqlx",
        "mysqlx_bind_address",
        "mysqlx_port",
        "mysqlx_socket",
        "named_pipe",
        "port",
        "networking",
        "socket",
        # what it loads and as whom it runs
        "early_plugin_load",
        "init_file",
        "init_replica",
        "init_slave",
        "plugin_dir",
        "plugin_load",
        "plugin_load_add",
        "user",
        "wsrep_provider",
        # not to run, or not as it was told
        "bootstrap",
        "daemonize",
        "defaults_extra_file",
        "defaults_file",
        "defaults_group_suffix",
        "grant_tables",
        "help",
        "initialize",
        "initialize_insecure",
        "no_defaults",
        "print_defaults",
        "verbose",
        "version",
    }
)
"""Options by which an instance would leave its directory, open another door, or lock Plimsoll out."""


_OF_AN_INSTALLATION = frozenset(
    {
        "basedir",
        "character_sets_dir",
        "defaults_extra_file",
        "defaults_file",
        "defaults_group_suffix",
        "lc_messages_dir",
        "mysqlx",
        "no_defaults",
        "plugin_dir",
        "secure_file_priv",
        "user",
    }
)
"""What a server's full command may say of where it is installed; Plimsoll's own arguments come after it and win."""


_PREFIX = re.compile(r"^(loose_|skip_|enable_|disable_|maximum_)+")
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def checked_options(options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """The user's options with names in one spelling (lower case, `_`).

    Raises:
        SpecError: Bad names or values, or options that would escape the instance; all faults at once.
    """
    checked: dict[str, OptionValue] = {}
    faults = list[Fault]()
    for name, value in options.items():
        plain = name.lower().replace("-", "_")
        fault = _fault(name, plain, value)
        if fault is None and plain in checked:
            fault = "is stated twice (- and _ mean the same); keep one"
        if fault:
            faults.append(Fault(("options", name), fault))
        checked[plain] = value
    if faults:
        raise SpecError(*faults)
    return checked


def checked_arguments(words: Sequence[str]) -> None:
    """Checks the arguments that a user's full command gives a server.

    Raises:
        SpecError: Arguments by which it would run on other data than Plimsoll made for it; all faults at once.
    """
    names = {word: word.lstrip("-").partition("=")[0].lower().replace("-", "_") for word in words}
    faults = [
        f"{word} is set by Plimsoll, which runs servers on data of its own; remove it"
        for word, name in names.items()
        if bare_name(name) not in _OF_AN_INSTALLATION and word.startswith("--") and _escapes(name)
    ]
    if faults:
        raise SpecError(*faults)


def bare_name(name: str) -> str:
    """An option's name without what servers allow before it.

    >>> bare_name("loose_skip_log_bin")
    'log_bin'
    """
    return _PREFIX.sub("", name)


def _fault(name: str, plain: str, value: OptionValue) -> str | None:
    """What is wrong with one option; None when nothing is."""
    if not _NAME.fullmatch(name):
        return f"must consist of letters, digits, - and _, is {name!r}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"must be a number, is {value}"
    text = str(value)
    if not text.isprintable():
        return f"must not contain line breaks or control characters, is {text!r}"
    if _escapes(plain):
        return "is set by Plimsoll, because it would let the server leave its own directory; remove it"
    if text.startswith(("/", "~", "\\")) or ".." in text.split("/"):
        return f"must not name a path outside of the instance, is {text!r}; remove it or use a relative name"
    return None


def _escapes(plain: str) -> bool:
    """Whether an option is refused. Servers accept any unambiguous beginning of a name, so beginnings are too."""
    bare = bare_name(plain)
    if not bare:
        return True
    return bare in _ESCAPING or (bare not in _KNOWN_BEGINNINGS and any(full.startswith(bare) for full in _ESCAPING))


_KNOWN_BEGINNINGS = frozenset({"general_log", "innodb_doublewrite", "slow_query_log"})
"""Complete names of harmless options that some refused name begins with."""


def value_text(value: OptionValue) -> str:
    """A value as an option file says it."""
    return ("ON" if value else "OFF") if isinstance(value, bool) else str(value)


_SWITCHING = (("skip_", False), ("disable_", False), ("enable_", True))
"""Prefixes that turn an option off or on, and which of the two."""

_OWN_VARIABLE = frozenset(
    {"skip_name_resolve", "skip_external_locking", "skip_networking", "skip_show_database", "skip_replication"}
)
"""Variables whose names begin as if they turned something off."""


def variables_stated(options: Iterable[tuple[str, OptionValue]]) -> dict[str, str]:
    """What options state, by the variables that they are for. The last of a name wins.

    `loose_` is left out, `skip_x` is `x = OFF`. `maximum_x` limits a variable and does not set it, so it is not among
    them.

    Args:
        options: Names in one spelling, with their values.

    >>> variables_stated([("skip_log_bin", True), ("loose_innodb_io_capacity", 200)])
    {'log_bin': 'OFF', 'innodb_io_capacity': '200'}
    """
    stated = (_stated(name.removeprefix("loose_"), value_text(value)) for name, value in options)
    return {name: value for name, value in stated if not name.startswith("maximum_")}


def _stated(name: str, value: str) -> tuple[str, str]:
    """A variable and its value, from an option that may switch it on or off."""
    for prefix, turns_on in () if name in _OWN_VARIABLE else _SWITCHING:
        if name.startswith(prefix):
            return name.removeprefix(prefix), "ON" if is_on(value) == turns_on else "OFF"
    return name, value


ON = frozenset({"ON", "1", "TRUE", "YES"})
OFF = frozenset({"OFF", "0", "FALSE", "NO"})


def is_on(value: str) -> bool:
    """Whether a value means on, in letters of either case."""
    return value.strip().upper() in ON


def switch_spelling(value: str) -> str:
    """`1` for each spelling of on, `0` for each of off, any other value as it is.

    >>> switch_spelling("ON"), switch_spelling("off"), switch_spelling("2")
    ('1', '0', '2')
    """
    upper = value.upper()
    return "1" if upper in ON else "0" if upper in OFF else value


def server_word(words: Sequence[str]) -> str | None:
    """The path of the server among the words of its command; None where none looks like one.

    >>> server_word(["numactl", "-N", "0", "/opt/mysql/bin/mysqld", "--no-defaults"])
    '/opt/mysql/bin/mysqld'
    """
    return next((word for word in words if PurePath(word).name.startswith(("mysqld", "mariadbd"))), None)
