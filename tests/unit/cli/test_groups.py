"""Options that belong together are one parameter of a command, and options of their own on a command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner
from write_docs import _OF_THE_LIBRARY, commands

from plimsoll.cli.failures import exit_code_of
from plimsoll.cli.help import with_groups
from plimsoll.cli.main import command_line, help_page
from plimsoll.cli.options import Login
from plimsoll.errors import SpecError


@dataclass(frozen=True, kw_only=True)
class Size:
    """A group."""

    width: Annotated[int, typer.Option("--width", help="How wide.")] = 1
    height: Annotated[int, typer.Option("--height", help="How high.")] = 2


def test_each_field_of_a_group_is_an_option_in_its_place() -> None:
    own = typer.Typer(add_completion=False)

    @own.command()
    @with_groups
    def show(name: str, size: Size = Size(), loud: bool = False) -> None:
        """Show it."""
        typer.echo(f"{name} {size.width} {size.height} {loud}")

    ran = CliRunner().invoke(own, ["box", "--height", "7", "--loud"])
    assert ran.output == "box 1 7 True\n"
    told = CliRunner().invoke(own, ["--help"]).output
    assert "Show it." in told
    assert told.index("--width") < told.index("--height") < told.index("--loud")


def test_options_about_encryption_are_named_when_they_make_no_sense() -> None:
    with pytest.raises(SpecError, match=r"^--ca: nothing is verified"):
        Login(ca="x").target("mysql://u@h/d")
    with pytest.raises(SpecError, match=r"^--get-server-public-key: a managed server is reached"):
        Login(get_server_public_key=True).refuse_for_managed()
    Login(password_env="PW").refuse_for_managed()


def test_a_part_of_the_command_line_answers_as_the_whole() -> None:
    told = CliRunner().invoke(command_line(), ["--help"]).output
    assert CliRunner().invoke(help_page(), ["--help"]).output == told
    names = list(get_command(command_line()).commands)  # type: ignore[attr-defined]
    assert "study" in names
    assert "trial" in names
    for name in names:
        part = command_line(only=name)
        assert list(get_command(part).commands) == [name]  # type: ignore[attr-defined]
        assert (
            CliRunner().invoke(part, [name, "--help"]).output
            == CliRunner().invoke(command_line(), [name, "--help"]).output
        )


def test_the_help_groups_commands_and_options_and_cuts_no_sentence() -> None:
    told = CliRunner().invoke(command_line(), ["--help"], env={"COLUMNS": "80"}).output
    headings = ("Measure a server:", "Study and size:", "Learn from production:", "Exchange results:")
    places = [told.index(heading) for heading in headings]
    assert places == sorted(places)
    assert places[0] < told.index("  capacity ") < places[1] < told.index("  study ") < places[2]
    assert "..." not in told.partition(headings[0])[2]
    of_capacity = CliRunner().invoke(command_line(), ["capacity", "--help"]).output
    general, _, login = of_capacity.partition("Password and encryption:")
    assert "--tls MODE" in login
    assert "--ca FILE" in login
    assert "--tls" not in general
    assert "overloads the server on purpose" in " ".join(general.split())
    assert "--tables N " in general
    assert "<" not in of_capacity.replace("<=", "")


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (("size",), "size [OPTIONS] FOLDER"),
        (("learn", "report"), "learn report [OPTIONS] LOG..."),
        (("compare",), "A B"),
    ],
)
def test_arguments_are_shown_by_their_names(words: tuple[str, ...], usage: str) -> None:
    told = CliRunner().invoke(command_line(), [*words, "--help"]).output
    assert told.partition("\n")[0].endswith(usage)
    assert "<" not in told.partition("Arguments:")[2].partition("Options:")[0]


def test_every_command_says_what_its_values_are() -> None:
    for words, command in commands(get_command(command_line())):
        for one in command.params:
            if one.param_type_name == "option" and not (one.is_flag or one.count) and one.name not in _OF_THE_LIBRARY:
                assert one.metavar, f"{words} {one.name}: give the command cls=Command"


def test_a_wrong_option_refers_to_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words, page in ((["trial", "--bogus"], "plimsoll trial"), (["study", "run", "--x"], "plimsoll study run")):
        assert exit_code_of(lambda words=words: command_line()(words, prog_name="plimsoll", standalone_mode=False)) == 2  # type: ignore[misc]
        assert f"See {page} --help" in capsys.readouterr().err


def test_tests_by_faults_have_one_target_and_do_not_ask_for_it() -> None:
    for name in ("durability", "failover"):
        (target,) = [one for one in get_command(command_line()).commands[name].params if one.name == "target"]  # type: ignore[attr-defined]
        assert (target.required, target.default) == (False, "managed")
