"""What is generated is current."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from support.repository import ROOT


def _writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_docs", ROOT / "tools" / "write_docs.py")
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
