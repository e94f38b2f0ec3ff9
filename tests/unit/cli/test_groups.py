"""Options that belong together are one parameter of a command, and options of their own on a command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from plimsoll.cli.groups import with_groups
from plimsoll.cli.login import Login
from plimsoll.errors import SpecError


@dataclass(frozen=True, kw_only=True)
class Size:
    """A group."""

    width: Annotated[int, typer.Option("--width", help="How wide.")] = 1
    height: Annotated[int, typer.Option("--height", help="How high.")] = 2


def test_each_field_of_a_group_is_an_option_in_its_place() -> None:
    app = typer.Typer(add_completion=False)

    @app.command()
    @with_groups
    def show(name: str, size: Size = Size(), loud: bool = False) -> None:
        """Show it."""
        typer.echo(f"{name} {size.width} {size.height} {loud}")

    ran = CliRunner().invoke(app, ["box", "--height", "7", "--loud"])
    assert ran.output == "box 1 7 True\n"
    told = CliRunner().invoke(app, ["--help"]).output
    assert "Show it." in told
    assert told.index("--width") < told.index("--height") < told.index("--loud")


def test_options_about_encryption_are_named_when_they_make_no_sense() -> None:
    with pytest.raises(SpecError, match=r"^--ca: nothing is verified"):
        Login(ca="x").target("mysql://u@h/d")
    with pytest.raises(SpecError, match=r"^--get-server-public-key: a managed server is reached"):
        Login(get_server_public_key=True).refuse_for_managed()
    Login(password_env="PW").refuse_for_managed()
