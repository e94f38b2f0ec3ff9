"""What `plimsoll size` prints of an answer, with a confirmation or without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from plimsoll.analyse.grade import Grade
    from plimsoll.analyse.size_model import SizeAnswer


def show_answer(answer: SizeAnswer, required: Grade | None, *, as_json: bool) -> int:
    """Shows the answer; returns the exit code: 0 where a system fits, with the grade that is required."""
    from plimsoll.cli.fitted import show
    from plimsoll.guide.size import worded
    from plimsoll.guide.terminal import size_terminal

    if as_json:
        typer.echo(worded(answer).model_dump_json(indent=2))
    else:
        show(size_terminal(answer))
    return 0 if answer.fits and required in (None, answer.grade) else 1
