"""How long the smallest steps of the hot path take, by Criterion in bench/micro. There is neither peer nor goal."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from bench.children import ChildError
from bench.options import Options, say
from bench.release import ROOT
from bench.rows import Row, Section

_SAMPLES = 20


def time_hot_path(options: Options) -> Section:
    """Builds and runs the micro-benchmarks.

    Raises:
        ChildError: They cannot be built or run.
    """
    say(f"hot path: {_SAMPLES} samples of each step")
    with tempfile.TemporaryDirectory() as folder:
        words = ["--manifest-path", str(ROOT / "bench/micro/Cargo.toml"), "--target-dir", str(ROOT / "target")]
        seconds = f"{max(options.seconds / 2, 0.5):g}"
        criterion = ["--sample-size", str(_SAMPLES), "--measurement-time", seconds, "--warm-up-time", "0.5", "--noplot"]
        ran = subprocess.run(
            ["cargo", "bench", "--quiet", "--locked", *words, "--bench", "hot_path", "--", *criterion],
            env={**os.environ, "CRITERION_HOME": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode != 0:
            raise ChildError(f"cargo bench: exit code {ran.returncode}: {ran.stderr[-1000:]}")
        rows = tuple(_row(path) for path in sorted(Path(folder).glob("*/new/benchmark.json")))
    return Section(title="The smallest steps of the hot path", rows=rows)


def _row(benchmark: Path) -> Row:
    """The means of samples, nanoseconds for each call."""
    name = json.loads(benchmark.read_text(encoding="utf-8"))["title"]
    sample = json.loads((benchmark.parent / "sample.json").read_text(encoding="utf-8"))
    means = [total_ns / count for total_ns, count in zip(sample["times"], sample["iters"], strict=True)]
    return Row(name=name, unit="ns", ours=means)
