"""Rules of STYLE.md that a machine can check: sizes, words, and what no file may contain.

Sizes have a ratchet: what is too long today is listed, may only shrink, and leaves the list once it fits.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from support.repository import ROOT, files, shown

PYTHON_LINES_MAX, RUST_LINES_MAX, FUNCTION_LINES_MAX = 700, 400, 70
TOO_LONG: dict[str, int] = {}
TOO_LONG_FUNCTIONS = {}
PYTHON = files(".py")
RUST = files(".rs", below="crates")
TEXT = files(".py", ".rs", ".md", ".toml", ".json", ".jinja", ".css", ".js", ".csv", ".txt", "")
REGISTRIES = {"registry+https://github.com/rust-lang/crates.io-index"}


def line_count(path: Path) -> int:
    """Lines; of a Rust file only what stands before its tests."""
    text = path.read_text(encoding="utf-8")
    return len((text.split("#[cfg(test)]")[0] if path.suffix == ".rs" else text).splitlines())


def test_no_file_is_too_long() -> None:
    faults = []
    for path in [*PYTHON, *RUST]:
        count, limit = line_count(path), RUST_LINES_MAX if path.suffix == ".rs" else PYTHON_LINES_MAX
        allowed = TOO_LONG.get(shown(path))
        if count > (allowed or limit):
            faults.append(f"{shown(path)}: {count} lines, at most {allowed or limit}: split it")
        elif allowed and count <= limit:
            faults.append(f"{shown(path)}: fits now: take it off the list of long files")
    gone = [name for name in TOO_LONG if not (ROOT / name).exists()]
    assert not faults, "\n".join(faults)
    assert not gone, f"no longer there: take them off the list of long files: {gone}"


@dataclass(slots=True)
class Code:
    """What rules ask of a Python file.

    Attributes:
        docstring: Of the module.
        functions: Name and lines of each.
        imports: Each module, and the name that is taken from it, wherever in the file.
        bound_names: What the file gives names to, with their lines; attributes of objects included.
    """

    docstring: str | None
    functions: list[tuple[str, int]] = field(default_factory=list)
    imports: list[tuple[str, str | None]] = field(default_factory=list)
    bound_names: list[tuple[int, str]] = field(default_factory=list)


@cache
def code_of(path: Path) -> Code:
    """Several rules ask, and each file is parsed once."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    code = Code(ast.get_docstring(module))
    for node in ast.walk(module):
        match node:
            case ast.ImportFrom(module=str(name)):
                code.imports += [(name, alias.name) for alias in node.names]
            case ast.Import():
                code.imports += [(alias.name, None) for alias in node.names]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                code.functions.append((name, (node.end_lineno or 0) - node.lineno + 1))
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name) | ast.MatchAs(name=str(name)):
                code.bound_names.append((node.lineno, name))
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                code.bound_names.append((node.lineno, name))
    return code


def function_lengths() -> Iterator[tuple[str, int]]:
    for path in PYTHON:
        for name, count in code_of(path).functions:
            yield f"{shown(path)}: {name}", count


def test_no_function_is_too_long() -> None:
    long = {name: count for name, count in function_lengths() if count > FUNCTION_LINES_MAX}
    faults = [
        f"{name} has {count} lines, at most {TOO_LONG_FUNCTIONS.get(name, FUNCTION_LINES_MAX)}"
        for name, count in long.items()
        if count > TOO_LONG_FUNCTIONS.get(name, FUNCTION_LINES_MAX)
    ]
    faults += [f"{name} fits now: take it off the list of long functions" for name in TOO_LONG_FUNCTIONS.keys() - long]
    assert not faults, "\n".join(faults)


SINGLE_USE = {
    "a command of its own": ("cli.durability", "cli.sysbench"),
    "imported late, when the command has said its first line": ("cli.ab_study", "cli.plan_table"),
    "a program of its own, or what runs on another host": (
        "drive.ray_cluster.actor",
        "hosts.remote_functions",
        "serve.worker",
        "servers.guardian",
    ),
    "a section of the guide": ("guide.claims", "guide.scalability", "guide.setup"),
    "a format beside others": ("importers.dbt2", "importers.go_tpc", "importers.tpcc_mysql"),
    "a kind of server beside another": ("servers.replication.mariadb", "servers.replication.mysql"),
    "what samplers sample, beside others": (
        "telemetry.exporters.readers",
        "telemetry.process",
        "telemetry.replication",
    ),
    "a subject of its own that one module happens to need": ("learn.key_counters", "run.interim"),
}
"""Modules that one neighbour of their own package imports and nobody else, by why they are files of their own."""


