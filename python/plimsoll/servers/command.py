"""Finds an installed server, by name or by a full command, and asks it whether it knows the options it will start with.

The program itself is asked, and then ends. Deliberately not here: starting one (`managed`), installing anything, and
options that Plimsoll refuses (`spec.server_options`). Values that only a server with data can judge are not found.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from plimsoll.errors import HostError, SpecError
from plimsoll.servers.option_file import Flavour, FlavourName, option_word
from plimsoll.spec.server_options import OptionValue, checked_arguments

_PROGRAMS = {"mariadb": ("mariadbd", "mysqld"), "mysql": ("mysqld",)}
_PACKAGES = {
    "mariadb": "Debian and Ubuntu: apt-get install mariadb-server-core mariadb-client-core (no service is started); "
    "Fedora: dnf install mariadb-server",
    "mysql": "Ubuntu and Debian unstable: apt-get install mysql-server-core; or give the full command of a mysqld",
}
_FOLDERS = ("/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin", "/usr/local/libexec")
_SERVER_PROGRAM = re.compile(r"(mysqld|mariadbd)([-.][\w.-]*)?")


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How to start an installed server.

    Attributes:
        program: The words that start it: the server's path, with a loader and its arguments before it if need be.
        arguments: What the user's command adds after the program.
        flavour: As `--version` says.
        version_text: The line that `--version` printed.
    """

    program: tuple[str, ...]
    arguments: tuple[str, ...]
    flavour: Flavour
    version_text: str

    def words(self, option_file: Path, *more: str) -> list[str]:
        """The command line that starts a server with an option file, which must come first."""
        return [*self.program, f"--defaults-file={option_file}", *self.arguments, *more]


def find_server(server: str | Sequence[str]) -> ServerCommand:
    """Finds a server and asks it what it is.

    Args:
        server: `"mariadb"`, `"mysql"`, or a full command as text or words.

    Raises:
        HostError: There is no such server here, it cannot say its version, or what makes its data is missing.
        SpecError: The command would run it on other data than its own.
    """
    command = _find_by_name(server) if isinstance(server, str) and server in _PROGRAMS else _find_by_words(server)
    if command.flavour.name is FlavourName.MARIADB:
        _find_installer(Path(command.program[-1]))
    return command


def _find_by_words(server: str | Sequence[str]) -> ServerCommand:
    words = _words(server) if isinstance(server, str) else list(server)
    if not words:
        raise HostError("server command: is empty; write mariadb, mysql or the full command of a server")
    program, arguments = _split(words)
    try:
        checked_arguments(arguments)
    except SpecError as error:
        raise SpecError(*(f"server command: {fault}" for fault in error.faults)) from None
    flavour, text = _ask_version(program)
    return ServerCommand(program=tuple(program), arguments=tuple(arguments), flavour=flavour, version_text=text)


def initialise_words(command: ServerCommand, option_file: Path, place: Sequence[str]) -> list[str]:
    """The command line that fills an empty data directory.

    Args:
        command: The server.
        option_file: With everything that shall hold for the data, such as the page size.
        place: Arguments that say where the instance lies, its empty data directory among them.

    Raises:
        HostError: MariaDB's initialiser, which is a program of its own, is not installed.
    """
    if command.flavour.name is FlavourName.MYSQL:
        return command.words(option_file, *place, "--initialize-insecure")
    installer = _find_installer(Path(command.program[-1]))
    return [
        str(installer),
        f"--defaults-file={option_file}",
        f"--basedir={installer.parent.parent}",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
        "--force",  # the initialiser otherwise ends where the machine's name and localhost do not resolve
        *place,
    ]


