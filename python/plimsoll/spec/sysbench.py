"""A command line of sysbench, as far as a recording needs it: test, command, given options, and what clients do.

The load engine reads the same words and has the last one about them: what it refuses is taken here as it stands.
Clients do one of our workloads where a command line names one, else what its own options say. Deliberately not here:
declared options and their defaults.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import SecretStr, ValidationError

from plimsoll.errors import SpecError
from plimsoll.regular_file import read_regular
from plimsoll.spec.oltp import OPTIONS, WorkloadSpec, layout_of
from plimsoll.spec.target import Target, Tls, TlsMode
from plimsoll.units import parse_whole

HOST_TESTS = frozenset({"cpu", "memory", "threads", "mutex", "fileio"})
"""Tests that need no server."""

_OLD = {"num-threads": ("threads", 1), "max-requests": ("events", 0), "max-time": ("time", 0), "tx-rate": ("rate", 0)}
"""Options of 0.4 and 0.5: their names of today, and the values that mean that nothing was given."""

_ON, _OFF = frozenset({"on", "true", "1"}), frozenset({"off", "false", "0"})
_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/tmp/mysql.sock", "/var/lib/mysql/mysql.sock")  # noqa: S108 - where servers listen
_OLD_SSL_FILES = ("cacert.pem", "client-cert.pem", "client-key.pem")
_TLS_MODES: dict[str, TlsMode] = {
    "preferred": "preferred",
    "required": "required",
    "verify-ca": "verify-ca",
    "verify-identity": "verify-identity",
}


@dataclass(frozen=True, slots=True)
class SysbenchLine:
    """What was typed, and what stood in `--config-file`.

    Attributes:
        test: A name or a path; None when there is none.
        command: None when there is none.
        options: The last value of each option by its name with `-`; None for one without `=`. Never shown: passwords
            are among them.
    """

    test: str | None
    command: str | None
    options: dict[str, str | None] = field(repr=False)

    @property
    def test_name(self) -> str:
        """The test without folder and `.lua`."""
        return PurePosixPath(self.test or "").name.removesuffix(".lua")

    def text(self, name: str, default: str = "") -> str:
        """An option as text: the default where it was not given, nothing where nothing stands behind it."""
        return self.options.get(name, default) or ""

    def whole(self, name: str, default: int) -> int:
        """An option as a whole number: 0 where nothing stands behind it; the default for what is none."""
        if name not in self.options:
            return default
        text = self.options[name] or "0"
        return int(text) if re.fullmatch(r"\s*[+-]?[0-9]{1,18}", text, re.ASCII) else default

    def number(self, name: str) -> float:
        """The number that an option begins with, as scripts get it; 0 where there is none."""
        match = re.match(
            r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", self.text(name), re.ASCII | re.IGNORECASE
        )
        return float(match[0]) if match else 0.0

    def items(self, name: str) -> tuple[str, ...]:
        """An option that is a list, separated by commas."""
        return tuple(item.strip() for item in self.text(name).split(",") if item.strip())

    def is_on(self, name: str, default: bool = False) -> bool:
        """An option that is a switch."""
        if name not in self.options:
            return default
        value = self.options[name]
        return value is None or (value in _ON if value in _ON | _OFF else default)

    def targets(self) -> tuple[Target, ...]:
        """The servers that connections go to, at least one, with the password."""
        known = Target(
            user=self.text("mysql-user", "sbtest") or _whoever_runs_it(),
            database=self.text("mysql-db", "sbtest"),
            password=SecretStr(self.text("mysql-password") or os.environ.get("MYSQL_PWD", "")),
            tls=self._tls(),
        )
        if sockets := self.items("mysql-socket"):
            return tuple(replace(known, socket=Path(path)) for path in sockets)
        ports = self.items("mysql-port") or ("3306",)
        hosts = self.items("mysql-host") or ("localhost",)
        here = next((Path(path) for path in _SOCKETS if Path(path).exists()), None)
        if here is None or ports != ("3306",):
            here = None  # only `localhost` at the usual port is the socket, as for the client library
        return tuple(
            replace(known, socket=here) if host == "localhost" and here else replace(known, host=host, port=_port(port))
            for host in hosts
            for port in ports
        )

    def _tls(self) -> Tls:
        """Switch of 1.0 or mode of 1.1; what the engine will refuse is taken for no encryption."""
        setting = (self.options.get("mysql-ssl", "off") or "on").lower().replace("_", "-")
        is_switch = setting in _ON
        old = [Path(name) if is_switch and Path(name).exists() else None for name in _OLD_SSL_FILES]
        named = [self.text(f"mysql-ssl-{what}") for what in ("ca", "cert", "key")]
        ca, cert, key = (Path(name) if name else before for name, before in zip(named, old, strict=True))
        mode: TlsMode = _TLS_MODES.get(setting, "disabled")
        if is_switch:
            mode = "required" if ca is None else "verify-ca"
        both = cert is not None and key is not None
        verifies = mode in {"verify-ca", "verify-identity"}
        return Tls(
            mode=mode,
            ca=ca if verifies else None,
            cert=cert if both else None,
            key=key if both else None,
            get_server_public_key=mode in {"disabled", "preferred"},  # as sysbench's client library does
        )


def _whoever_runs_it() -> str:
    """The name that the client library takes where none is given."""
    if os.geteuid() == 0:
        return "root"
    return next((name for variable in ("USER", "LOGNAME", "LOGIN") if (name := os.environ.get(variable))), "")


def _port(text: str) -> int:
    """0 for what is none: the engine will say so."""
    return parse_whole(text) or 0


def read_line(arguments: Sequence[str]) -> SysbenchLine:
    """Takes a command line apart.

    Raises:
        SpecError: A file that `--config-file` names cannot be read.
    """
    test, words, displaced = None, list[str](), None
    given = list[tuple[str, str | None]]()
    for argument in arguments:
        if argument.startswith("--test="):
            named = argument.removeprefix("--test=")
            displaced, test = (test, named) if named else (displaced, test)
        elif argument.startswith("--"):
            given += _given(argument)
        elif test is None:
            test = argument
        else:
            words.append(argument)
    command = next(iter(words), displaced)
    options = dict(_renamed(given) if test == "oltp" else given)
    line = SysbenchLine(test, command, options)
    if test != "oltp":
        meant = {new: options[old] for old, (new, nothing) in _OLD.items() if line.whole(old, nothing) > nothing}
        options.update(meant)
    return line


def _given(argument: str) -> Iterator[tuple[str, str | None]]:
    """An option, or those of the file that it names."""
    name, value = _option(argument)
    if name != "config-file":
        yield name, value
    elif value:
        yield from _lines(Path(value))


def _option(written: str) -> tuple[str, str | None]:
    name, sign, value = written.strip().removeprefix("--").partition("=")
    return name.strip().replace("_", "-"), value if sign else None


def _renamed(given: Sequence[tuple[str, str | None]]) -> Iterator[tuple[str, str | None]]:
    """Options of 0.4 under their names of today."""
    for name, value in given:
        today, _ = _OLD.get(name, ("rand-seed" if name == "seed-rng" else name, 0))
        yield today, value


def _lines(file: Path) -> Iterator[tuple[str, str | None]]:
    """Options of a file: a value is a word, or stands between quotation marks."""
    try:
        text = read_regular(file).decode(errors="replace")
    except OSError as error:
        raise SpecError(f"--config-file={file}: cannot be read: {error.strerror}; correct its name") from None
    for line in map(str.strip, text.splitlines()):
        if "=" in line and not line.startswith(("#", ";", "[")):
            name, value = _option(line)
            match = re.match(r"""\s*(?:"([^"]*)"|'([^']*)'|(\S*))""", value or "")
            yield name, next((word for word in match.groups() if word is not None), "") if match else ""


