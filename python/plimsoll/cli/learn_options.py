"""Options that commands of `plimsoll learn` share, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from plimsoll.learn.source_model import SourceFacts

ReportFolderOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Also write report.html, report.md and report.json there."),
]
KeepNamesOption = Annotated[
    bool,
    typer.Option("--keep-names", help="Files have the names of tables and columns. Without it they have t1, c3."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="auto, slow (slow query log), general (general log), binlog (binary log), an audit log that is known"
        " (mariadb-audit, aurora, alibaba-rds, polardb, tdsql-c, huawei-rds, taurusdb), or a TOML file that says where"
        " its values stand.",
    ),
]
TimeZoneOption = Annotated[
    str,
    typer.Option(
        "--time-zone",
        metavar="OFFSET",
        help="Of a server that logs local time, as MariaDB does: +02:00 for two hours ahead of UTC.",
    ),
]
WorkDirOption = Annotated[
    Path | None,
    typer.Option(
        "--work-dir",
        metavar="FOLDER",
        help="Where the private tables are made while this runs; they take about as much space as the logs.",
    ),
]
KeepOption = Annotated[bool, typer.Option("--keep", help="Keep the private tables. They hold literals.")]
KeepGoingOption = Annotated[
    bool,
    typer.Option("--keep-going", help="Accept compressed logs that are damaged or cut: what could be read counts."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How logs are read."""

    form: FormatOption = "auto"
    time_zone: TimeZoneOption = "+00:00"
    work_dir: WorkDirOption = None
    keep: KeepOption = False
    keep_going: KeepGoingOption = False

    def of(self, logs: Sequence[str]) -> dict[str, Any]:
        """What `read_logs` takes.

        Raises:
            SpecError: The format or the time zone is none.
        """
        from plimsoll.run.log_formats import log_format

        offset_s = time_zone_offset_s(self.time_zone)
        return {
            "names": logs,
            "form": log_format(self.form),
            "time_zone_offset_s": offset_s,
            "work_dir": self.work_dir,
            "keep": self.keep,
        }

    def refuse_damage(self, sources: Sequence[SourceFacts]) -> None:
        """Ends the command where logs are damaged or cut and nobody accepted that.

        Raises:
            DamagedInputError: They are. Where was said when they were read.
        """
        from plimsoll.errors import DamagedInputError

        damaged = [one.name for one in sources if one.fault is not None]
        if damaged and not self.keep_going:
            raise DamagedInputError(
                f"{', '.join(damaged)}: damaged or cut, so figures are of a part of the load; read a sound copy, or add"
                " --keep-going to accept what could be read"
            )


USUAL_READING = Reading()


def time_zone_offset_s(time_zone: str) -> int:
    """Reads the value of `--time-zone`, seconds ahead of UTC.

    Raises:
        SpecError: It is none.
    """
    from plimsoll.errors import SpecError

    found = re.fullmatch(r"([+-])(\d{2}):?([0-5]\d)", time_zone)
    if found is None or int(found[2]) > 14:
        raise SpecError(f"--time-zone: must be an offset such as +02:00 or -05:30, is {time_zone[:20]!r}")
    seconds = int(found[2]) * 3600 + int(found[3]) * 60
    return -seconds if found[1] == "-" else seconds
