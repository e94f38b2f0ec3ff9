"""`plimsoll learn` as a command line: its subcommands, the options that they share, and what is refused at once."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer.main

from plimsoll.cli.learn import Reading, time_zone_offset_s
from plimsoll.cli.main import command_line
from plimsoll.errors import SpecError

READING = ["form", "time_zone", "work_dir", "keep"]
LEARN = ("learn", "--from", "slow.log", "-o", "prod")


def test_commands_that_read_logs_share_their_options() -> None:
    learn = typer.main.get_command(command_line()).commands["learn"]  # type: ignore[attr-defined]
    assert list(learn.commands) == ["digests", "report", "schema", "check"]
    for command in (learn, learn.commands["report"]):
        assert [one.name for one in command.params if one.name in READING] == READING
    assert "work_dir" in [one.name for one in learn.commands["check"].params]


def test_what_was_given_is_what_is_read() -> None:
    assert Reading(form="slow", time_zone="-05:30", work_dir=Path("work"), keep=True).of(["a.log", "-"]) == {
        "names": ["a.log", "-"],
        "form": "slow",
        "time_zone_offset_s": -19_800,
        "work_dir": Path("work"),
        "keep": True,
    }


@pytest.mark.parametrize(
    ("written", "offset_s"), [("+00:00", 0), ("+02:00", 7200), ("-0530", -19_800), ("+14:00", 50_400)]
)
def test_time_zones_are_offsets(written: str, offset_s: int) -> None:
    assert time_zone_offset_s(written) == offset_s


@pytest.mark.parametrize("written", ["", "2", "+2:00", "+15:00", "+01:60", "UTC", "Europe/Berlin"])
def test_other_time_zones_are_refused(written: str) -> None:
    with pytest.raises(SpecError, match=r"^--time-zone: must be an offset such as \+02:00 or -05:30, is '"):
        time_zone_offset_s(written)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("learn",), "--from: name the log"),
        (("learn", "--from", "slow.log"), "-o: name the folder"),
        (LEARN, "--target or --schema: give one"),
        ((*LEARN, "--schema", "a.sql", "--target", "mysql://u@h/d"), "--target or --schema: give one"),
        ((*LEARN, "--schema", "a.sql", "--scale", "0"), "--scale: must be above 0"),
        ((*LEARN, "--target", "no url", "--time-zone", "UTC"), "--time-zone: must be"),
        (("learn", "report", "slow.log", "--format", "none"), "--format: "),
        (
            ("learn", "digests", "--target", "mysql://u@h/d", "--for", "1s", "--since", "a"),
            "--for and --since: give one",
        ),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        command_line()(words, standalone_mode=False)
    assert caught.value.lines[0].startswith(message)


def test_a_subcommand_does_not_ask_for_what_learn_itself_needs() -> None:
    with pytest.raises(SpecError, match=r"nowhere\.log"):
        command_line()(("learn", "report", "nowhere.log"), standalone_mode=False)
