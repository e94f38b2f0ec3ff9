"""`plimsoll ab` as a study: the sides that were given, their names, and the study file that compares them.

Pure. Deliberately not here: running the study (`plimsoll.run`), and which flavour a server's command is of.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeVar

from plimsoll.errors import SpecError
from plimsoll.spec.factors import NAME_LENGTH_MAX
from plimsoll.spec.fields import name_fault
from plimsoll.spec.new_study import TomlValue, toml_lines
from plimsoll.spec.server_options import OptionValue, server_word
from plimsoll.spec.target import parse_target

_T = TypeVar("_T")

STUDY = "ab"
"""Name of the study."""

DEFAULT = "default"
"""Name of a side in which nothing is set."""

SIDES_MAX = 6
"""Up to so many systems are compared each with each, and take turns in a round of bearable length."""

TURN_S = 0.25
_WARM_UP_S = 1.0
_MEASURED_S_MIN, _MEASURED_S_MAX = 6.0, 30.0
_MEASURED_RATIO = 1 / 120
"""A round, or a run, measures so much of the time limit: many short ones decide sooner than a few long ones."""

_STEADY_S_MIN, _STEADY_S_MAX, _STEADY_RATIO = 8.0, 30.0, 1 / 36
"""The same of the steady run of each side after its ramps."""

_FLAVOURS = ("mariadb", "mysql")
_PIECE = re.compile(r"[^/\s@?&]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the systems to compare. Either Plimsoll starts it, or `target` says where it runs.

    Attributes:
        name: What tells it from the other sides.
        options: Server options, by name.
        server: `mariadb`, `mysql` or a full command.
        target: URL of a running server; None where Plimsoll starts one.
    """

    name: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    server: str = "mariadb"
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the sides are compared under, and for how long.

    Attributes:
        workload: The keys of its `[[workload]]`.
        limit_s: All of it takes at most about so long, seconds.
        equal_within: Share within which sides count as equal.
        response_p99_s: Compares how much load the sides bear with 99 % of it answered within so long, seconds; None to
            compare throughputs.
    """

    workload: Mapping[str, TomlValue]
    connections: int
    limit_s: float
    equal_within: float
    seed: int
    response_p99_s: float | None = None


def sides_of(
    settings: Sequence[Mapping[str, OptionValue]], servers: Sequence[str], targets: Sequence[str]
) -> tuple[Side, ...]:
    """The sides that options of the command line describe: the Nth of each option belongs to side N.

    What is given once holds for all sides. A single set of options without servers is compared with a server that has
    none of them.

    Args:
        settings: Options of the server, of each `--set`.
        servers: Of each `--server`.
        targets: Of each `--target`.

    Raises:
        SpecError: They describe no two sides, or it is not clear which belongs to which; all faults at once.
    """
    if len(settings) == 1 and len(servers) < 2 and not targets:
        settings = [{}, settings[0]]
    given = {"--set": settings, "--server": servers, "--target": targets}
    count = max(len(values) for values in given.values())
    if faults := [*_faults(given, count)]:
        raise SpecError(*faults)
    settings, servers = _for_each(settings or [{}], count), _for_each(servers or ["mariadb"], count)
    names = _names(settings, servers, targets)
    urls: Sequence[str | None] = targets or [None] * count
    places = zip(names, settings, servers, urls, strict=True)
    return tuple(Side(name=name, options=options, server=server, target=url) for name, options, server, url in places)


def _faults(given: Mapping[str, Sequence[object]], count: int) -> list[str]:
    targets = [str(url) for url in given["--target"]]
    if targets:
        if given["--set"]:
            return ["--set: is for servers that Plimsoll starts; it changes no server that runs already"]
        if given["--server"]:
            return ["--server: Plimsoll starts these, and a --target runs already; compare them by a study file"]
    if count < 2:
        return [
            "nothing to compare: give --set, --server or --target twice, such as"
            " --set innodb_flush_log_at_trx_commit=1 --set innodb_flush_log_at_trx_commit=2"
        ]
    faults = [f"at most {SIDES_MAX} sides can be compared, and there are {count}"] if count > SIDES_MAX else []
    for option, values in given.items():
        if len(values) not in (0, 1, count):
            faults.append(
                f"{option}: is given {len(values)} times, for {count} sides; give it once for all of them, or once for"
                " each"
            )
    faults += [fault for url in targets if (fault := _fault_of_target(url))]
    return faults


def _fault_of_target(url: str) -> str | None:
    try:
        target = parse_target(url)
    except SpecError as error:
        return f"--{error}"
    if target.password.get_secret_value():
        return f"--target {target}: holds a password; use --password-env or --defaults-file"
    return None


def _for_each(values: Sequence[_T], count: int) -> Sequence[_T]:
    """One value for each side; none where none was given."""
    return list(values) * count if len(values) == 1 else values


def _names(
    settings: Sequence[Mapping[str, OptionValue]], servers: Sequence[str], targets: Sequence[str]
) -> tuple[str, ...]:
    """What differs between the sides, as their names; by number where that is too long.

    Raises:
        SpecError: Two sides are the same.
    """
    programs = [server_word(server.split()) or server for server in servers]
    of_servers = _different(programs) or _different(servers)
    differences = zip(*(words for words in (of_servers, _different(targets), _set(settings)) if words), strict=True)
    names = [", ".join(filter(None, parts)) or DEFAULT for parts in differences] or [DEFAULT] * len(settings)
    for index, name in enumerate(names):
        if name in names[:index]:
            raise SpecError(
                f"sides {names.index(name) + 1} and {index + 1} are the same; give each what tells it from the others"
            )
    if all(len(name) <= NAME_LENGTH_MAX and name_fault(name) is None for name in names):
        return tuple(names)
    return tuple(f"side {number}" for number in range(1, len(names) + 1))


def _set(settings: Sequence[Mapping[str, OptionValue]]) -> list[str]:
    """The settings of each side that another one lacks or has with another value."""
    shared = {name for name in settings[0] if all(options.get(name) == settings[0][name] for options in settings)}
    return [
        ", ".join(f"{name}={_shown(value)}" for name, value in options.items() if name not in shared)
        for options in settings
    ]


def _shown(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _different(texts: Sequence[str]) -> list[str]:
    """The parts of paths, commands or URLs in which they differ; nothing where they are all the same.

    >>> _different(["/opt/mariadb-11.4/bin/mariadbd", "/opt/mariadb-11.8/bin/mariadbd"])
    ['mariadb-11.4', 'mariadb-11.8']
    >>> _different(["mysql://bench@old/sbtest", "mysql://bench@new/sbtest"])
    ['old', 'new']
    """
    if len(set(texts)) < 2:
        return []
    pieces = [_PIECE.findall(text) for text in texts]
    begin = _common(pieces)
    end = _common([piece[begin:][::-1] for piece in pieces])
    middles = [piece[begin : len(piece) - end] for piece in pieces]
    return ["/".join(middle) for middle in middles] if all(middles) else list(texts)


def _common(pieces: Sequence[Sequence[str]]) -> int:
    """How many pieces are the same in all of them, from the first on."""
    alike = takewhile(lambda at: len(set(at)) == 1, zip(*pieces, strict=False))
    return sum(1 for _ in alike)


def study_text(
    sides: Sequence[Side], load: Load, login: Mapping[str, TomlValue], flavour_of: Callable[[str], str]
) -> str:
    """The study file that compares the sides.

    Servers that Plimsoll starts take turns, as in a duet. Servers that run already cannot be frozen: each is loaded in
    short runs, one server after the other, in random order within each repetition.

    Args:
        sides: At least two; the first is what the others are compared with.
        load: Under what.
        login: Keys of `[[system]]` that say how to log in to targets.
        flavour_of: `mariadb` or `mysql`, of a server's full command.
    """
    is_duet = sides[0].target is None
    study: dict[str, TomlValue] = {"name": STUDY}
    study |= _in_turns(load, len(sides), is_duet=is_duet) if load.response_p99_s is None else _by_ramps(load)
    study |= {
        "budget": f"{load.limit_s:g}s",
        "equal_within": f"{load.equal_within * 100:g}%",
        "warm_up": f"{_WARM_UP_S:g}s",
        "settle_limit": "1s",
        "reset": "per_system" if is_duet else "never",
        "seed": load.seed,
    }
    lines = ["[study]", *toml_lines(study), "", "[[workload]]", *toml_lines(load.workload)]
    for side in sides:
        place = {"server": _server(side, flavour_of)} if side.target is None else {"target": side.target, **login}
        lines += ["", "[[system]]", *toml_lines({"name": side.name, **place})]
    return "\n".join([*lines, ""])


def _in_turns(load: Load, sides_count: int, *, is_duet: bool) -> dict[str, TomlValue]:
    measured_s = min(max(load.limit_s * _MEASURED_RATIO, _MEASURED_S_MIN), _MEASURED_S_MAX)
    rounds = max(int(load.limit_s / (measured_s + sides_count * _WARM_UP_S)), 3)
    repeated: dict[str, TomlValue] = (
        {"design": "duet", "turn": f"{TURN_S * 1000:g}ms", "rounds": "auto"} if is_duet else {"repetitions": "auto"}
    )
    return {
        **repeated,
        "repetitions_limit": rounds,
        "levels": {"connections": [load.connections]},
        "duration": f"{measured_s:g}s",
    }


def _by_ramps(load: Load) -> dict[str, TomlValue]:
    assert load.response_p99_s is not None, "checked by the caller"
    steady_s = min(max(load.limit_s * _STEADY_RATIO, _STEADY_S_MIN), _STEADY_S_MAX)
    objective: dict[str, TomlValue] = {"response_p99": f"{load.response_p99_s * 1e3:g}ms"}
    return {
        "design": "duet",
        "levels": {"connections": [load.connections], "capacity": objective},
        "duration": f"{steady_s:.0f}s",
    }


def _server(side: Side, flavour_of: Callable[[str], str]) -> dict[str, TomlValue]:
    made: dict[str, TomlValue] = {"managed": flavour_of(side.server)}
    if side.server not in _FLAVOURS:
        made["command"] = shlex.split(side.server)
    return {**made, "options": dict(side.options)} if side.options else made
