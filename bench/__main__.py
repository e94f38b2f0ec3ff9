"""`python -m bench`: runs the comparisons and writes what was found.

The table goes to standard output, all values to bench/last.json, and a whole run at full length to docs/benchmarks.md.
A comparison that fails keeps none of the others: it stands as failed in all three, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from bench.answers import time_answers, time_compare, time_guide, time_help, time_large_guide
from bench.apart import compare_apart
from bench.bare import KINDS, compare_bare
from bench.children import ChildError
from bench.facts import facts
from bench.ground import BASE, Ground, ground
from bench.hot_path import time_hot_path
from bench.loading import compare_load
from bench.log_reading import time_log_reading
from bench.memory import compare_memory
from bench.metrics import compare_metrics
from bench.oltp import LEVELS, compare_oltp
from bench.open_loop import measure_open_loop
from bench.options import QUICK, Options
from bench.own_statements import compare_own_statements
from bench.pages import compare_pages
from bench.progress import time_progress
from bench.ray_nodes import compare_ray
from bench.release import ROOT, use_release
from bench.report import Report
from bench.rows import Section
from bench.scripts import compare_scripts
from bench.telemetry import compare_telemetry
from bench.telemetry_cost import measure_telemetry_cost
from bench.tpcc import measure_tpcc
from plimsoll.errors import PlimsollError

ON_A_SERVER: dict[str, Callable[[Ground, Options], Section]] = {
    **{kind: partial(compare_oltp, kind) for kind in LEVELS},
    **{f"bare-{kind}": partial(compare_bare, kind) for kind in KINDS},
    "apart": compare_apart,
    "open-loop": measure_open_loop,
    "own_statements": compare_own_statements,
    "scripts": compare_scripts,
    "load": compare_load,
    "telemetry": compare_telemetry,
    "metrics": compare_metrics,
    "pages": compare_pages,
    "memory": compare_memory,
    "progress": time_progress,
}
ALONE: dict[str, Callable[[Options], Section]] = {
    "help": time_help,
    "answers": time_answers,
    "guide": time_guide,
    "large-guide": time_large_guide,
    "compare": time_compare,
    "hot-path": time_hot_path,
    "log-reading": time_log_reading,
    "telemetry-cost": measure_telemetry_cost,
    "tpcc": measure_tpcc,
    "ray": compare_ray,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what was asked for; gives the exit code."""
    parsed = _parser().parse_args(arguments)
    options = QUICK if parsed.quick else Options()
    stated = {name: getattr(parsed, name) for name in ("pairs", "seconds") if getattr(parsed, name) is not None}
    options = replace(options, **stated)
    names = parsed.only or [*ON_A_SERVER, *ALONE]
    try:
        use_release()
        report = _run(names, options)
    except (PlimsollError, ChildError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code if isinstance(error, PlimsollError) else 3
    finally:
        with contextlib.suppress(OSError):  # not there, or somebody else's bench runs in it
            BASE.rmdir()
    print(report.terminal())
    for section in report.sections:
        if section.failed:
            print(f"bench: {section.title}: {section.failed}", file=sys.stderr)
    (ROOT / "bench" / "last.json").write_text(json.dumps(report.json(), indent=1) + "\n", encoding="utf-8")
    if parsed.only or parsed.quick:
        print("docs/benchmarks.md stays as it is: only a whole run writes it", file=sys.stderr)
    else:
        (ROOT / "docs" / "benchmarks.md").write_text(report.markdown(), encoding="utf-8")
    return 0 if report.is_whole else 1


def _run(names: Sequence[str], options: Options) -> Report:
    sections, version = list[Section](), None
    on_a_server = [name for name in ON_A_SERVER if name in names]
    if on_a_server:
        try:
            with ground(options.table_size) as made:
                version = made.version
                sections += [_section(name, partial(ON_A_SERVER[name], made, options)) for name in on_a_server]
        except Exception as error:
            left = on_a_server[len(sections) :] or ["the server of the comparisons"]
            sections += [_failed(name, error) for name in left]
    sections += [_section(name, partial(compare, options)) for name, compare in ALONE.items() if name in names]
    return Report(facts=facts(options, server_version=version), sections=tuple(sections))


def _section(name: str, compare: Callable[[], Section]) -> Section:
    """What a comparison found; one that failed does not take the others with it."""
    try:
        return compare()
    except Exception as error:
        return _failed(name, error)


def _failed(name: str, error: Exception) -> Section:
    said = str(error) if isinstance(error, PlimsollError | ChildError) else f"{type(error).__name__}: {error}"
    print(f"bench: {name}: {said}", file=sys.stderr)
    return Section(title=name, failed=said)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Plimsoll's speed beside its peers, as ratios."
    )
    parser.add_argument("--pairs", type=_at_least_one, metavar="N", help="interleaved pairs of each comparison (5)")
    parser.add_argument("--seconds", type=float, metavar="S", help="length of each load (5)")
    parser.add_argument("--only", action="append", choices=[*ON_A_SERVER, *ALONE], help="only this; repeatable")
    parser.add_argument("--quick", action="store_true", help="small and short: shows that everything works")
    return parser


def _at_least_one(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
