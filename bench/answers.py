"""How fast Plimsoll itself answers: its help, questions about small studies, guide and comparison of large ones."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.children import run_child
from bench.ground import BASE
from bench.options import Options, say
from bench.recordings import write_study
from bench.rows import Goal, Row, Section

COMMAND = Path(sys.executable).parent / "plimsoll"
PLANNED = Path(__file__).parents[1] / "examples" / "duet.toml"
RUNS_OF_HELP = 10
RUNS_OF_ANSWERS = 5


def time_help(_: Options) -> Section:
    """Wall time of `plimsoll --help`, after one run that fills caches."""
    say("plimsoll --help")
    used = [run_child([COMMAND, "--help"]) for _ in range(RUNS_OF_HELP + 1)][1:]
    row = Row(name="plimsoll --help", unit="s", ours=[one.wall_s for one in used], goal=Goal(of="ours", limit=0.15))
    return Section(title="Start of the command", rows=(row,))


def time_answers(_: Options) -> Section:
    """Wall time of commands about studies of one system, each after one run that fills caches."""
    say("answers about small studies")
    BASE.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="answers-", dir=BASE))
    try:
        for name in ("main", "branch"):
            write_study(folder / name, 40, systems=("a",))
        asked = {
            "study plan": (0.4, ["study", "plan", PLANNED]),
            "size": (0.8, ["size", folder / "main", "--workload", "read-write", "--tps", "100"]),
            "compare": (0.8, ["compare", folder / "main", folder / "branch"]),
            "guide": (1.5, ["guide", folder / "main"]),
        }
        rows = [_answer(name, limit_s, words) for name, (limit_s, words) in asked.items()]
    finally:
        shutil.rmtree(folder)
    return Section(title="Answers about studies of 40 trials of 60 s", rows=tuple(rows))


def _answer(name: str, limit_s: float, words: list[str | Path]) -> Row:
    used = [run_child([COMMAND, *words]) for _ in range(RUNS_OF_ANSWERS + 1)][1:]
    goal = Goal(of="ours", limit=limit_s)
    note = f"{median([one.user_s for one in used]):.2f} s of it in user space"
    return Row(name=f"plimsoll {name}", unit="s", ours=[one.wall_s for one in used], goal=goal, note=note)


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
