"""The library that describes charts, imported when the first one is made: answers on the terminal draw none.

It takes longer to import than most answers take to find.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["alt", "at_x"]

if TYPE_CHECKING:
    import altair as alt
else:

    class _WhenUsed:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("altair"), name)

    alt = _WhenUsed()


def at_x(place: float | str) -> alt.XValue:
    """A place across a chart, in pixels, or `width`: faster than `alt.value`, which is looked up among all channels."""
    return alt.XValue(place)  # type: ignore[no-untyped-call]
