"""Statements that make a server log everything, and put its settings back: for people to read and run themselves.

Plimsoll runs none of them. Sources: MySQL 8.4 Reference Manual 7.4.5 (slow query log), Percona Server 8.4 documentation
(slow query log rotation and extensions), MariaDB documentation (slow query log, extended statistics), Amazon RDS and
Aurora user guides (parameter groups, log files).
Deliberately not here: reading the logs.
"""

from __future__ import annotations

from dataclasses import dataclass

_LOG_BYTES = 600
"""Of an entry with its statement, about."""

COST = (
    f"A log of everything takes about {_LOG_BYTES} bytes for each statement: 6 MB/s at 10,000 statements per second."
    " Watch the free space.",
    "The server spends processor time on each entry. Try it for a minute, and watch response times, before you leave it"
    " on.",
    "An hour that holds the peak is enough for a mix; a day shows the demand.",
)
REVEALS = (
    "The log holds whole statements: literals such as names, addresses and tokens, and the names of accounts and"
    " hosts. Keep it as private as the database. The files of plimsoll learn hold no literal of text, and no"
    " name unless you ask for names (--keep-names).",
)
NEW_SESSIONS = "Connections that are open already keep the old threshold: let pools reconnect."


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """How one kind of server logs everything.

    Attributes:
        title: The server in full.
        note: What to know about it.
        values: Variables with the value that they need, in the order in which they are set.
        quoted: Those whose value is text.
        commands: In place of SQL, where settings are changed by another tool: to switch on, and off again.
        fetch: How to get the file.
    """

    title: str
    note: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    fetch: str = "SELECT @@global.datadir, @@global.slow_query_log_file;"

    @property
    def shown(self) -> str:
        """The statement that shows what to put back."""
        names = ", ".join(f"@@global.{name}" for name, _ in self.values)
        return f"SELECT {names};"

    @property
    def on(self) -> tuple[str, ...]:
        """Statements that switch it on."""
        return tuple(f"SET GLOBAL {name} = {value};" for name, value in self.values)

    @property
    def off(self) -> tuple[str, ...]:
        """Statements that switch it off and put back what `shown` showed."""
        return tuple(f"SET GLOBAL {name} = {_before(value)};" for name, value in reversed(self.values))


def _before(value: str) -> str:
    """What stands for the earlier value of a variable that now has this one."""
    return "'<value before>'" if value.startswith("'") else "<value before>"


_COMMON = (("log_output", "'FILE'"), ("min_examined_row_limit", "0"))
_BEGIN = (("long_query_time", "0"), ("slow_query_log", "ON"))

_PARAMETERS = (
    "ParameterName=log_output,ParameterValue=FILE,ApplyMethod=immediate",
    "ParameterName=log_slow_extra,ParameterValue=1,ApplyMethod=immediate",
    "ParameterName=min_examined_row_limit,ParameterValue=0,ApplyMethod=immediate",
    "ParameterName=long_query_time,ParameterValue=0,ApplyMethod=immediate",
    "ParameterName=slow_query_log,ParameterValue=1,ApplyMethod=immediate",
)


def _cloud(title: str, command: str, group: str, note: str) -> Capture:
    """A database of a cloud, whose parameters a group holds."""
    names = " ".join(parameter.split(",")[0] + ",ApplyMethod=immediate" for parameter in reversed(_PARAMETERS))
    on = f"aws rds modify-{command} --{group} GROUP --parameters {' '.join(_PARAMETERS)}"
    off = f"aws rds reset-{command} --{group} GROUP --parameters {names}"
    fetch = "aws rds download-db-log-file-portion --db-instance-identifier INSTANCE --starting-token 0 --output text"
    return Capture(
        title=title,
        note=(
            note,
            NEW_SESSIONS,
            "Log files are kept for a short time and rotate every hour: fetch them while they are there.",
            "The reset gives parameters the default of the engine, not a value that you set before: note these first.",
        ),
        commands=((on,), (off,)),
        fetch=f"{fetch} --log-file-name slowquery/mysql-slowquery.log > slow.log",
    )


CAPTURES: dict[str, Capture] = {
    "mysql": Capture(
        title="MySQL 8.0.14 and later",
        note=(NEW_SESSIONS,),
        values=(*_COMMON, ("log_slow_extra", "ON"), *_BEGIN),
    ),
    "percona": Capture(
        title="Percona Server 8.0 and later",
        note=("slow_query_log_use_global_control = 'all' makes the settings hold for connections that are open, too.",),
        values=(
            *_COMMON,
            ("log_slow_verbosity", "'full'"),
            ("log_slow_rate_limit", "1"),
            ("slow_query_log_use_global_control", "'all'"),
            *_BEGIN,
        ),
    ),
    "mariadb": Capture(
        title="MariaDB 10.3 and later",
        note=(NEW_SESSIONS, "MariaDB logs times in whole seconds, in the time zone of its machine (--time-zone)."),
        values=(
            *_COMMON,
            ("log_slow_verbosity", "'query_plan,innodb'"),
            ("log_slow_rate_limit", "1"),
            ("log_slow_filter", "''"),
            ("log_slow_disabled_statements", "''"),
            *_BEGIN,
        ),
    ),
    "rds": _cloud(
        "Amazon RDS for MySQL 8.0",
        "db-parameter-group",
        "db-parameter-group-name",
        "GROUP is the parameter group of the instance; the default group cannot be changed.",
    ),
    "aurora": _cloud(
        "Amazon Aurora MySQL 3",
        "db-cluster-parameter-group",
        "db-cluster-parameter-group-name",
        "GROUP is the parameter group of the cluster; the default group cannot be changed.",
    ),
}
