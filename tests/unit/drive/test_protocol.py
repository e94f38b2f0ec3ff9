"""The engine protocol in Python is that of docs/engine-protocol.schema.json, which the engine itself generates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from plimsoll.drive.plans import data_line, sources, trial_line
from plimsoll.drive.protocol import MESSAGE, PROTOCOL
from plimsoll.spec.clients import Clients
from plimsoll.spec.generators import PARAMETERS
from plimsoll.spec.oltp import DATA_ONLY, KINDS, OPTIONS, SENT_AS_TEXT, WorkloadSpec
from plimsoll.spec.target import Target, Tls
from plimsoll.spec.tpcc import Mix, TpccSpec

ENGINE: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs" / "engine-protocol.schema.json").read_text())
PYTHON: dict[str, Any] = MESSAGE.json_schema()
TCP = Target(user="bench", database="sbtest", host="db", port=3307, password=SecretStr("pässword"))
SOCKET = Target(user="bench", database="sbtest", socket=Path("/run/mysqld/mysqld.sock"))
CA, CERT, KEY = Path("/c/ca.pem"), Path("/c/cert.pem"), Path("/c/key.pem")
ENCRYPTED = [
    Tls(mode="disabled"),
    Tls(mode="preferred"),
    Tls(mode="required"),
    Tls(mode="required", cert=CERT, key=KEY),
    Tls(mode="verify-ca", ca=CA),
    Tls(mode="verify-identity", ca=CA, cert=CERT, key=KEY),
]


def resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """A schema with its reference followed."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def by_type(variants: list[dict[str, Any]], root: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Messages by the value of their `type`."""
    messages = [resolved(variant, root) for variant in variants]
    return {message["properties"]["type"]["const"]: message for message in messages}


ENGINE_MESSAGES = by_type(ENGINE["$defs"]["Message"]["oneOf"], ENGINE)
PYTHON_MESSAGES = by_type(PYTHON["oneOf"], PYTHON)


def kinds(schema: dict[str, Any]) -> set[str]:
    """JSON types that a schema allows; of a choice between texts, the texts."""
    found: set[str] = set()
    for one in schema.get("oneOf", schema.get("anyOf", [schema])):
        if "const" in one or "enum" in one:
            found |= {f"={value}" for value in one.get("enum", [one.get("const")])}
        else:
            named = one.get("type", "object")
            found |= set(named) if isinstance(named, list) else {named}
    return found


def differences(python: dict[str, Any], engine: dict[str, Any], place: str) -> Iterator[str]:
    """Where the two languages do not mean the same. Python may read any text where the engine has a choice of them."""
    python, engine = resolved(python, PYTHON), resolved(engine, ENGINE)
    ours, theirs = kinds(python), kinds(engine)
    if ours != theirs and not (ours == {"string"} and all(kind.startswith("=") for kind in theirs)):
        yield f"{place}: Python reads {sorted(ours)}, the engine writes {sorted(theirs)}"
        return
    if "items" in python or "items" in engine:
        yield from differences(python.get("items", {}), engine.get("items", {}), f"{place}[]")
    if isinstance(python.get("additionalProperties"), dict) or isinstance(engine.get("additionalProperties"), dict):
        yield from differences(python["additionalProperties"], engine["additionalProperties"], f"{place}{{}}")
    fields, their_fields = python.get("properties", {}), engine.get("properties", {})
    yield from (f"{place}.{name}: only in Python" for name in fields.keys() - their_fields)
    yield from (f"{place}.{name}: only in the engine" for name in their_fields.keys() - fields)
    wanted = set(python.get("required", ())) - set(engine.get("required", ()))
    yield from (f"{place}.{name}: Python needs it, the engine may leave it out" for name in wanted)
    for name in fields.keys() & their_fields.keys():
        yield from differences(fields[name], their_fields[name], f"{place}.{name}")


def test_both_know_the_same_messages() -> None:
    assert PYTHON_MESSAGES.keys() == ENGINE_MESSAGES.keys()


@pytest.mark.parametrize("name", ENGINE_MESSAGES)
def test_message_means_the_same_in_both(name: str) -> None:
    found = list(differences(PYTHON_MESSAGES[name], ENGINE_MESSAGES[name], name))
    assert not found, "python/plimsoll/drive/protocol.py and crates/core differ:\n" + "\n".join(found)


