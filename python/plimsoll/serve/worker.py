"""Guides and comparisons for the pages, made in a process of its own with the lowest priority.

Analyses take seconds of a processor and much memory: the server goes on meanwhile, and a load that runs on this machine
hardly notices. One request comes as a line of JSON, one answer goes back, and the process ends. Deliberately not here:
what guides and comparisons say (packages `guide` and `analyse`).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from plimsoll.servers.placing import die_with_parent
from plimsoll.telemetry.sampler import yield_to_others

LIMIT_S = 600.0
"""A guide of 500 recordings takes some seconds; what takes longer than this hangs."""

_ANSWER_BYTES_MAX = 256 * 2**20
NICENESS = 19


async def ask(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Has a request worked on; the answer has `fault` where it failed, with what to do.

    Args:
        request: What `answer_to` takes.
        folder: Where it is worked on; paths of the request begin there.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "plimsoll.serve.worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        limit=_ANSWER_BYTES_MAX,
    )
    try:
        line = json.dumps({"asked_by": os.getpid(), **request}).encode() + b"\n"
        output, _ = await asyncio.wait_for(process.communicate(line), LIMIT_S)
        answer: dict[str, Any] = json.loads(output)
    except TimeoutError:
        return {"fault": f"took longer than {LIMIT_S:.0f} s"}
    except ValueError:
        return {"fault": "the process that makes pages ended early"}
    else:
        return answer
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """Does here what `ask` asks for."""
    from plimsoll.errors import PlimsollError

    try:
        match request:
            case {"do": "scripts"}:
                from plimsoll.guide.html import script_hashes

                return {"scripts": script_hashes()}
            case {"do": "guide", "folder": folder}:
                from plimsoll.guide.build import analyse_folder
                from plimsoll.guide.html import render_html

                return {"html": render_html(analyse_folder(Path(folder)))}
            case {"do": "compare", "base": base, "system": system}:
                return {"html": comparison_html(base, system)}
    except PlimsollError as error:
        return {"fault": str(error)}
    raise ValueError(f"no such request: {request.get('do')!r}")


def comparison_html(base: str, system: str) -> str:
    """The comparison of two sides as a page: what `plimsoll compare` says.

    Args:
        base: What is compared with, as `plimsoll compare` takes it.
        system: What is compared.

    Raises:
        SpecError, RecordError: As `guide.sides.read_sides`.
    """
    from plimsoll.analyse.answers.compare import compare_sides
    from plimsoll.guide.compare import compare_table, sentences, trials_words
    from plimsoll.guide.html import Page, page_html
    from plimsoll.guide.sections import Section
    from plimsoll.guide.sides import read_sides

    first, second, design = read_sides(base, system)
    answer = compare_sides(first, second, design=design)
    lead, *notes = sentences(answer)
    section = Section(
        anchor="difference", title="The difference", sentences=(lead,), tables=(compare_table(answer),), notes=()
    )
    known = Section(anchor="notes", title="What to know of it", sentences=(*notes, trials_words(answer)), tables=())
    page = Page(
        brand="Comparison",
        title=f"{system} against {base}",
        facts=(("A", base), ("B", system)),
        doubts=(),
        sections=(section, known),
    )
    return page_html(page)


def main() -> None:
    """Answers one request. It ends with whoever asked, and Ctrl-C is for that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    yield_to_others()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else prints must not be taken for an answer
    request = json.loads(sys.stdin.buffer.readline())
    die_with_parent(request.pop("asked_by"))
    answers.write(json.dumps(answer_to(request)).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