def parse_version(text: str) -> Flavour:
    """Reads what a server prints for `--version`.

    Raises:
        HostError: The text names no version of a server that Plimsoll knows.

    >>> parse_version("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64").version
    (10, 11, 19)
    """
    match = re.search(r"Ver (\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        raise HostError(f"server command: must print a version of MySQL or MariaDB, printed {text.strip()[:200]!r}")
    name = FlavourName.MARIADB if "mariadb" in text.lower() else FlavourName.MYSQL
    return Flavour(name, (int(match[1]), int(match[2]), int(match[3])))


def _find_by_name(name: str) -> ServerCommand:
    other = None
    for path in _candidates(_PROGRAMS[name]):
        flavour, text = _ask_version([path])
        if flavour.name == name:
            return ServerCommand(program=(path,), arguments=(), flavour=flavour, version_text=text)
        other = f"{path} is {flavour.name.value}"
    note = f" ({other})" if other else ""
    raise HostError(f"server {name}: not installed on this machine{note}. {_PACKAGES[name]}")


def _candidates(programs: Sequence[str]) -> list[str]:
    """Executables by these names on PATH and in the folders where distributions hide servers, without repetition."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), *_FOLDERS]
    folders += sorted(glob("/usr/local/*/bin"))  # noqa: PTH207
    paths = [shutil.which(program, path=folder) for program in programs for folder in folders if folder]
    return list(dict.fromkeys(path for path in paths if path))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise HostError(f"server command: {error} in {command!r}; close the quotation") from None


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits a command after its program. Options that choose another option file give way to ours."""
    places = [
        index
        for index, word in enumerate(words)
        if not word.startswith("-") and _SERVER_PROGRAM.fullmatch(Path(word).name)
    ]
    end = places[-1] + 1 if places else next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    ours = ("--no-defaults", "--defaults-file", "--defaults-extra-file")
    return list(words[:end]), [word for word in words[end:] if not word.startswith(ours)]


def _ask_version(program: Sequence[str]) -> tuple[Flavour, str]:
    line = shlex.join(program)
    try:
        done = subprocess.run(
            [*program, "--no-defaults", "--version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=30,
            check=False,
        )
    except FileNotFoundError:
        raise HostError(f"server command: {program[0]} does not exist; correct the path or install it") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"server command: {line} cannot be run: {error}") from None
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip()[-300:]
        raise HostError(f"server command: {line} --version failed with {done.returncode}: {output}")
    return parse_version(done.stdout), done.stdout.strip()


def _find_installer(server: Path) -> Path:
    names = ("mariadb-install-db", "mysql_install_db")
    root = Path(shutil.which(server) or server).resolve().parent.parent
    folders = (root / "bin", root / "scripts", Path("/usr/bin"), Path("/usr/local/bin"))
    for path in (folder / name for folder in folders for name in names):
        if os.access(path, os.X_OK):
            return path
    raise HostError(f"{names[0]}: not found beside {server}. {_PACKAGES['mariadb']}")


_VALIDATE_SINCE = (8, 0, 16)
"""MySQL's first version with `--validate-config`; its `--help` says nothing of options that it does not know."""

_LIMIT_S = 60.0
_ERROR = re.compile(
    r"\[ERROR\] (?:\[MY-\d+\] )?(?:\[Server\] )?(?:Buffered error: )?(?:\S*(?:mysqld|mariadbd)\S*: )?(?P<said>.+)"
)
"""What either family writes, after who says it."""


def option_faults(server: str | Sequence[str], options: Mapping[str, OptionValue]) -> tuple[str, ...]:
    """What a server says against options, one line each; nothing where it takes them or cannot be asked.

    Args:
        server: As `find_server` takes it.
        options: By their names, in the spelling of option files.

    Raises:
        SpecError, HostError: As `find_server`.
    """
    command = find_server(server)
    words = [f"--{option_word(name, value)}" for name, value in options.items()]
    if not words or not (together := _rejection(command, words)):
        return ()
    # Servers end at the first option that they do not take: each is asked about by itself.
    refusals = [refusal for word in words if (refusal := _rejection(command, [word]))] or [together]
    return tuple(f"{command.program[-1]} refuses to start: {line}; correct the option" for line in refusals)


def _rejection(command: ServerCommand, words: Sequence[str]) -> str:
    """What the program says against these arguments; empty where it takes them."""
    if (asking := _asking(command)) is None:
        return ""
    try:
        ran = subprocess.run(
            [*command.program, "--no-defaults", *command.arguments, *_as_root(), *words, *asking],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if ran.returncode == 0:
        return ""
    errors = [match["said"].rstrip(". ") for line in ran.stderr.splitlines() if (match := _ERROR.search(line))]
    return "; ".join(line for line in errors if line != "Aborting")


def _asking(command: ServerCommand) -> tuple[str, ...] | None:
    """What makes the program check its options and end; None for one that cannot."""
    if command.flavour.name is FlavourName.MARIADB:
        return ("--verbose", "--help")
    return ("--validate-config",) if command.flavour.version >= _VALIDATE_SINCE else None


def _as_root() -> tuple[str, ...]:
    return ("--user=root",) if os.geteuid() == 0 else ()
