"""Every name of a format leads to what the engine reads, and a wrong one to a message that names the cure."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from plimsoll.drive.executable import find_engine
from plimsoll.drive.plans import read_logs_line
from plimsoll.errors import SpecError
from plimsoll.run.logs import PLAIN_FORMATS, known_audit_maps, log_format
from support.repository import ROOT

MAP = "columns = 4\nsession = 1\ntime = 0\nsql = 3\n"

TIMES = {"date_time": "2026-11-23 10:00:07", "unix_us": "1795428007000000"}


def read(folder: Path, log: Path, form: str | dict[str, Any]) -> list[dict[str, Any]]:
    """Statements as the engine finds them."""
    to = folder / "tables"
    to.mkdir(mode=0o700)
    plan = folder / "plan.json"
    plan.write_text(json.dumps(read_logs_line(to, [(log, log.name)], form=form)) + "\n")
    with plan.open() as stdin:
        done = subprocess.run([find_engine(), "read-logs"], stdin=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    templates = pl.read_csv(to / "templates.csv").select("template", "text")
    return pl.read_csv(to / "events.csv").join(templates, on="template").sort("event").to_dicts()


@pytest.mark.parametrize("name", sorted(known_audit_maps()))
def test_a_record_of_each_known_log_is_read(name: str, tmp_path: Path) -> None:
    one = known_audit_maps()[name]
    values = ["-"] * one.columns
    values[one.session], values[one.time] = "42", TIMES[one.time_format]
    quote = one.quote
    escaped = {"doubled": quote * 2, "backslash": "\\" + quote}[one.escape]
    values[one.sql] = f"{quote}SELECT a, {escaped}b, c{escaped} FROM t{quote}"
    if one.query_time is not None:
        values[one.query_time] = "1500"
    if one.operation is not None:
        values[one.operation] = "QUERY"
    log = tmp_path / "audit.log"
    log.write_text(one.separator.join(values) + "\n")
    (found,) = read(tmp_path, log, log_format(name))
    assert found["start_us"] // 1_000_000 == 1795428007
    assert found["query_us"] == (None if one.query_time is None else 1500)
    assert found["text"].startswith("SELECT a, ")


def test_plain_formats_are_passed_on() -> None:
    assert [log_format(one) for one in PLAIN_FORMATS] == list(PLAIN_FORMATS)


def test_a_file_with_a_map(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text(MAP + 'schema = 2\nquote = "\\""\n')
    told = {"columns": 4, "separator": ",", "quote": '"', "escape": "doubled", "session": 1, "time": 0, "sql": 3}
    defaults = {"time_format": "date_time", "time_is_end": False, "query_unit_us": 1}
    assert log_format(str(path)) == {"audit": {**told, **defaults, "schema": 2}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (MAP + "sequel = 1\n", "ours.toml: sequel: is not a known key; did you mean"),
        (MAP + "user = 4\n", "ours.toml: user: must be below columns (4; positions count from 0), is 4"),
        (MAP + "schema = 3\n", "ours.toml: schema: is column 3, as sql is"),
        (MAP + 'separator = ""\n', "ours.toml: separator"),
        (MAP + "query_unit_us = 10\n", "ours.toml: query_unit_us"),
        ("columns = 4\nsession = 1\ntime = 0\n", "ours.toml: sql: is missing"),
        ("columns = \n", "ours.toml: is not TOML"),
    ],
)
def test_faults_of_a_map(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text(text)
    with pytest.raises(SpecError, match=re.escape(fault)):
        log_format(str(path))


def test_a_name_that_is_none() -> None:
    with pytest.raises(SpecError, match=r"must be auto, slow, general, .*mariadb-audit.*, is 'sloow'"):
        log_format("sloow")
    with pytest.raises(SpecError, match=r"none\.toml: cannot be read: No such file"):
        log_format("none.toml")


def test_keys_are_those_of_the_engine_and_known_names_are_described() -> None:
    schema = json.loads((ROOT / "docs" / "engine-protocol.schema.json").read_text())
    plan = next(found for found in _named(schema, "AuditPlan"))
    fields = type(known_audit_maps()["aurora"]).model_fields
    assert {field.alias or name for name, field in fields.items()} == set(plan["properties"])
    words = (ROOT / "docs" / "logs.md").read_text()
    assert [name for name in known_audit_maps() if f"`{name}`" not in words] == []


def _named(value: Any, name: str) -> list[Any]:
    """Everything in a schema that is called so."""
    if isinstance(value, list):
        return [found for one in value for found in _named(one, name)]
    if not isinstance(value, dict):
        return []
    return [
        *([value[name]] if name in value else []),
        *(found for one in value.values() for found in _named(one, name)),
    ]
