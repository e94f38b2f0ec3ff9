"""What the load engine refuses in a workload is refused before by the file's own checks, in the words of the file."""

from __future__ import annotations

import tomllib

import pytest

from plimsoll.drive.engine import LocalDriver, refuse_faults
from plimsoll.drive.plans import data_line, sources, trial_line
from plimsoll.errors import SpecError
from plimsoll.spec.target import Target
from plimsoll.spec.workload_file import WorkloadFile, parse_workload
from plimsoll.spec.workloads import StatementsSpec
from support.faults import assert_refused

NOWHERE = Target(user="nobody", database="nowhere", host="localhost")
FILE = """
[[table]]
name = "people"
rows = 5
column = [{{ name = "id", generate = "sequence"{sequence} }}{column}]
index = [{index}]
[[transaction]]
name = "read"
values = {{ x = {{ {value} }} }}
[[transaction.statement]]
sql = "SELECT id FROM people WHERE id = :x"
"""
GOOD = {"sequence": "", "column": "", "index": "", "value": 'generate = "integer", from = 1, to = 5'}
MANY = ", ".join(f'{{ name = "c{number}", generate = "sequence" }}' for number in range(1000))
LONG = ", ".join(f'{{ name = "{letter * 40}", generate = "sequence" }}' for letter in "abcd")


def file_with(**parts: str) -> str:
    return FILE.format(**{**GOOD, **parts})


def refused_by_engine(text: str) -> bool:
    """The plans that the file would lead to if nothing here looked at it."""
    spec = StatementsSpec(name="x", file="x.toml", text=text)
    spec.__dict__["definition"] = WorkloadFile.model_validate(tomllib.loads(text))
    plans = (
        data_line(spec, NOWHERE, loaders=1),
        trial_line(spec, sources({"nowhere": NOWHERE}), connections=1, duration_s=1, seed=1),
    )
    for plan in plans:
        try:
            refuse_faults(LocalDriver(), plan)
        except SpecError:
            return True
    return False


FAULTY = [
    ({"index": '{ name = "primary", columns = "id" }'}, "table[0].index[0].name: must not be 'primary'"),
    ({"index": '{ name = "a", columns = "id" }, { name = "A", columns = "id" }'}, "table[0].index: the name 'a' is"),
    ({"column": f", {MANY}"}, "table[0].column: must be at most 1000, are 1001"),
    (
        {"column": f", {LONG}", "index": f'{{ columns = ["{"a" * 40}", "{"b" * 40}", "{"c" * 40}"] }}, '
         f'{{ columns = ["{"a" * 40}", "{"b" * 40}", "{"d" * 40}"] }}'},
        "table[0].index: the name",
    ),
    ({"sequence": ", start = 9223372036854775804"}, "table[0].column[0].step: leads to 9223372036854775808 with"),
    ({"sequence": ", start = -9223372036854775800, step = -3"}, "table[0].column[0].step: leads to -92233720368547758"),
    ({"column": ', { name = "t", generate = "timestamp", from = 9999-12-31T23:59:00, every = "1m" }'},
     "table[0].column[1].every: leads beyond the year 9999"),
    ({"value": 'generate = "integer", from = -2, to = 9223372036854775807'}, "transaction[0].values.x.to: makes"),
    ({"value": 'generate = "integer", from = 0, to = 4294967295, distribution = "pareto"'},
     "transaction[0].values.x.to: makes 4294967296 values to choose from, at most 4294967295 are possible; dist"),
    ({"value": 'generate = "decimal", from = 0, to = 1, places = 18, distribution = "zipfian"'},
     "transaction[0].values.x.to: makes"),
    ({"value": 'generate = "timestamp", from = 0001-01-01, to = 9999-12-31, distribution = "pareto"'},
     "transaction[0].values.x.to: makes"),
    ({"value": 'generate = "choice", values = [1, 2], weights = [1e308, 1e308]'}, "transaction[0].values.x.weights:"),
    ({"value": f'generate = "text", template = "{"x{digits:1}" * 5001}"'}, "transaction[0].values.x.template: must ha"),
    ({"value": 'sum_of = "y", add = 1'}, "transaction[0].values.x.sum_of: there is no value 'y' before it"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "fault"), FAULTY)
def test_both_refuse(parts: dict[str, str], fault: str) -> None:
    text = file_with(**parts)
    assert refused_by_engine(text)
    assert_refused(fault, parse_workload, text)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"sequence": ", start = 9223372036854775803"},
        {"value": 'generate = "integer", from = 1, to = 9223372036854775807'},
        {"value": 'generate = "integer", from = 1, to = 4294967295, distribution = "pareto"'},
        {"value": f'generate = "text", template = "{"x{digits:1}" * 5000}"'},
        {"column": ', { name = "t", generate = "timestamp", from = 9999-12-31T23:59:00, every = "14s" }'},
    ],
)
def test_both_take_what_just_fits(parts: dict[str, str]) -> None:
    text = file_with(**parts)
    parse_workload(text)
    assert not refused_by_engine(text)


@pytest.mark.parametrize(
    "parts",
    [
        {"sequence": ", start = 9223372036854775808"},
        {"sequence": ", step = -9223372036854775809"},
        {"value": 'sum_of = "y", add = 9223372036854775808'},
    ],
)
def test_numbers_beyond_64_bits_are_told_by_name(parts: dict[str, str]) -> None:
    """The engine cannot read the line then, and could not say where."""
    with pytest.raises(SpecError, match=r"must be [<>]= -?9223372036854775807|must be >= -9223372036854775808"):
        parse_workload(file_with(**parts))
