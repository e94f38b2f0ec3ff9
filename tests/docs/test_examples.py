"""Study files and command lines that the documentation shows are real."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from plimsoll.cli.main import command_line
from plimsoll.errors import SpecError
from plimsoll.spec.study import parse_study
from plimsoll.spec.workload_file import parse_workload
from support.command_lines import PAGES, arguments_of, command_lines, is_synopsis
from support.repository import blocks, files, prose, shown

STUDY_FILES = [path for path in files(".toml") if re.search(r"^\[study\]", path.read_text(), re.MULTILINE)]
LEARNED = "prod/workload.toml"
"""The workload file that plimsoll learn writes for readers of the documentation."""


def test_studies_in_documentation_parse() -> None:
    for block in (block for path in PAGES for block in blocks(path) if block.language == "toml"):
        try:
            tomllib.loads(block.text)
            if "[study]" in block.text:
                parse_study(block.text.replace(LEARNED, "order-queue"))
            if "[[transaction]]" in block.text:
                parse_workload(block.text)
        except (tomllib.TOMLDecodeError, SpecError) as error:
            pytest.fail(f"{block.place}: {error}")


@pytest.mark.parametrize("path", STUDY_FILES, ids=shown)
def test_study_file_parses(path: Path) -> None:
    parse_study(path.read_text(encoding="utf-8"))


def test_there_are_study_files() -> None:
    assert STUDY_FILES


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_command_lines_are_known(path: Path) -> None:
    faults = [f"{place}: {line}: {fault}" for place, line in command_lines(path) if (fault := fault_of_line(line))]
    text = prose(path)
    faults += [f"`{words}`: {fault}" for words in inline_commands(text) if (fault := fault_of_mention(words))]
    assert not faults, "\n".join(faults)


def inline_commands(text: str) -> Iterator[str]:
    yield from re.findall(r"`(plimsoll [^`\n]+)`", text)


def fault_of_line(line: str) -> str | None:
    """What is wrong with a whole command line; every plimsoll in it is looked at. A synopsis need not be complete."""
    if is_synopsis(line):
        return fault_of_mention(re.sub(r"[\[\]]|\.\.\.", " ", line))
    return next((fault for arguments in arguments_of(line) if (fault := _fault(arguments))), None)


@cache
def whole_command() -> Any:
    """`plimsoll` with all that is below it; making it takes longer than parsing a line."""
    return typer.main.get_command(command_line())


def _fault(arguments: list[str]) -> str | None:
    """What the command's own parser says."""
    command = whole_command()
    while (below := getattr(command, "commands", None)) and arguments and not arguments[0].startswith("-"):
        if arguments[0] not in below:
            return f"no command {arguments[0]!r}"
        command, arguments = below[arguments[0]], arguments[1:]
    if {"--help", "-h"} & set(arguments):
        return None
    try:
        command.make_context(command.name, list(arguments))
    except Exception as error:  # of the library's own classes, which differ from version to version
        return str(getattr(error, "message", "") or type(error).__name__)
    return None


def fault_of_mention(words: str) -> str | None:
    """What is wrong with a command named in passing: its words and options must exist, nothing need be complete."""
    command = whole_command()
    known = {"--help", "-h"} | {name for parameter in command.params for name in parameter.opts}
    for word in words.split()[1:]:
        below = getattr(command, "commands", None)
        if word.startswith("-"):
            if word.partition("=")[0] not in known:
                return f"no option {word}"
        elif below:
            if word not in below:
                return f"no command {word!r}"
            command = below[word]
            known |= {name for parameter in command.params for name in parameter.opts}
    return None


@pytest.mark.parametrize(
    ("line", "is_known"),
    [
        ("plimsoll demo", True),
        ("plimsoll size hp --tps 1200 --connections 16 | less", True),
        ("plimsoll size hp --tps 1200 --konnections 16", False),
        ("plimsoll size --tps 1200", False),
        ("plimsoll measure", False),
        ("plimsoll guide FOLDER [--to FOLDER] [--json]", True),
        ("plimsoll guide FOLDER [--too FOLDER]", False),
        ("plimsoll import table a.csv --to hp && plimsoll guide hp --nice", False),
        ("plimsoll study run study.toml  # goes on where it stopped", True),
    ],
)
def test_wrong_lines_would_be_found(line: str, is_known: bool) -> None:
    assert (fault_of_line(line) is None) == is_known


def test_wrong_mentions_would_be_found() -> None:
    assert fault_of_mention("plimsoll study run") is None
    assert fault_of_mention("plimsoll study walk")
    assert fault_of_mention("plimsoll trial --speed")
