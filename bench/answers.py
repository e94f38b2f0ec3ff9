"""How fast Plimsoll itself answers: its help, questions about small studies, guide and comparison of large ones."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.children import ChildError, Used, run_child, until_line
from bench.ground import BASE
from bench.options import Options, say
from bench.recordings import SHORT_S, write_copies, write_study
from bench.rows import Goal, Row, Section

COMMAND = Path(sys.executable).parent / "plimsoll"
EXAMPLES = Path(__file__).parents[1] / "examples"
PLANNED = EXAMPLES / "duet.toml"
PUBLISHED = EXAMPLES / "published" / "hp-proliant-2008.csv"
NOWHERE = "mysql://bench@127.0.0.1:1/sbtest"
REACHING = (
    "trial --target {url}",
    "capacity --target {url} --response-p99 20ms",
    "prepare --target {url}",
    "doctor --target {url}",
    "ab --target {url} --target {url}",
    "study run {folder}/nothing.toml",
)
RUNS_OF_HELP = 10
RUNS_OF_ANSWERS = 5


def time_help(_: Options) -> Section:
    """Wall time of `plimsoll --help`, after one run that fills caches."""
    say("plimsoll --help")
    return Section(title="Start of the command", rows=(_row("plimsoll --help", 0.15, _used(["--help"], RUNS_OF_HELP)),))


def time_answers(_: Options) -> Section:
    """Time to the first line of commands that reach servers, and to the end of those about studies of one system.

    Each comes after one run that fills caches.
    """
    say("answers about small studies")
    with _folder("answers-") as folder:
        for name in ("main", "branch"):
            write_study(folder / name, 40, systems=("a",))
        run_child([COMMAND, "import", "table", PUBLISHED, "--to", folder / "published"])
        planned = run_child([COMMAND, "study", "plan", PLANNED, "--json"]).output
        (folder / "planned").mkdir()
        (folder / "planned" / "plan.json").write_text(planned, encoding="utf-8")
        asked: dict[str, tuple[float, list[str | Path]]] = {
            "study plan": (0.4, ["study", "plan", PLANNED]),
            "study status": (0.4, ["study", "status", folder / "planned"]),
            "size": (0.8, ["size", folder / "main", "--workload", "read-write", "--tps", "100"]),
            "compare": (0.8, ["compare", folder / "main", folder / "branch"]),
            "guide": (1.5, ["guide", folder / "main"]),
            "guide of HP's table": (1.5, ["guide", folder / "published"]),
        }
        rows = [_first_line(words, folder) for words in REACHING]
        rows += [_answer(name, limit_s, words) for name, (limit_s, words) in asked.items()]
    return Section(title="Answers about studies of 40 trials of 60 s", rows=tuple(rows))


def _first_line(words: str, folder: Path) -> Row:
    """Until a command says what it reaches; it is ended then."""
    command: list[str | Path] = [COMMAND, *words.format(url=NOWHERE, folder=folder).split()]
    times = [_until_first_line_s(command) for _ in range(RUNS_OF_ANSWERS + 1)][1:]
    name = f"plimsoll {words.partition(' -')[0].partition(' {')[0]}, first line"
    return Row(name=name, unit="s", ours=times, goal=Goal(of="ours", limit=0.2))


def _until_first_line_s(command: Sequence[str | Path]) -> float:
    took_s, line = until_line(command, 1)
    if not line.endswith(" ...\n"):
        raise ChildError(f"{command[1]} began with {line}")
    return took_s


def _answer(name: str, limit_s: float, words: Sequence[str | Path]) -> Row:
    used = _used(words, RUNS_OF_ANSWERS)
    return _row(f"plimsoll {name}", limit_s, used, f"{median(one.user_s for one in used):.2f} s of it in user space")


def time_guide(options: Options) -> Section:
    """Wall time and memory of `plimsoll guide` on made-up recordings of 60 s each."""
    say(f"writing {options.recordings} recordings")
    with _folder("guide-") as folder:
        write_study(folder, options.recordings)
        count = max(2, options.pairs // 2)
        say(f"plimsoll guide, {count} times")
        used = [run_child([COMMAND, "guide", folder], watch_memory=True) for _ in range(count)]
    memory = Row(
        name="peak memory",
        unit="MiB",
        ours=[one.memory_bytes_max / 2**20 for one in used],
        goal=Goal(of="ours", limit=0.6e9 / 2**20),
        note="of the process that analyses; another one draws charts",
    )
    rows = (_row("wall time", 8.0, used), memory)
    return Section(title=f"Guide from {options.recordings} recordings of 60 s", rows=rows)


def time_large_guide(options: Options) -> Section:
    """Wall time and memory of `plimsoll guide` on many small recordings."""
    say(f"writing {options.many_recordings} small recordings")
    with _folder("many-") as folder:
        write_copies(folder, options.many_recordings)
        say("plimsoll guide of them, twice")
        used = [run_child([COMMAND, "guide", folder], watch_memory=True) for _ in range(2)]
    memory = Row(name="peak memory", unit="MiB", ours=[one.memory_bytes_max / 2**20 for one in used])
    title = f"Guide from {options.many_recordings} recordings of {SHORT_S} s"
    return Section(title=title, rows=(_row("wall time", 100.0, used), memory))


def time_compare(options: Options) -> Section:
    """Wall time of `plimsoll compare` on two made-up studies, after one run that fills caches."""
    say(f"writing twice {options.compared} recordings")
    with _folder("compare-") as folder:
        for name in ("main", "branch"):
            write_study(folder / name, options.compared, systems=("a",))
        count = max(2, options.pairs)
        say(f"plimsoll compare, {count} times")
        used = _used(["compare", folder / "main", folder / "branch", "--json"], count)
    title = f"Comparison of two studies of {options.compared} trials of 60 s"
    return Section(title=title, rows=(_row("wall time", 2.0, used),))


@contextmanager
def _folder(prefix: str) -> Iterator[Path]:
    """A folder for made-up studies, which is removed afterwards."""
    BASE.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=BASE))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _used(words: Sequence[str | Path], count: int) -> list[Used]:
    """What a command used each time, after one run that fills caches."""
    return [run_child([COMMAND, *words]) for _ in range(count + 1)][1:]


def _row(name: str, limit_s: float, used: Sequence[Used], note: str = "") -> Row:
    """Wall times, and how long it may take."""
    ours = [one.wall_s for one in used]
    return Row(name=name, unit="s", ours=ours, goal=Goal(of="ours", limit=limit_s), note=note)
