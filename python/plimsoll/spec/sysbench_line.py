"""A command line of sysbench, as far as a recording needs it: the test, the command, the options that were given.

The load engine reads the same words and has the last one about them: what it refuses is taken here as it stands.
Deliberately not here: declared options and their defaults, and what a workload does (`sysbench_workload`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pydantic import SecretStr

from plimsoll.errors import SpecError
from plimsoll.spec.target import Target
from plimsoll.spec.tls import Tls, TlsMode

HOST_TESTS = frozenset({"cpu", "memory", "threads", "mutex", "fileio"})
"""Tests that need no server."""

_RENAMED = {
    "num-threads": "threads",
    "max-requests": "events",
    "max-time": "time",
    "tx-rate": "rate",
    "seed-rng": "rand-seed",
}
"""Options of 0.4 and 0.5 under their names of today."""

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
        """An option as text."""
        return self.options.get(name) or default

    def whole(self, name: str, default: int) -> int:
        """An option as a whole number; the default for what is none."""
        text = self.text(name)
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else default

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
            user=self.text("mysql-user", "sbtest"),
            database=self.text("mysql-db", "sbtest"),
            password=SecretStr(self.text("mysql-password")),
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
        said = self.text("mysql-ssl", "on" if "mysql-ssl" in self.options else "off").lower().replace("_", "-")
        is_switch = said in _ON
        old = [Path(name) if is_switch and Path(name).exists() else None for name in _OLD_SSL_FILES]
        named = [self.text(f"mysql-ssl-{what}") for what in ("ca", "cert", "key")]
        ca, cert, key = (Path(name) if name else before for name, before in zip(named, old, strict=True))
        mode: TlsMode = _TLS_MODES.get(said, "disabled")
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


def _port(text: str) -> int:
    """0 for what is none: the engine will say so."""
    return int(text) if text.isascii() and text.isdecimal() else 0


def read_line(arguments: Sequence[str]) -> SysbenchLine:
    """Takes a command line apart.

    Raises:
        SpecError: A file that `--config-file` names cannot be read.
    """
    words: list[str | None] = [word for word in arguments if not word.startswith("--")]
    options = dict(_option(word[2:]) for word in arguments if word.startswith("--"))
    if file := options.pop("config-file", None):
        options = dict(_lines(Path(file))) | options
    if (test := options.pop("test", None)) is not None:
        words.insert(0, test)
    test, command = [*words, None, None][:2]
    return SysbenchLine(test, command, options)


def _option(written: str) -> tuple[str, str | None]:
    name, sign, value = written.partition("=")
    plain = name.strip().replace("_", "-")
    return _RENAMED.get(plain, plain), value.strip() if sign else None


def _lines(file: Path) -> Iterator[tuple[str, str | None]]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise SpecError(f"--config-file={file}: cannot be read: {error.strerror}; correct its name") from None
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith("#"):
            yield _option(line)