MODULES = frozenset(kind for kind in OPTIONS if layout_of(kind) == "sysbench-1")
"""sysbench's modules that are workloads of ours, too."""

_COUNTS = (
    *("tables", "table_size", "range_size", "point_selects", "simple_ranges", "sum_ranges", "order_ranges"),
    *("distinct_ranges", "index_updates", "non_index_updates", "delete_inserts", "random_points", "number_of_ranges"),
    "delta",
)
_SWITCHES = {
    "range_selects": "range-selects",
    "skip_transaction": "skip-trx",
    "auto_increment": "auto-inc",
    "secondary": "secondary",
    "create_secondary": "create-secondary",
}
_TEXTS = {"storage_engine": "mysql-storage-engine", "table_options": "create-table-options"}

_OF_THE_RUN = frozenset(
    {
        *("threads", "events", "time", "warmup-time", "forced-shutdown", "thread-stack-size", "thread-init-timeout"),
        *("rate", "report-interval", "report-checkpoints", "debug", "validate", "help", "version"),
        *("num-threads", "max-requests", "max-time", "tx-rate", "plimsoll-compat", "plimsoll-report-json"),
        *(
            "init-rng",
            "rand-init",
            "seed-rng",
            "luajit-cmd",
            "rand-seed",
            "verbosity",
            "percentile",
            "histogram",
            "db-driver",
        ),
        *("db-debug", "mysql-debug", "mysql-dry-run", "mysql-host", "mysql-port", "mysql-socket", "mysql-user"),
        *("mysql-db", "mysql-ssl", "mysql-ssl-key", "mysql-ssl-ca", "mysql-ssl-cert", "mysql-ssl-cipher"),
        *("mysql-compression", "mysql-compression-algorithms"),
        *("pgsql-host", "pgsql-port", "pgsql-user", "pgsql-db"),
    }
)
"""Options that say how a workload is run and told, and where."""


