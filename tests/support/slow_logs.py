"""Logs in the formats of servers, from statements that a made-up application ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_BEGIN_S = 1_780_000_000


@dataclass(frozen=True, slots=True)
class Ran:
    """A statement.

    Attributes:
        text: Without the semicolon.
        rows_sent: Of its result.
        took_us: Microseconds.
    """

    text: str
    rows_sent: int = 0
    took_us: int = 150


@dataclass(frozen=True, slots=True)
class Client:
    """Who ran them, from where, in which schema."""

    schema: str = "shop"
    user: str = "app"
    host: str = "localhost"


Transaction = Sequence[Ran]


def in_transaction(*statements: Ran, end: str = "COMMIT") -> list[Ran]:
    """With BEGIN before them."""
    return [Ran("BEGIN"), *statements, Ran(end)]


def _ended(transactions: Sequence[Transaction], sessions: int) -> Iterator[tuple[int, int, Ran]]:
    """Time in microseconds since 1970, session, statement: sessions in turn, a millisecond from one to the next."""
    left = [
        [each for transaction in transactions[session::sessions] for each in transaction] for session in range(sessions)
    ]
    number = 0
    while any(left):
        for session, statements in enumerate(left):
            if statements:
                number += 1
                yield _BEGIN_S * 1_000_000 + 1_000 * number, session + 8, statements.pop(0)


def mysql_slow_log(transactions: Sequence[Transaction], client: Client | None = None, *, sessions: int = 4) -> str:
    """As MySQL with `log_slow_extra` writes it."""
    by = client or Client()
    lines = ["/usr/sbin/mysqld, Version: 8.4.6 (Source). started with:", "Tcp port: 3306  Unix socket: /tmp/mysql.sock"]
    lines.append("Time                 Id Command    Argument")
    for number, (at_us, session, one) in enumerate(_ended(transactions, sessions)):
        took_us = one.took_us + number % 7
        lines += [
            f"# Time: {_moment(at_us)}",
            f"# User@Host: {by.user}[{by.user}] @ {by.host} []  Id: {session:5}",
            f"# Query_time: {took_us / 1e6:.6f}  Lock_time: 0.000001 Rows_sent: {one.rows_sent}  Rows_examined: 1"
            f" Thread_id: {session} Errno: 0 Killed: 0 Bytes_received: 0 Bytes_sent: 56"
            f"  Start: {_moment(at_us - took_us)} End: {_moment(at_us)}",
        ]
        lines += [f"use {by.schema};"] if number == 0 else []
        lines += [f"SET timestamp={at_us // 1_000_000};", f"{one.text};"]
    return "\n".join(lines) + "\n"


def mariadb_slow_log(transactions: Sequence[Transaction], client: Client | None = None, *, sessions: int = 4) -> str:
    """As MariaDB writes it: the time only where its second changed."""
    by = client or Client()
    lines = ["/usr/sbin/mariadbd, Version: 11.4.2-MariaDB (Debian). started with:"]
    lines += ["Tcp port: 3306  Unix socket: /tmp/mysql.sock", "Time\t\t    Id Command\tArgument"]
    second = 0
    for number, (at_us, session, one) in enumerate(_ended(transactions, sessions)):
        if at_us // 1_000_000 != second:
            second = at_us // 1_000_000
            lines.append(f"# Time: {datetime.fromtimestamp(second, UTC):%y%m%d %H:%M:%S}")
        lines += [
            f"# User@Host: {by.user}[{by.user}] @ {by.host} [10.0.0.1]",
            f"# Thread_id: {session}  Schema: {by.schema}  QC_hit: No",
            f"# Query_time: {(one.took_us + number % 7) / 1e6:.6f}  Lock_time: 0.000001  Rows_sent: {one.rows_sent}"
            "  Rows_examined: 1",
            "# Rows_affected: 0  Bytes_sent: 56",
        ]
        lines += [f"use `{by.schema}`;"] if number == 0 else []
        lines += [f"SET timestamp={second};", f"{one.text};"]
    return "\n".join(lines) + "\n"


def general_log(transactions: Sequence[Transaction], client: Client | None = None, *, sessions: int = 4) -> str:
    """As MySQL writes its log of all statements: no durations."""
    by = client or Client()
    lines = ["/usr/sbin/mysqld, Version: 8.4.6 (Source). started with:", "Tcp port: 3306  Unix socket: /tmp/mysql.sock"]
    lines.append("Time                 Id Command    Argument")
    begun = _moment(_BEGIN_S * 1_000_000)
    for session in range(8, 8 + sessions):
        lines.append(f"{begun}\t{session:5} Connect\t{by.user}@{by.host} on {by.schema} using Socket")
    for at_us, session, one in _ended(transactions, sessions):
        lines.append(f"{_moment(at_us)}\t{session:5} Query\t{one.text}")
    return "\n".join(lines) + "\n"


def _moment(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1e6, UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
