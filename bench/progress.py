"""How long commands that measure a server take until their first line of progress."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from bench.children import until_line
from bench.ground import BASE, Ground
from bench.options import Options, say
from bench.rows import Goal, Row, Section

COMMAND = Path(sys.executable).parent / "plimsoll"
CONNECTIONS = 2
RUNS = 5
PASSWORD = "PLIMSOLL_BENCH_PASSWORD"  # the name of a variable
STUDY = """\
[study]
name = "progress"
levels = {{ connections = [{connections}] }}
repetitions = 1
warm_up = "1s"
duration = "2s"

[[system]]
name = "bench"
target = "{url}"
password_env = "{password_env}"

[[workload]]
name = "point-select"
kind = "oltp_point_select"
table_size = {table_size}
"""


def time_progress(ground: Ground, _: Options) -> Section:
    """Wall time to the second line: the first says what is reached. Each comes after one run that fills caches.

    A trial's line tells of its first second, which is left out.
    """
    say("first lines of progress")
    target = ground.server.target
    url = f"mysql://{target.user}@{target.endpoint}/{target.database}"
    reach = ["--target", url, "--password-env", PASSWORD]
    reach += ["--workload", "oltp_point_select", "--table-size", str(ground.table_size)]
    folder = Path(tempfile.mkdtemp(prefix="progress-", dir=BASE))
    try:
        (folder / "study.toml").write_text(
            STUDY.format(connections=CONNECTIONS, url=url, password_env=PASSWORD, table_size=ground.table_size),
            encoding="utf-8",
        )
        rows = (
            _row("trial", ["trial", *reach, "--connections", str(CONNECTIONS), "--warm-up", "0s"], ground, told_s=1.0),
            _row("capacity", ["capacity", *reach, "--response-p99", "20ms"], ground),
            _row("study run", ["study", "run", str(folder / "study.toml"), "--to"], ground, folder=folder),
        )
    finally:
        shutil.rmtree(folder)
    return Section(title="Until the first line of progress", rows=rows)


def _row(name: str, words: list[str], ground: Ground, *, told_s: float = 0.0, folder: Path | None = None) -> Row:
    """One command.

    Args:
        name: Of the command.
        words: What follows the program.
        ground: The server.
        told_s: Length of the load that the line tells of, seconds.
        folder: Where each run gets a folder of its own, as the last word; None for commands that need none.
    """
    given = {PASSWORD: ground.server.target.password.get_secret_value()}
    times = []
    for run in range(RUNS + 1):
        last = [] if folder is None else [folder / f"run-{run}"]
        took_s, _ = until_line([COMMAND, *words, *last], 2, given)
        times.append(took_s - told_s)
    return Row(name=f"plimsoll {name}", unit="s", ours=times[1:], goal=Goal(of="ours", limit=0.4))