def importers() -> dict[str, set[str]]:
    """Which modules of the package import each of its modules, wherever in the file."""
    paths = {module_of(path): path for path in PYTHON if shown(path).startswith("python/")}
    found: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for module, taken in code_of(path).imports:
            inner = f"{module}.{taken}" if taken else module
            found.get(inner if inner in found else module, set()).add(name)
    return found


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "python").with_suffix("").parts).removesuffix(".__init__")


def test_what_one_neighbour_alone_imports_is_part_of_that_neighbour() -> None:
    """Unless both together would be too long for one file."""
    lengths = {module_of(path): line_count(path) for path in PYTHON if shown(path).startswith("python/")}
    alone = {
        name
        for name, by in importers().items()
        if len(by) == 1 and (user := next(iter(by))).rpartition(".")[0] == name.rpartition(".")[0] != "plimsoll"
        if lengths[name] + lengths[user] <= PYTHON_LINES_MAX
    }
    listed = {f"plimsoll.{name}" for names in SINGLE_USE.values() for name in names}
    faults = [f"{name} is imported by one neighbour only: make it part of it" for name in sorted(alone - listed)]
    faults += [f"{name}: take it off the list of modules of single use" for name in sorted(listed - alone)]
    assert not faults, "\n".join(faults)


IN_DOCUMENTS = {"python/plimsoll/analyse/study/curve_model.py: found", "python/plimsoll/run/checkup.py: found"}
"""Fields of what is printed as JSON: names that others read."""


def test_names_say_what_they_hold() -> None:
    """These say of anything that there is one, or that somebody came by it."""
    empty = {"one", "found", "said", "told", "own"}
    faults = [
        f"{shown(path)}:{line}: {name}"
        for path in PYTHON
        if path.is_relative_to(ROOT / "python")
        for line, name in code_of(path).bound_names
        if name.removeprefix("_") in empty and f"{shown(path)}: {name}" not in IN_DOCUMENTS
    ]
    assert not faults, "name what it is:\n" + "\n".join(sorted(faults))


def test_latency_is_no_name() -> None:
    """It means response time to one and service time to the next. Where sysbench is spoken, its word is."""
    faults = [
        f"{shown(path)}: {name}"
        for path in PYTHON
        if not path.is_relative_to(ROOT / "tests")
        for _, name in code_of(path).bound_names
        if "latency" in name.lower()
    ]
    for path in RUST:
        if path.is_relative_to(ROOT / "crates" / "sysbench"):
            continue
        code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        faults += [f"{shown(path)}: {name}" for name in re.findall(r"\b(\w*latency\w*)\s*[:(]", code, re.IGNORECASE)]
    schema = json.loads((ROOT / "docs" / "engine-protocol.schema.json").read_text())
    faults += [f"engine protocol: {name}" for name in keys(schema) if "latency" in name]
    assert not faults, "say response time or service time:\n" + "\n".join(faults)


def keys(value: object) -> Iterator[str]:
    """Every key of a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="ignore")


def test_no_path_of_a_developers_machine() -> None:
    """What runs on one machine only. Examples name /mnt, /data, /srv or /opt."""
    private = re.compile(r"(?<![\w.])/(?:home|Users)/[a-z]\w*|(?<![\w./])/(?:root|work)/\w+")
    here = Path(__file__)
    faults = [f"{shown(p)}: {found[0]}" for p in TEXT if p != here and (found := private.search(read(p)))]
    assert not faults, "\n".join(faults)


def test_no_host_of_a_registry() -> None:
    """Where packages come from is said by each machine's own configuration."""
    stated = re.compile(r"(?:index-url|find-links|registry|replace-with|mirror)\s*=\s*[\"']?(?:sparse\+)?https?://\S+")
    here = Path(__file__)
    faults = [f"{shown(p)}: {found[0]}" for p in TEXT if p != here and (found := stated.search(read(p)))]
    for lock in files(".lock"):
        sources = set(re.findall(r'^source = "([^"]+)"', lock.read_text(), re.MULTILINE))
        faults += [f"{shown(lock)}: {source}" for source in sources - REGISTRIES]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("folder", ["python/plimsoll", "bench", "tools"])
def test_every_file_says_what_it_is_for(folder: str) -> None:
    silent = [shown(path) for path in files(".py", below=folder) if not code_of(path).docstring]
    assert not silent, f"without a first sentence: {', '.join(silent)}"


def test_rust_files_say_what_they_are_for() -> None:
    silent = [shown(path) for path in RUST if not read(path).startswith(("//!", "#![no_main]"))]
    assert not silent, f"without a first sentence: {', '.join(silent)}"
