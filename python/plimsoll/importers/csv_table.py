"""Reads a table from a CSV file that somebody else wrote: three delimiters, bounded, all faults with their lines.

Deliberately not here: what the columns mean (`columns`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.importers.text_file import read_bounded

FILE_BYTES_MAX = 8 * 2**20
ROWS_MAX = 10_000
COLUMNS_MAX = 200
CELL_CHARACTERS_MAX = 1_000
FAULTS_SHOWN_MAX = 40


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table.

    Attributes:
        line: Where it begins in the file, counted from 1.
        cells: Text without surrounding blanks, one for each column.
    """

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table as it was written.

    Attributes:
        columns: The header, without surrounding blanks; no two are equal.
        rows: At least one; each has as many cells as there are columns.
        delimiter: What parted the cells.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    delimiter: str


def read_csv(path: Path) -> CsvTable:
    """Reads a table whose first line names its columns. Delimiter: comma, semicolon or tab, whichever parts the header.

    Raises:
        SpecError: It is no such file or no such table; all faults at once, each with its line.
    """
    lines = list(io.StringIO(_decode(path), newline=""))  # str.splitlines would part cells at U+0085 or U+2028 as well
    delimiter = _delimiter(lines)
    rows = list(_rows(path, lines, delimiter))
    if not rows:
        raise SpecError(
            f"{path}: is empty. The first line must name the columns, such as system,connections,throughput_tps."
        )
    header, *body = rows
    faults = _header_faults(path, header)
    if not body:
        faults.append(f"{path}: has no rows below its header (line {header.line}). Add at least one.")
    if len(body) > ROWS_MAX:
        faults.append(f"{path}: has {len(body)} rows, at most {ROWS_MAX} are read. Cut the file into several.")
    faults += [fault for row in body for fault in _row_faults(path, header, row)]
    raise_faults(faults)
    return CsvTable(header.cells, tuple(body), delimiter)


def raise_faults(faults: list[str]) -> None:
    """Ends the import if there are faults. A hopeless file fills no screen: past a bound they are only counted.

    Raises:
        SpecError: There is a fault.
    """
    if faults:
        more = len(faults) - FAULTS_SHOWN_MAX
        raise SpecError(*faults[:FAULTS_SHOWN_MAX], *([f"… and {more} more like these"] if more > 0 else []))


def _decode(path: Path) -> str:
    content = read_bounded(path, FILE_BYTES_MAX)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{path}: line {line}: is not UTF-8. Save the file as CSV with UTF-8 encoding.") from error


def _delimiter(lines: list[str]) -> str:
    header = next((line for line in lines if line.strip()), "")
    return max(",;\t", key=lambda delimiter: len(next(csv.reader([header], delimiter=delimiter), [])))


def _rows(path: Path, lines: list[str], delimiter: str) -> Iterator[Row]:
    """Every line that is not blank."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            stripped = tuple(cell.strip() for cell in cells)
            if any(stripped):
                yield Row(line, stripped)
            line = reader.line_num + 1
    except csv.Error as error:
        raise SpecError(f"{path}: line {line}: is no CSV: {error}. Check the quotation marks.") from error


def _header_faults(path: Path, header: Row) -> list[str]:
    where, names = f"{path}: line {header.line}", header.cells
    faults = []
    if len(names) > COLUMNS_MAX:
        return [f"{where}: names {len(names)} columns, at most {COLUMNS_MAX} are read. Remove some."]
    faults += [f"{where}: column {index + 1} has no name. Give it one." for index, name in enumerate(names) if not name]
    twice = {name for name in names if name and names.count(name) > 1}
    faults += [f"{where}: two columns are called {name!r}. Rename one." for name in sorted(twice)]
    return faults


def _row_faults(path: Path, header: Row, row: Row) -> Iterator[str]:
    if len(row.cells) != len(header.cells):
        yield (
            f"{path}: line {row.line}: has {len(row.cells)} cells, the header has {len(header.cells)}. "
            'Put cells that contain the delimiter in "quotation marks".'
        )
    for index, cell in enumerate(row.cells):
        if len(cell) > CELL_CHARACTERS_MAX:
            yield f"{path}: line {row.line}: cell {index + 1}: more than {CELL_CHARACTERS_MAX} characters. Shorten it."
