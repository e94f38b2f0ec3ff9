"""A short study file to begin with: one question about one server, with comments on the keys that it has.

Values are written as TOML text, also for other files that Plimsoll writes; what is read from it is what was given.
Deliberately not here: the file with every key (`plimsoll study new` prints it), and which lengths fit into a time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TypeAlias

_COMMENT_COLUMN = 49


class Question(StrEnum):
    """What a new study asks."""

    THROUGHPUT = "throughput"
    CAPACITY = "capacity"
    COMPARE = "compare"


ASKS = {
    Question.THROUGHPUT: "How much load does a server sustain, and with how many connections?",
    Question.CAPACITY: "What is the highest rate at which 99 % of transactions take at most 50 ms?",
    Question.COMPARE: "Which of two settings is faster, and by how much?",
}

LENGTHS = {
    Question.THROUGHPUT: [(3, 120), (3, 60), (3, 30), (3, 20), (3, 10), (3, 5)],
    Question.CAPACITY: [(3, 60), (3, 30), (3, 15), (1, 30), (1, 15), (1, 9)],
    Question.COMPARE: [(20, 60), (20, 30), (20, 10)],
}
"""Repetitions and lengths of a measurement in seconds, the longest study first."""


_BUDGET = {
    Question.THROUGHPUT: "a plan that takes longer is refused",
    Question.CAPACITY: "a plan that takes longer is refused",
    Question.COMPARE: "it ends then, decided or not",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A key with its value, and what it means."""

    key: str
    value: TomlValue
    comment: str = ""

    def text(self) -> str:
        """As it stands in the file."""
        stated = f"{self.key} = {toml_text(self.value)}"
        return f"{stated:{_COMMENT_COLUMN}}  # {self.comment}" if self.comment else stated


def new_study(
    question: Question, server: Mapping[str, TomlValue], budget: str, *, repetitions: int, duration_s: int
) -> str:
    """The study file.

    Args:
        question: What it asks.
        server: The keys of `system.server`, or `target` alone with the URL of a server that runs already.
        budget: Longest time for all of it, such as "10m".
        repetitions: Of each measurement; for a comparison the most rounds.
        duration_s: Length of a measurement, seconds.
    """
    length = (repetitions, f"{duration_s}s", f"{duration_s // 5}s")
    study = {
        Question.THROUGHPUT: _throughput,
        Question.CAPACITY: _capacity,
        Question.COMPARE: _compare,
    }[question](*length)
    study.append(Line("settle_limit", f"{max(duration_s // 5, 2)}s", "longest wait for the server to become quiet"))
    study.append(Line("budget", budget, _BUDGET[question]))
    if "target" in server:
        study.append(Line("reset", "per_system", "tables that Plimsoll made are made again; never: they stay"))
    workload = [
        Line("name", "read/write"),
        Line("kind", "oltp_read_write", "or oltp_read_only, tpcc, …: docs/oltp.md"),
        Line("table_size", 100_000, "rows; as many as production has, if you can"),
    ]
    tables = [
        ("[study]", study),
        ("[[workload]]", workload),
        *(("[[system]]", system) for system in _systems(question, server)),
    ]
    parts = ["\n".join([heading, *(line.text() for line in lines)]) for heading, lines in tables]
    return f"# {ASKS[question]}\n" + "\n\n".join(parts) + "\n"


def _throughput(repetitions: int, duration: str, warm_up: str) -> list[Line]:
    return [
        Line("name", "throughput"),
        Line("levels", {"connections": [1, 4, 16, 64]}, "each number of connections is measured"),
        Line("warm_up", warm_up, "load before each measurement"),
        Line("duration", duration, "length of each measurement"),
        Line("repetitions", repetitions, "of each; more give narrower intervals"),
    ]


def _capacity(repetitions: int, duration: str, warm_up: str) -> list[Line]:
    return [
        Line("name", "capacity"),
        Line("levels", {"capacity": {"response_p99": "50ms"}}, "the objective that the rate must keep"),
        Line("warm_up", warm_up, "load before each measurement"),
        Line("duration", duration, "of each of twelve runs; others are shorter"),
        Line("repetitions", repetitions, "searches; with one it is unknown how they differ"),
    ]


def _compare(rounds_limit: int, duration: str, warm_up: str) -> list[Line]:
    return [
        Line("name", "comparison"),
        Line("design", "duet", "servers take turns of half a second: docs/duet.md"),
        Line("levels", {"connections": [8]}),
        Line("warm_up", warm_up, "of each round"),
        Line("duration", duration, "of each round"),
        Line("rounds", "auto", "until it is decided which is faster"),
        Line("repetitions_limit", rounds_limit, "at most so many rounds"),
    ]


def _systems(question: Question, server: Mapping[str, TomlValue]) -> list[list[Line]]:
    if "target" in server:
        password = Line("password_env", "PLIMSOLL_PASSWORD", "the variable that holds its password")
        return [[Line("name", "server"), Line("target", server["target"]), password]]
    if question is not Question.COMPARE:
        return [[Line("name", str(server["managed"])), Line("server", dict(server), "started and removed")]]
    option = "innodb_flush_log_at_trx_commit"
    return [
        [Line("name", f"flush {value}"), Line("server", {**server, "options": {option: value}}, "edit what differs")]
        for value in (1, 2)
    ]


TomlValue: TypeAlias = "str | int | float | bool | date | Sequence[TomlValue] | Mapping[str, TomlValue]"


def toml_text(value: TomlValue) -> str:
    """A value on one line.

    >>> print(toml_text({"managed": "mariadb", "options": {"open_files_limit": 4096, "log bin": "a,b"}}))
    { managed = "mariadb", options = { open_files_limit = 4_096, "log bin" = "a,b" } }
    """
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int():
            return f"{value:_}"
        case float() | date():
            return str(value)
        case Mapping():
            pairs = ", ".join(f"{_key(key)} = {toml_text(item)}" for key, item in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
    return f"[{', '.join(map(toml_text, value))}]"


def toml_lines(table: Mapping[str, TomlValue]) -> list[str]:
    """The keys of a table with their values, a line each."""
    return [f"{_key(key)} = {toml_text(value)}" for key, value in table.items()]


def toml_document(document: Mapping[str, TomlValue]) -> str:
    """A whole file: what is no table first, then each table and each table of a list below its heading."""
    lines: list[str] = []
    for name, value in document.items():
        if not _tables_of(value):
            lines += toml_lines({name: value})
    for name, value in document.items():
        heading = f"[[{_key(name)}]]" if isinstance(value, Sequence) else f"[{_key(name)}]"
        for table in _tables_of(value):
            lines += [heading, *toml_lines(table), ""]
    return "\n".join(lines)


def _tables_of(value: TomlValue) -> list[Mapping[str, TomlValue]]:
    """A table, or those of a list of nothing else; none where it is a value."""
    items = value if isinstance(value, list) else [value]
    tables = [item for item in items if isinstance(item, Mapping)]
    return tables if len(tables) == len(items) else []


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "_").replace("_", "a").isalnum()
    return key if is_bare else toml_text(key)
