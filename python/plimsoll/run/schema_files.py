"""Schemas as files: what was read from a server, as JSON that only its owner can read, and dumps of definitions as SQL.

Deliberately not here: asking servers (`reading_schema`).
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from plimsoll.errors import SpecError
from plimsoll.learn.create_table import read_create_tables
from plimsoll.learn.schema_model import SCHEMA_FORMAT, SchemaFacts
from plimsoll.record.document import is_newer
from plimsoll.regular_file import text_regular
from plimsoll.servers.private_file import write_private
from plimsoll.units import printable

_BYTES_MAX = 64 * 2**20
_NAMED_MAX = 5


def write_schema(path: Path, schema: SchemaFacts) -> None:
    """Writes it as JSON with mode 0600: it has names, and members of ENUM.

    Raises:
        HostError: It cannot be written.
    """
    write_private(path, schema.model_dump_json(indent=1) + "\n", cure="choose another place with -o")


def read_schema_file(path: Path, schema_name: str = "") -> SchemaFacts:
    """What `write_schema` wrote, or the tables of a dump in SQL (`mysqldump --no-data`).

    Args:
        path: The file; its content tells which of the two it is.
        schema_name: Of tables in a dump that names none.

    Raises:
        SpecError: It cannot be read, is neither, or defines no table that can be understood.
    """
    try:
        text = text_regular(path, _BYTES_MAX)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is no text in UTF-8; give the output of plimsoll learn schema or mysqldump") from None
    if text.lstrip().startswith("{"):
        return _from_json(path, text)
    schema = read_create_tables(text, schema_name)
    if not schema.tables:
        failed = [printable(one.name) for one in schema.left_out]
        why = f"none of its tables can be understood ({', '.join(failed[:_NAMED_MAX])})" if failed else "has no tables"
        raise SpecError(f"{path}: {why}; give the output of plimsoll learn schema, or of mysqldump --no-data")
    return schema


def _from_json(path: Path, text: str) -> SchemaFacts:
    if is_newer(text.encode(), "schema_format", SCHEMA_FORMAT):
        raise SpecError(f"{path}: was written by a newer Plimsoll; update this one, or read the schema again")
    try:
        return SchemaFacts.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise SpecError(f"{path}: is no schema of plimsoll learn schema: {place}: {first['msg']}") from None
