"""Puts the last demo's real output and picture into the README: run it after `make demo`, on a quiet machine.

docs/demo.txt keeps what the demo prints on standard output, and so does the README.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from plimsoll.guide.build import analyse_folder
from plimsoll.guide.comparisons import duet_charts
from plimsoll.guide.figures import render_png
from plimsoll.guide.marks import PAPER, Style

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "demo-study"


def main() -> None:
    """Writes docs/demo.txt, docs/images/guide.png and the README's block."""
    command = [str(Path(sys.executable).parent / "plimsoll"), "demo", "--to", STUDY.name]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    text = "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"
    (ROOT / "docs" / "demo.txt").write_text(text, encoding="utf-8")
    readme = ROOT / "README.md"
    block = f"<!-- demo-output -->\n```text\n{text.rstrip()}\n```\n<!-- /demo-output -->"
    written = re.sub(r"<!-- demo-output -->.*<!-- /demo-output -->", lambda _: block, readme.read_text(), flags=re.S)
    readme.write_text(written, encoding="utf-8")
    _write_picture(ROOT / "docs" / "images" / "guide.png")


def _write_picture(path: Path) -> None:
    look = Style(width_px=760, height_px=300, palette=PAPER, labelled=True, legend=True)
    (_, chart), *_ = duet_charts(analyse_folder(STUDY / "duet"), look)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(render_png(chart, scale=1.5))


if __name__ == "__main__":
    main()
