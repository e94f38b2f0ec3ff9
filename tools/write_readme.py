"""Puts the last demo's real output and picture into the README: run it after `make demo`, on a quiet machine.

docs/demo.txt keeps all of the output; the README shows its end, from the answer on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from plimsoll.guide.build import analyse_folder
from plimsoll.guide.charts import throughput_chart
from plimsoll.guide.look import PAPER, Look
from plimsoll.guide.pictures import render_png

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "demo-study"
PICTURED = "read/write"


def main() -> None:
    """Writes docs/demo.txt, docs/images/guide.png and the README's block."""
    command = [str(Path(sys.executable).parent / "plimsoll"), "guide", STUDY.name]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    text = "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"
    (ROOT / "docs" / "demo.txt").write_text(text, encoding="utf-8")
    end = text[text.index("The answer") :]
    readme = ROOT / "README.md"
    block = f"<!-- demo-output -->\n```text\n{end}```\n<!-- /demo-output -->"
    written = re.sub(r"<!-- demo-output -->.*<!-- /demo-output -->", lambda _: block, readme.read_text(), flags=re.S)
    readme.write_text(written, encoding="utf-8")
    _write_picture(ROOT / "docs" / "images" / "guide.png")


def _write_picture(path: Path) -> None:
    analysis = analyse_folder(STUDY)
    workload = next(one for one in analysis.workloads if one.name == PICTURED)
    look = Look(width_px=760, height_px=300, palette=PAPER, labelled=True, legend=True)
    chart = throughput_chart(analysis, workload, look)
    assert chart is not None, "the demo has measured throughput"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(render_png(chart, scale=1.5))


if __name__ == "__main__":
    main()
