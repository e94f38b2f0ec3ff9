"""A study's tables as files for other tools.

Deliberately not here: what stands in the tables (`plimsoll.analyse.tidy` and its neighbours).
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from plimsoll.guide.files import write_files

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
