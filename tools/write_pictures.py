"""Writes the pictures of docs/reading-the-guide.md (`make pictures`): parts of guides that this code renders.

The guides are made of results that the repository holds, so nothing is measured and every figure stays the same. The
picture of the README is of the demo: write_readme.py. Not checked byte by byte: fonts differ from machine to machine.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images"
WIDTH_PX = 1000
MARGIN_PX = 8

PUBLISHED = ["table", "examples/published/hp-proliant-2008.csv"]
LOGS = [
    "sysbench",
    *(f"examples/sysbench/mariadb-oltp_read_write-{threads}-{run}.log" for threads in (1, 4, 16) for run in (1, 2)),
    "--pattern",
    "{system}-{workload}-{connections}-{any}.log",
]
STUDIES = {"hp": PUBLISHED, "logs": LOGS}
"""What `plimsoll import` makes each study of: a published table without repetitions, and logs with them."""


@dataclass(frozen=True)
class Picture:
    """A part of a guide.

    Attributes:
        study: The study whose guide it is, a key of STUDIES.
        part: CSS selector of the element that is shown.
    """

    study: str
    part: str


PICTURES = {
    "guide-answer.png": Picture("hp", "#answer"),
    "guide-curves.png": Picture("hp", "#workload-2"),
    "guide-intervals.png": Picture("logs", "#workload-1 figure"),
    "guide-warnings.png": Picture("logs", "#warnings"),
    "guide-figures.png": Picture("logs", "#systems"),
    "guide-limits.png": Picture("logs", "#limits"),
}
"""Each file with what is on it."""


def main() -> None:
    """Imports, writes the guides, and takes a picture of each part."""
    sys.path.append(str(ROOT / "tests"))
    from support.browser import browser

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        for study, source in STUDIES.items():
            _plimsoll("import", *source, "--to", f"{folder}/{study}")
            _plimsoll("guide", f"{folder}/{study}")
            page = opened.page(width=WIDTH_PX)
            page.send("Emulation.setScrollbarsHidden", hidden=True)  # a picture has none, so places must know none
            page.open(Path(folder) / study / "guide.html")
            for name, picture in PICTURES.items():
                if picture.study == study:
                    clip = {**page.value(_place(picture.part)), "scale": 1}
                    taken = page.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
                    (FOLDER / name).write_bytes(base64.b64decode(taken["data"]))


def _plimsoll(*words: str) -> None:
    command = [str(Path(sys.executable).parent / "plimsoll"), *words]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)


def _place(part: str) -> str:
    """An expression of the page: where the first element of a selector is."""
    return f"""(() => {{
      const box = document.querySelector("{part}").getBoundingClientRect();
      return {{x: box.x + scrollX - {MARGIN_PX}, y: box.y + scrollY - {MARGIN_PX},
               width: box.width + 2 * {MARGIN_PX}, height: box.height + 2 * {MARGIN_PX}}};
    }})()"""


if __name__ == "__main__":
    main()
