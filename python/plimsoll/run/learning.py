"""Learns a load from logs and the tables of a server, and writes it as files that may be shared.

Deliberately not here: what is concluded (`plimsoll.learn`), and pages (`plimsoll.guide`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from plimsoll.errors import SpecError
from plimsoll.learn.learned_load import LearnedLoad
from plimsoll.learn.schema_model import SchemaFacts
from plimsoll.learn.workload_text import period_of, with_learned
from plimsoll.run.schema import read_schema, read_schema_file
from plimsoll.servers.control import connect
from plimsoll.spec.target import Target


def schema_of(
    tables: Collection[tuple[str, str]],
    *,
    target: Target | None,
    file: Path | None,
    progress: Callable[[str], None] = lambda _: None,
) -> SchemaFacts:
    """The tables of a log, from a server or from a file.

    Args:
        tables: Schema and name of each; the schema is empty where the log does not say.
        target: The server; its database stands for an empty schema.
        file: What `plimsoll learn schema` wrote, or a dump without data.
        progress: Is told the name of each table before the server is asked for it.

    Raises:
        SpecError: The file is no schema.
        TargetError: The server cannot be asked.
    """
    if file is not None:
        return read_schema_file(file)
    assert target is not None, "one of both is given"
    named = {(schema or target.database, name) for schema, name in tables}
    with connect(target) as control:
        return read_schema(control, named, progress=progress)


def files_of(learned: LearnedLoad) -> dict[str, str]:
    """Names and texts of the files of a learned load; the report has its own.

    Raises:
        SpecError: No transaction of the log can be run.
    """
    if learned.workload is None:
        raise SpecError("no transaction of the log can be run: its statements name no table that is known")
    demand = "" if learned.demand is None else learned.demand.model_dump_json(indent=1) + "\n"
    texts = {
        "workload.toml": with_learned(learned.workload, period_of(learned.profile, learned.report, learned.demand)),
        "profile.json": learned.profile.model_dump_json(indent=1) + "\n",
        "schema.sql": learned.schema,
        "demand.json": demand,
    }
    return {name: text for name, text in texts.items() if text}
