"""What is generated is current."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from support.repository import ROOT


def _writer(name: str = "write_docs") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", _writer().GENERATED)
def test_generated_file_is_current(name: str) -> None:
    path = ROOT / name
    current = path.exists() and path.read_text(encoding="utf-8") == _writer().GENERATED[name]()
    assert current, f"{name} is out of date: make docs"


@pytest.mark.parametrize("name", ["answer", "learn"])
def test_readme_has_the_output_that_the_documentation_has(name: str) -> None:
    writer = _writer("write_readme")
    readme = writer.README.read_text(encoding="utf-8")
    assert writer.with_part(readme, name, writer.PARTS[name]()) == readme, f"run tools/write_readme.py {name}"
    assert f"<!-- {name} -->" in readme


def test_every_command_and_option_is_described() -> None:
    writer = _writer()
    root = writer.typer.main.get_command(writer.command_line())
    faults = []
    for words, command in writer.commands(root):
        if not command.help:
            faults.append(f"{words} says nothing about itself")
        if not getattr(command, "commands", None) and "Example" not in command.help:
            faults.append(f"{words} has no example")
        faults += [f"{words} {'/'.join(p.opts)} has no help" for p in command.params if not p.help]
    assert not faults, "\n".join(faults)
