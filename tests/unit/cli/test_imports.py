"""What a command has to import before it answers: packages that take long are left to the commands that need them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DRAWING = {"altair", "jinja2", "vl_convert"}
ANALYSING = {"numpy", "polars", "scipy"}
CONNECTING = {"cryptography", "nacl", "prometheus_client", "psutil", "pymysql"}
HEAVY = DRAWING | ANALYSING | CONNECTING | {"fsspec", "pandas", "pyarrow", "ray", "sqlglot", "tomlkit"}
OWN = {"cli", "errors", "interruption", "units"}
"""Of Plimsoll itself, what help needs."""

PLANNING = {"plan", "prose", "record", "regular_file", "run", "spec", "strict_json", "wording"}
"""What a plan needs besides; packages of which it needs only some modules are below."""

TPCC = {"trial", "trial.tpcc_clauses"}
"""Of `analyse`: where a planned TPC-C-derived workload departs from the specification."""

WORDS = {"study", "study.cell_model", "study.ratio_model", "trial", "trial.condition_model", "trial.tpcc_clauses"}
"""Of `analyse`: the figures that phrases are about."""

MISSING = {"findings", "findings.doubts", "findings.finding_model", "findings.missing"}
"""Of `analyse`: trials that are missing, and doubts, as values."""

COMMAND = """
import gc, sys
from plimsoll.cli.main import main
searches = []
gc.callbacks.append(lambda phase, of: searches.append(phase) if of["generation"] == 2 else None)
try:
    main()
finally:
    assert not searches, "all objects were searched for garbage"
    with open("modules", "x") as file:
        print(*sys.modules, sep="\\n", file=file)
"""


@pytest.mark.parametrize(
    ("modules", "unwanted"),
    [
        ("plimsoll.cli.main", DRAWING | ANALYSING | {"pydantic"}),
        ("plimsoll.analyse.answers.compare, plimsoll.guide.sides, plimsoll.guide.compare", DRAWING),
        ("plimsoll.analyse.answers.trend, plimsoll.guide.sides, plimsoll.guide.trend, plimsoll.guide.junit", DRAWING),
        (
            "plimsoll.guide.build, plimsoll.analyse.answers.size, plimsoll.guide.terminal",
            DRAWING | CONNECTING | {"scipy.stats", "sqlglot"},
        ),
        ("plimsoll.cli.running", DRAWING | {"plimsoll.guide", "scipy"}),
        ("plimsoll.run.capacity_target", DRAWING | {"plimsoll.guide", "scipy"}),
        (
            "plimsoll.cli.trial, plimsoll.run.single",
            DRAWING | {"plimsoll.guide", "plimsoll.analyse.findings.runs", "scipy"},
        ),
        ("plimsoll.guide.fault_tests", DRAWING),
    ],
    ids=[
        "help",
        "compare",
        "trend",
        "guide",
        "a study that begins",
        "a search that begins",
        "a trial that begins",
        "tests of faults",
    ],
)
def test_what_takes_long_is_not_imported(modules: str, unwanted: set[str]) -> None:
    code = f"import sys, {modules}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    imported = set(done.stdout.split())
    assert set(modules.split(", ")) <= imported
    assert not unwanted & imported


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["trial", "--help"], ["study", "new"]])
def test_help_imports_the_command_line_alone(tmp_path: Path, words: list[str]) -> None:
    imported = _imported(tmp_path, *words)
    assert not imported & (HEAVY | {"rich"})
    assert _own(imported) == OWN


@pytest.mark.parametrize("study", ["duet.toml", "capacity.toml", "tpcc-study.toml", "small/hp-blades.toml"])
def test_a_plan_imports_nothing_that_measures_or_analyses(tmp_path: Path, study: str) -> None:
    imported = _imported(tmp_path, "study", "plan", str(ROOT / "examples" / study))
    assert not imported & HEAVY
    assert _own(imported) <= OWN | PLANNING | {"analyse", "servers"}
    assert _of("analyse", imported) <= TPCC | WORDS
    assert _of("servers", imported) <= {"option_file", "settle"}


def test_the_state_of_a_study_is_told_without_analysing(tmp_path: Path) -> None:
    planned = _imported(tmp_path, "study", "plan", str(ROOT / "examples" / "duet.toml"), "--json")
    assert not planned & HEAVY
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "plan.json").write_text((tmp_path / "said").read_text())
    imported = _imported(tmp_path, "study", "status", "study")
    assert "12 trials left" in (tmp_path / "said").read_text()
    assert not imported & HEAVY
    assert _own(imported) <= OWN | PLANNING | {"analyse", "servers"}
    assert _of("analyse", imported) <= WORDS | MISSING
    assert _of("servers", imported) <= {"option_file"}


def test_sizing_for_a_rate_imports_neither_the_guide_nor_what_reads_logs(tmp_path: Path) -> None:
    table = ROOT / "examples" / "published" / "vmware-esx-2009.csv"
    _imported(tmp_path, "import", "table", str(table), "--to", "study", "--workload", "oltp")
    imported = _imported(tmp_path, "size", "study", "--tps", "100")
    assert "plimsoll.guide.size_terminal" in imported
    assert not imported & (DRAWING | CONNECTING | {"fsspec", "pandas", "pyarrow", "sqlglot", "plimsoll.learn"})
    assert not imported & {"numpy.f2py", "scipy.optimize", "scipy.special"}
    assert not _of("guide", imported) & {"content", "html", "level_tables", "markdown", "terminal"}


def _imported(folder: Path, *words: str) -> set[str]:
    """The modules that a command had imported when it ended; what it said is in file `said`."""
    (folder / "modules").unlink(missing_ok=True)
    command = [sys.executable, "-c", COMMAND, *words]
    done = subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE, text=True)
    (folder / "said").write_text(done.stdout)
    return set((folder / "modules").read_text().split())


def _own(imported: set[str]) -> set[str]:
    """The packages and modules right below `plimsoll`."""
    return {module.split(".")[1] for module in imported if module.startswith("plimsoll.")}


def _of(package: str, imported: set[str]) -> set[str]:
    """The modules of one of them."""
    begin = f"plimsoll.{package}."
    return {module.removeprefix(begin) for module in imported if module.startswith(begin)}
