"""What the engine gets of workload files is what its schema takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import SecretStr

from plimsoll.drive.plans import data_line, sources, trial_line
from plimsoll.spec.target import Target
from plimsoll.spec.workloads import StatementsSpec, reader, shipped

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs" / "engine-protocol.schema.json").read_text())
TARGET = Target(user="u", database="d", host="h", port=1, password=SecretStr("p"))

EVERYTHING = """
[[table]]
name = "t"
rows = 10
[[table.column]]
name = "id"
generate = "sequence"
auto_increment = true
[[table.column]]
name = "a"
generate = "decimal"
from = 1
to = 2
null_ratio = 0.5
[[table.column]]
name = "b"
generate = "hex"
length = [2, 4]
[[table.column]]
name = "c"
generate = "text"
template = "{row}{digits:3}{integer:1-9}"
[[table.column]]
name = "d"
generate = "timestamp"
from = 2026-01-01
every = "1s"
[[table.column]]
name = "e"
generate = "choice"
values = ["x"]
weights = [2]
[[table.column]]
name = "f"
generate = "null"
type = "INT"
[[table.index]]
columns = "a"
[[table]]
name = "u"
rows = 10
primary_key = ["x", "y"]
column = [
  { name = "x", generate = "sequence", each = 5, nullable = false },
  { name = "y", generate = "sequence", cycle = 5 },
  { name = "z", generate = "reference", table = "t", nullable = true },
  { name = "w", generate = "letters", length = 50, type = "TEXT" },
]
index = [{ columns = ["w", "x"], lengths = [9, 0] }]
foreign_key = [{ columns = "z", table = "t", on_delete = "set_null" }]
[[table]]
name = "v"
rows = 10
primary_key = []
column = [{ name = "x", generate = "reference", table = "u", column = "x" }]
[[transaction]]
name = "all"
begin = true
isolation = "serializable"
think_time = "1ms"
values.k = { generate = "reference", table = "t", distribution = { kind = "zipfian", exponent = 0.5 } }
values.l = { sum_of = "k", add = -1 }
[[transaction.statement]]
sql = "SELECT a FROM t WHERE id IN (:k, :l, :t)"
values.t = { generate = "timestamp", from = 2026-01-01, to = 2026-01-02, distribution = "gaussian" }
keep = { a = "a" }
keep_insert_id = "i"
no_row = "fail"
repeat = [0, 2]
[[transaction.statement]]
sql = "DO :a, :i"
[[transaction]]
name = "items"
loops.each = { items_of = "ids" }
values.ids = { list = [1, 3], sorted = true, distinct = true, generate = "reference", table = "t" }
values.names = { list = { items_of = "ids" }, generate = "letters", length = 3 }
[[transaction.statement]]
sql = "SELECT a FROM t WHERE id = :id"
loop = "each"
repeat = { items_of = "names" }
values.id = { item_of = "ids" }
[[transaction.statement]]
sql = "INSERT INTO v VALUES (:n, :r)"
rows = { items_of = "ids" }
values.n = { item_of = "names" }
values.r = { row_number = true }
"""


def valid(line: dict[str, Any], command: str) -> None:
    schema = {"$ref": f"#/$defs/{command}", "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(line)))


def workloads() -> dict[str, StatementsSpec]:
    texts = {name: reader(Path())(name) for name in shipped()} | {"everything": EVERYTHING}
    return {name: StatementsSpec(name=name, file=name, text=text) for name, text in texts.items()}


@pytest.mark.parametrize("name", workloads())
def test_lines_of_workload_files_are_valid(name: str) -> None:
    one = workloads()[name]
    valid(trial_line(one, sources({"a": TARGET}), connections=2, duration_s=1, seed=1), "TrialCommand")
    valid(data_line(one, TARGET, loaders=1), "DataCommand")


def test_an_invalid_line_would_be_found() -> None:
    line = trial_line(workloads()["everything"], sources({"a": TARGET}), connections=2, duration_s=1, seed=1)
    line["groups"][0]["workload"]["transactions"][0]["weight"] = "much"
    with pytest.raises(jsonschema.ValidationError):
        valid(line, "TrialCommand")
