"""Files that somebody else wrote, read within bounds: logs line by line, and tables from CSV with three delimiters.

Names of folders stand for the files in them and below, by name; hidden files and folders are left out, and links to
folders are not followed. Text is UTF-8; UTF-16 is recognised by its byte order mark, and gzip is unpacked. Before a
line of a log may stand what `ts`, journald, `docker logs --timestamps`, `docker compose logs` and colours put there.
All faults of a table are told with their lines. Deliberately not here: what lines mean, and columns (`columns`).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.regular_file import open_regular

FILES_MAX = 100_000


@dataclass(frozen=True, slots=True)
class LogFiles:
    """What was found.

    Attributes:
        paths: The files, in the order of the arguments, those of a folder by their names.
        named: Those that the user named: if one of them cannot be read, the user must know before anything is imported.
        faults: What is wrong with folders: one line each.
    """

    paths: tuple[Path, ...]
    named: frozenset[Path]
    faults: tuple[str, ...]


def log_files(arguments: Iterable[Path]) -> LogFiles:
    """The files that the arguments mean."""
    files: list[Path] = []
    named: set[Path] = set()
    faults: list[str] = []
    for argument in arguments:
        if not argument.is_dir():
            files.append(argument)
            named.add(argument)
            continue
        below = sorted(_below(argument, faults))
        if not 0 < len(below) <= FILES_MAX:
            faults.append(f"{argument}: holds {len(below):,} files, must be 1 to {FILES_MAX:,}. Name a folder of logs")
        else:
            files += below
    return LogFiles(tuple(dict.fromkeys(files)), frozenset(named), tuple(faults))


def _below(folder: Path, faults: list[str]) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        faults.append(f"{error.filename}: cannot be read: {error.strerror}. Check the rights")

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (path for name in names if not name.startswith(".") and (path := Path(place) / name).is_file())


_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_bounded(path: Path, bytes_max: int) -> bytes:
    """All bytes of a file, unpacked, in UTF-8 and without a byte order mark. Bytes that are no text stay as they are.

    Raises:
        SpecError: It cannot be read or unpacked, or has more than `bytes_max` bytes.
    """
    try:
        with open_regular(path) as file:
            is_packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            with gzip.GzipFile(fileobj=file) if is_packed else file as content_of:
                content = content_of.read(bytes_max + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise SpecError(f"{path}: cannot be unpacked: the gzip file is damaged. Copy or pack it again.") from None
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}. Check the path and the rights.") from error
    if len(content) > bytes_max:
        raise SpecError(f"{path}: is larger than {bytes_max // 2**20} MiB. Cut the file into several.")
    if content.startswith(_UTF_16):
        return content.decode("utf-16", errors="replace").encode()
    return content.removeprefix(codecs.BOM_UTF8)


LOG_BYTES_MAX = 32 * 2**20
LINE_CHARACTERS_MAX = 2_000
_SHOWN_CHARACTERS_MAX = 80
_KEPT = 1_000


class UnreadLines:
    """What could not be read in one log.

    Attributes:
        lines: One line each, with its place; the first thousand.
        count: How many there are.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.lines: list[str] = []
        self.count = 0

    def skip(self, number: int, what: str, text: str) -> None:
        """Adds a line of the log, counted from 1."""
        shown = text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}…"
        self.count += 1
        if len(self.lines) < _KEPT:
            self.lines.append(f"{self._name}: line {number}: {what}: {shown!r}")


def lines_of(
    path: Path, unread: UnreadLines, characters_max: int = LINE_CHARACTERS_MAX
) -> Iterator[tuple[int, bytes, str]]:
    """Number, bytes and text of each line, without blanks around it and without what others put before it.

    A line that is too long is told, and its text is empty.

    Raises:
        SpecError: The file cannot be read, or is too large.
    """
    for number, line in enumerate(read_bounded(path, LOG_BYTES_MAX).split(b"\n"), start=1):
        text = without_prefix(line[: characters_max + 1].decode("utf-8", errors="replace").strip())
        if len(line) > characters_max:
            unread.skip(number, f"is longer than {characters_max} characters", text)
            text = ""
        yield number, line, text


_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_DATE = rf"\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}{_ZONE}"
_JOURNAL = rf"[A-Z][a-z]{{2}} [ \d]\d {_CLOCK}(?: [\w.-]{{1,64}} [\w./-]{{1,64}}(?:\[\d{{1,9}}\])?:)?"
_PREFIX = re.compile(
    rf"(?:\[(?:{_DATE}|{_CLOCK})\]|{_DATE}|{_JOURNAL}|{_CLOCK}):?\s+|[\d._-]*[A-Za-z][\w.-]{{0,99}}\s*\|(?:\s+|$)",
    re.ASCII,
)
_PREFIXES_MAX = 3


def without_prefix(text: str) -> str:
    """The line without what stands before it.

    >>> without_prefix("sysbench-1  | 2026-01-31T12:00:00.000000001Z [ 10s ] thds: 4")
    '[ 10s ] thds: 4'
    """
    text = _COLOUR.sub("", text) if "\x1b" in text else text
    for _ in range(_PREFIXES_MAX):
        if (prefix := _PREFIX.match(text)) is None:
            break
        text = text[prefix.end() :]
    return text.strip()


CSV_BYTES_MAX = 8 * 2**20
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
    content = read_bounded(path, CSV_BYTES_MAX)
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
