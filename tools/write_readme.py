"""Puts the beginning of real output, and a picture of the demo's guide, into the README: run it on a quiet machine.

    .venv/bin/python tools/write_readme.py                    everything, for seven minutes after `make demo`
    .venv/bin/python tools/write_readme.py learn capacity     these parts

`demo` shows the last `make demo` again: docs/demo.txt gets all that it prints, docs/images/guide.png the first page of
its guide, which needs Chromium.
`answer` is the part of docs/demo.txt that the README has. `ab` and `capacity` run their commands on throwaway servers.
`learn` is a part of what `make tutorial` put into docs/learn-tutorial.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from plimsoll.cli.streams import fitted

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DEMO = ROOT / "docs" / "demo.txt"
TUTORIAL = ROOT / "docs" / "learn-tutorial.md"
STUDY = ROOT / "demo-study"
WIDTH = 100
"""Columns of the terminal for which lines are broken."""
LINES_MAX = 8
AB = "plimsoll ab --set innodb_flush_log_at_trx_commit=1 --set innodb_flush_log_at_trx_commit=2"
CAPACITY = "plimsoll capacity --target managed --response-p99 50ms"
REPORT = "plimsoll learn report slow.log"
CUT = "...\n"


def main() -> None:
    """Writes what is named, or everything."""
    for name in sys.argv[1:] or ["demo", *PARTS]:
        if name == "demo":
            _show_demo()
        else:
            text = with_part(README.read_text(encoding="utf-8"), name, PARTS[name]())
            README.write_text(text, encoding="utf-8")


def with_part(readme: str, name: str, part: str) -> str:
    """The README with this text between the markers of the part."""
    markers = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    return re.sub(markers, lambda found: f"{found[1]}{part}{found[2]}", readme, flags=re.DOTALL)


def answer_part() -> str:
    """The beginning of the answer of the demo's first study."""
    answer = paragraph(DEMO.read_text(encoding="utf-8"), "The answer")
    return _block("text", _first(re.split(r"\n(?=- )", answer.rstrip("\n"))))


def learn_part() -> str:
    """What the report in the tutorial says of the load."""
    report = TUTORIAL.read_text(encoding="utf-8").partition(f"$ {REPORT}\n")[2].partition("```")[0]
    return _block("console", CUT.join([f"$ {REPORT}\n", paragraph(report, "The load"), ""]))


def _ab_part() -> str:
    return _block("console", _beginning(AB))


def _capacity_part() -> str:
    return _block("console", _beginning(CAPACITY))


PARTS: dict[str, Callable[[], str]] = {
    "ab": _ab_part,
    "capacity": _capacity_part,
    "learn": learn_part,
    "answer": answer_part,
}
"""By the name in their markers."""


def paragraph(text: str, title: str) -> str:
    """The first paragraph with this title, a line of its own."""
    return next(part.rstrip() + "\n" for part in text.split("\n\n") if part.startswith(f"{title}\n"))


def _beginning(command: str) -> str:
    """The command and what it prints first, broken as on a terminal."""
    return f"$ {command}\n" + _first([fitted(line, WIDTH) for line in _printed(command).splitlines()])


def _first(parts: list[str]) -> str:
    """The first parts, some of them of several lines, that fit into LINES_MAX lines."""
    text, lines = "", 0
    for part in parts:
        lines += part.count("\n") + 1
        if lines > LINES_MAX:
            return text + CUT
        text += f"{part}\n"
    return text


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}```\n"


def _show_demo() -> None:
    from write_pictures import first_page

    DEMO.write_text(_printed(f"plimsoll demo --to {STUDY.name}"), encoding="utf-8")
    first_page(STUDY / "duet" / "guide.html", ROOT / "docs" / "images" / "guide.png")


def _printed(command: str) -> str:
    """What the command prints on standard output."""
    program, *arguments = command.split()
    words = [str(Path(sys.executable).parent / program), *arguments]
    printed = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


if __name__ == "__main__":
    main()
