"""What a command prints, as text."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType


def printed(shown: RenderableType, *, width: int = 80, terminal: bool = False) -> str:
    """The text on standard output.

    Args:
        shown: What is printed.
        width: Of the terminal, in columns.
        terminal: In colours, as on a terminal; otherwise as in a file.
    """
    file = io.StringIO()
    colours = "truecolor" if terminal else None
    Console(file=file, width=width, force_terminal=terminal, color_system=colours).print(shown)
    return file.getvalue()
