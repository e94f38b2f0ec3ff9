"""Writes the pictures of docs/reading-the-guide.md and docs/serve.md (`make pictures`).

Guides are made of results that the repository holds, so nothing is measured for them and every figure stays the same.
The page of a trial is of one that is measured for it, on a throwaway server. The picture of the README is of the demo:
write_readme.py. Not checked byte by byte: fonts differ from machine to machine.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.browser import Browser, Page

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images"
WIDTH_PX = 1000
FIRST_PAGE_PX = 1150
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

SERVED = "serve-trial.png"
SERVED_TRIAL = (
    *("trial", "--target", "managed", "--table-size", "100000", "--connections", "8", "--warm-up", "10s"),
    *("--duration", "60s"),
)
"""The picture of docs/serve.md: the page of a trial that is measured for it, so its figures change each time."""


def main() -> None:
    """Imports, writes the guides, and takes a picture of each part."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _browser() as opened:
        for study, source in STUDIES.items():
            _plimsoll("import", *source, "--to", f"{folder}/{study}")
            _plimsoll("guide", f"{folder}/{study}")
            page = _opened(opened, Path(folder) / study / "guide.html")
            for name, picture in PICTURES.items():
                if picture.study == study:
                    _write(page, page.value(_place(picture.part)), FOLDER / name)
        served_page(opened, Path(folder) / "served")


def served_page(opened: Browser, folder: Path) -> None:
    """Measures a trial and takes a picture of its page."""
    sys.path.append(str(ROOT / "python"))
    from plimsoll.serve.process import beside

    _plimsoll(*SERVED_TRIAL, "--record", str(folder))
    (recording,) = (folder / "recordings").iterdir()
    told: list[str] = []
    with beside(folder, told.append):
        page = opened.page(width=WIDTH_PX)
        page.send("Emulation.setScrollbarsHidden", hidden=True)
        page.visit(f"{told[0].removeprefix('page: ')}recordings/{recording.name}/")
        page.wait_for("document.documentElement.dataset.intervals !== undefined")
        _write(page, page.value(_place(".trial")), FOLDER / SERVED)


def first_page(guide: Path, picture: Path) -> None:
    """Writes what stands on the first page of a guide, as a browser shows it."""
    with _browser() as opened:
        page = _opened(opened, guide)
        _write(page, {"x": 0, "y": 0, "width": WIDTH_PX, "height": FIRST_PAGE_PX}, picture)


def _browser() -> AbstractContextManager[Browser]:
    sys.path.append(str(ROOT / "tests"))
    from support.browser import browser

    return browser()


def _opened(opened: Browser, guide: Path) -> Page:
    page = opened.page(width=WIDTH_PX)
    page.send("Emulation.setScrollbarsHidden", hidden=True)  # a picture has none, so places must know none
    page.open(guide)
    return page


def _write(page: Page, place: dict[str, float], picture: Path) -> None:
    taken = page.send("Page.captureScreenshot", format="png", clip={**place, "scale": 1}, captureBeyondViewport=True)
    picture.write_bytes(base64.b64decode(taken["data"]))


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
