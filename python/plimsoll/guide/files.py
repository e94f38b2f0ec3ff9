"""Writes a guide's files: whole or not at all.

Deliberately not here: what stands in them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from plimsoll.analyse.model import Analysis
from plimsoll.errors import HostError
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown


def write_guide(analysis: Analysis, directory: Path) -> tuple[Path, Path, Path]:
    """Writes `guide.html`, `guide.md` and `guide.json`, in this order; a reader sees the old or the new file.

    Args:
        analysis: What to show.
        directory: Where; it is made when it is not there.

    Raises:
        HostError: The directory cannot be written to.
    """
    texts = (
        ("guide.html", render_html(analysis)),
        ("guide.md", render_markdown(analysis)),
        ("guide.json", analysis.model_dump_json(indent=2) + "\n"),
    )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        html, markdown, document = (_write(directory / name, text) for name, text in texts)
    except OSError as error:
        raise HostError(
            f"{directory}: the guide cannot be written: {error.strerror}; choose another folder with --to"
        ) from error
    return html, markdown, document


def _write(path: Path, text: str) -> Path:
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(partial).chmod(0o644)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return path
