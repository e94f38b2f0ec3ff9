"""Writes files for people and other tools, whole or not at all: guides, pages, and a study's tables.

Deliberately not here: what stands in them.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from plimsoll.analyse.model import Analysis
from plimsoll.errors import HostError
from plimsoll.guide.answer import render_json
from plimsoll.guide.content import RECORDINGS
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.run.folder import GUIDE_HTML, GUIDE_JSON, GUIDE_MARKDOWN


def write_guide(analysis: Analysis, directory: Path, study: Path | None = None) -> tuple[Path, Path, Path]:
    """Writes `GUIDE_FILES`; a reader sees the old or the new file.

    Args:
        analysis: What to show.
        directory: Where; it is made when it is not there.
        study: The study's folder, to whose recordings the guide links; `directory` when None.

    Raises:
        HostError: The directory cannot be written to.
    """
    there = os.path.relpath(directory if study is None else study, directory)
    recordings = (Path(there) / RECORDINGS).as_posix()
    texts = {
        GUIDE_HTML: render_html(analysis, recordings),
        GUIDE_MARKDOWN: render_markdown(analysis, recordings),
        GUIDE_JSON: render_json(analysis),
    }
    html, markdown, document = write_texts(directory, texts, "the guide")
    return html, markdown, document


def write_texts(directory: Path, texts: Mapping[str, str], what: str, *, is_private: bool = False) -> tuple[Path, ...]:
    """The same as `write_files` for texts. They are in UTF-8; a character that it does not have becomes `?`."""
    contents = {name: text.encode(errors="replace") for name, text in texts.items()}
    return write_files(directory, contents, what, is_private=is_private)


def write_files(
    directory: Path, contents: Mapping[str, bytes], what: str, *, is_private: bool = False
) -> tuple[Path, ...]:
    """Writes files one after the other, in their order; a reader sees each old or new, and never a part.

    Args:
        directory: Where; it is made when it is not there.
        contents: By file name.
        what: All of them together, for the message.
        is_private: Only the owner can read them, and the directory where it is made.

    Raises:
        HostError: The directory cannot be written to.
    """
    try:
        directory.mkdir(mode=0o700 if is_private else 0o777, parents=True, exist_ok=True)
        mode = 0o600 if is_private else 0o644
        return tuple(_write(directory / name, content, mode) for name, content in contents.items())
    except OSError as error:
        raise HostError(f"{directory}: {what} cannot be written: {error.strerror}; choose another folder") from error


def _write(path: Path, content: bytes, mode: int) -> Path:
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(partial).chmod(mode)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return path


Format = Literal["csv", "parquet"]


def write_tables(tables: Mapping[str, pl.DataFrame], to: Path, kind: Format) -> tuple[Path, ...]:
    """Writes each table into a file of its name, in their order.

    Args:
        tables: By name.
        to: Where the files go.
        kind: The format.

    Raises:
        HostError: The files cannot be written.
    """
    contents = {f"{name}.{kind}": _bytes(table, kind) for name, table in tables.items()}
    return write_files(to, contents, "the tables")


def _bytes(table: pl.DataFrame, kind: Format) -> bytes:
    buffer = io.BytesIO()
    if kind == "csv":
        table.write_csv(buffer)
    else:
        table.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