def test_a_difference_would_be_found() -> None:
    engine = json.loads(json.dumps(ENGINE_MESSAGES["interval"]))
    engine["properties"]["load"] = engine["properties"].pop("client")
    engine["properties"]["index"] = {"type": "string"}
    engine["required"].remove("to_ns")
    found = list(differences(PYTHON_MESSAGES["interval"], engine, "interval"))
    assert len(found) == 4
    assert {line.split(":")[0].split(".")[1] for line in found} == {"load", "client", "index", "to_ns"}


def valid(line: dict[str, Any], command: str) -> None:
    """Raises if the engine would refuse the line for its shape."""
    schema = {"$ref": f"#/$defs/{command}", "$defs": ENGINE["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(line)


def described(kind: str) -> dict[str, Any]:
    """The engine's options of a workload."""
    variants = ENGINE["$defs"]["WorkloadPlan"]["oneOf"]
    return next(v["properties"] for v in variants if v["properties"]["kind"]["const"] == kind)


def test_both_know_the_same_workloads() -> None:
    variants = ENGINE["$defs"]["WorkloadPlan"]["oneOf"]
    assert {variant["properties"]["kind"]["const"] for variant in variants} == {*KINDS, "statements", "tpcc"}


@pytest.mark.parametrize("kind", KINDS)
def test_workload_options_and_defaults_are_those_of_the_engine(kind: str) -> None:
    needed = {"procedure": "mine"} if kind == "oltp_0.4_sp" else {}
    engine = {name: option for name, option in described(kind).items() if name not in ("kind", *needed)}
    ours = WorkloadSpec(name="x", kind=kind, **needed).line()  # type: ignore[arg-type]
    stated = {name: option["default"] for name, option in engine.items() if "default" in option}
    assert ours.keys() <= engine.keys() | {"kind", *needed}
    if kind not in SENT_AS_TEXT:
        assert {name: ours[name] for name in stated.keys() & ours.keys()} == {
            name: stated[name] for name in stated.keys() & ours.keys()
        }


def test_every_option_of_the_engine_can_be_written() -> None:
    engine = {name for kind in KINDS for name in described(kind)} - {"kind"}
    written = frozenset().union(*OPTIONS.values())
    assert written - DATA_ONLY == engine
    assert written | {"name", "kind"} == set(WorkloadSpec.model_fields)


@pytest.mark.parametrize("workload", [WorkloadSpec(name="x", kind="oltp_read_write"), TpccSpec()])
def test_every_option_of_the_tables_can_be_written(workload: WorkloadSpec | TpccSpec) -> None:
    sets = (resolved(one, ENGINE) for one in ENGINE["$defs"]["DataSet"]["oneOf"])
    data = next(one for one in sets if one["properties"]["kind"]["const"] == workload.data_line()["kind"])
    of_server = {"table_options": ""}  # a key of the server, which every kind of table takes
    ours = {**of_server, **data_line(workload, TCP, loaders=1)["data_set"]}
    assert ours.keys() == data["properties"].keys()
    stated = {name: option["default"] for name, option in data["properties"].items() if "default" in option}
    assert {name: ours[name] for name in stated} == stated


def test_options_of_tpcc_and_their_defaults_are_those_of_the_engine() -> None:
    engine, ours = described("tpcc"), TpccSpec().line()
    assert ours.keys() == engine.keys()
    stated = {name: option["default"] for name, option in engine.items() if "default" in option}
    assert {name: ours[name] for name in stated} == stated


def test_distributions_and_their_parameters_are_those_of_the_engine() -> None:
    kinds = [*ENGINE["$defs"]["Distribution"]["oneOf"], *ENGINE["$defs"]["RankedDistribution"]["oneOf"]]
    variants = [resolved(kind, ENGINE) for kind in kinds]
    engine = {
        variant["properties"]["kind"]["const"]: {
            name: parameter["default"] for name, parameter in variant["properties"].items() if name != "kind"
        }
        for variant in variants
    }
    assert engine == PARAMETERS


DISTRIBUTIONS = st.sampled_from(["uniform", "special-1.0", {"kind": "zipfian", "exponent": 1}, {"kind": "pareto"}])
WORKLOADS = st.one_of(
    st.builds(
        WorkloadSpec,
        name=st.just("x"),
        kind=st.sampled_from(["oltp_read_only", "oltp_read_write"]),
        tables=st.integers(1, 1000),
        table_size=st.integers(1, 10**9),
        distribution=DISTRIBUTIONS,
        point_selects=st.integers(0, 100),
        skip_transaction=st.booleans(),
        prepared=st.booleans(),
        reconnect_after=st.integers(0, 100),
        user_delay=st.sampled_from(["5ms", {"min": "1ms", "max": "2s"}]),
        isolation=st.sampled_from(["server_default", "read_committed"]),
        secondary=st.booleans(),
    ),
    st.builds(WorkloadSpec, name=st.just("x"), kind=st.sampled_from(KINDS).filter(lambda kind: kind != "oltp_0.4_sp")),
    st.just(WorkloadSpec(name="x", kind="oltp_0.4_sp", procedure="shop.buy")),
    st.builds(
        TpccSpec,
        warehouses=st.integers(1, 100_000),
        partitions=st.integers(0, 64),
        isolation=st.sampled_from(["server_default", "serializable"]),
        prepared=st.none() | st.booleans(),
        mix=st.builds(Mix, new_order=st.integers(1, 99), payment=st.integers(0, 99)),
    ),
)


CLIENTS = st.sampled_from(
    [
        {},
        {"think_time": "5s", "connect_per_s": 0.5, "all_connections": True},
        {"think_time": {"min": "0s", "max": "250ms"}, "retry": []},
        {"retry": [{"codes": [1213], "limit": 1, "pause": "5ms"}, {"codes": [1205]}]},
        {"reconnect": {"pause": "1s", "pause_max": "1m", "back_ratio": 0.5, "give_up": "1h"}},
    ]
).map(Clients.model_validate)


@given(WORKLOADS, st.integers(1, 4), st.integers(4, 5000), st.floats(0.001, 1e6), st.integers(0, 2**64 - 1), st.data())
def test_trial_lines_are_valid(
    workload: WorkloadSpec | TpccSpec,
    instances: int,
    connections: int,
    duration_s: float,
    seed: int,
    data: st.DataObject,
) -> None:
    if isinstance(workload, TpccSpec):
        workload = workload.model_copy(update={"warehouses": workload.warehouses * instances})
    elif workload.layout == "sysbench-1":
        workload = workload.model_copy(update={"tables": workload.tables * instances})
    else:
        instances = 1
    targets = {f"s/{index}": (TCP, SOCKET)[index % 2] for index in range(instances)}
    clients = data.draw(CLIENTS)
    line = trial_line(
        workload, sources(targets), connections=connections, duration_s=duration_s, seed=seed, clients=clients
    )
    valid(json.loads(json.dumps(line)), "TrialCommand")
    shares = [group["connections"] for group in line["groups"]]
    assert sum(shares) == connections
    assert max(shares) - min(shares) <= 1
    assert [group["instance"] for group in line["groups"]] == list(targets)
    key = "warehouses" if isinstance(workload, TpccSpec) else "tables"
    if key in line["groups"][0]["workload"]:
        assert sum(group["workload"][key] for group in line["groups"]) == getattr(workload, key)


@given(WORKLOADS, st.integers(1, 64), st.sampled_from(["auto", "inserts"]), st.booleans())
def test_data_lines_are_valid(workload: WorkloadSpec | TpccSpec, loaders: int, method: Any, foreign: bool) -> None:
    for target in (TCP, SOCKET, *(replace(TCP, tls=tls) for tls in ENCRYPTED)):
        line = data_line(workload, target, loaders=loaders, method=method, drop_foreign=foreign)
        valid(json.loads(json.dumps(line)), "DataCommand")


def test_an_invalid_line_would_be_found() -> None:
    line = trial_line(
        WorkloadSpec(name="x", kind="oltp_read_only"), sources({"a": TCP}), connections=1, duration_s=1, seed=1
    )
    line["groups"][0]["workload"]["no_such_option"] = 1
    with pytest.raises(jsonschema.ValidationError):
        valid(line, "TrialCommand")


def test_plans_say_the_protocol_that_is_read() -> None:
    workload = WorkloadSpec(name="x", kind="oltp_read_only")
    assert trial_line(workload, sources({"a": TCP}), connections=1, duration_s=1, seed=1)["protocol"] == PROTOCOL
    assert data_line(workload, TCP, loaders=1)["protocol"] == PROTOCOL
    text = (Path(__file__).parents[3] / "docs" / "engine-protocol.md").read_text()
    assert f"It describes protocol {PROTOCOL}." in text
