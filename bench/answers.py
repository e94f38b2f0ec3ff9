"""How fast Plimsoll itself answers: its help, the guide of a large study, and the comparison of two studies."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from bench.children import run_child
from bench.ground import BASE
from bench.options import Options, say
from bench.recordings import write_study
from bench.rows import Goal, Row, Section

COMMAND = Path(sys.executable).parent / "plimsoll"
RUNS_OF_HELP = 10


def time_help(_: Options) -> Section:
    """Wall time of `plimsoll --help`, after one run that fills caches."""
    say("plimsoll --help")
    used = [run_child([COMMAND, "--help"]) for _ in range(RUNS_OF_HELP + 1)][1:]
    row = Row(name="plimsoll --help", unit="s", ours=[one.wall_s for one in used], goal=Goal(of="ours", limit=0.3))
    return Section(title="Start of the command", rows=(row,))


def time_guide(options: Options) -> Section:
    """Wall time and memory of `plimsoll guide` on made-up recordings of 60 s each."""
    say(f"writing {options.recordings} recordings")
    BASE.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="guide-", dir=BASE))
    try:
        write_study(folder, options.recordings)
        count = max(2, options.pairs // 2)
        say(f"plimsoll guide, {count} times")
        used = [run_child([COMMAND, "guide", folder], watch_memory=True) for _ in range(count)]
    finally:
        shutil.rmtree(folder)
    wall = Row(name="wall time", unit="s", ours=[one.wall_s for one in used], goal=Goal(of="ours", limit=10.0))
    memory = Row(
        name="peak memory",
        unit="MiB",
        ours=[one.memory_bytes_max / 2**20 for one in used],
        goal=Goal(of="ours", limit=1024.0),
    )
    return Section(title=f"Guide from {options.recordings} recordings of 60 s", rows=(wall, memory))


def time_compare(options: Options) -> Section:
    """Wall time of `plimsoll compare` on two made-up studies, after one run that fills caches."""
    say(f"writing twice {options.compared} recordings")
    BASE.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="compare-", dir=BASE))
    try:
        for name in ("main", "branch"):
            write_study(folder / name, options.compared, systems=("a",))
        count = max(2, options.pairs)
        say(f"plimsoll compare, {count} times")
        command = [COMMAND, "compare", folder / "main", folder / "branch", "--json"]
        used = [run_child(command) for _ in range(count + 1)][1:]
    finally:
        shutil.rmtree(folder)
    wall = Row(name="wall time", unit="s", ours=[one.wall_s for one in used], goal=Goal(of="ours", limit=2.0))
    return Section(title=f"Comparison of two studies of {options.compared} trials of 60 s", rows=(wall,))