def workload_of(line: SysbenchLine, *, compat: str) -> WorkloadSpec | None:
    """The workload of ours that a module of sysbench is; None for scripts, and for options that it does not know.

    Args:
        line: What was typed.
        compat: Whose defaults: `1.0` or `1.1`.
    """
    kind = line.test
    if kind is None or kind not in MODULES or Path(kind).is_file():  # a file of that name takes its place
        return None
    written = {name: value for name, value in _written(line, compat) if name in OPTIONS[kind]}
    try:
        return WorkloadSpec.model_validate({"name": kind, "kind": kind, **written})
    except ValidationError:
        return None


def given_options(line: SysbenchLine, *, compat: str) -> dict[str, Any]:
    """Options of a script as they were given, without those of the run. Passwords are no part of it.

    Args:
        line: What was typed.
        compat: Whose defaults; kept, since a script draws by it.
    """
    return {"plimsoll_compat": compat} | {
        name.replace("-", "_"): "on" if value is None else value
        for name, value in sorted(line.options.items())
        if name not in _OF_THE_RUN and "password" not in name
    }


def _written(line: SysbenchLine, compat: str) -> Iterator[tuple[str, Any]]:
    """Keys and values as a study file has them."""
    yield "distribution", _distribution(line, compat)
    yield "reconnect_after", line.whole("reconnect", 0)
    if line.text("db-ps-mode") == "disable":
        yield "prepared", False
    for name in _COUNTS:
        option = name.replace("_", "-")
        if option in line.options:
            yield name, _count(line.number(option))
    for name, option in _SWITCHES.items():
        if option in line.options:
            yield name, line.is_on(option)
    for name, option in _TEXTS.items():
        if line.text(option):
            yield name, line.text(option)


def _count(number: float) -> float:
    """A whole number where it is one: what has a fraction is no count."""
    return int(number) if number.is_integer() else number


def _distribution(line: SysbenchLine, compat: str) -> dict[str, Any]:
    draws = {"draws": line.whole("rand-spec-iter", 12)}
    match line.text("rand-type", "uniform" if compat == "1.1" else "special"):
        case "special":
            hot = {
                "hot_rows_percent": line.whole("rand-spec-pct", 1),
                "hot_accesses_percent": line.whole("rand-spec-res", 75),
            }
            return {"kind": "special-1.0", **hot, **draws}
        case "gaussian":
            return {"kind": "gaussian", **draws}
        case "pareto":
            return {"kind": "pareto", "h": _fraction(line, "rand-pareto-h", 0.2)}
        case "zipfian":
            return {"kind": "zipfian", "exponent": _fraction(line, "rand-zipfian-exp", 0.8)}
        case other:
            return {"kind": other}


def _fraction(line: SysbenchLine, name: str, default: float) -> float:
    try:
        return float(line.text(name) or default)
    except ValueError:
        return default
