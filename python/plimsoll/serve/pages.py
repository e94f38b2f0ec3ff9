"""Templates and files of the pages. Whatever comes from a folder is escaped by the template engine."""

from __future__ import annotations

import time
from functools import cache
from importlib import resources
from typing import Any

import jinja2

from plimsoll import __version__
from plimsoll.units import format_duration, format_ms, format_number

_LONG_AGO_S = 36 * 3600


@cache
def resource(name: str) -> str:
    """A file that pages need; the guide's style is that of all."""
    if name == "guide.css":
        return resources.files("plimsoll.guide").joinpath("templates", name).read_text(encoding="utf-8")
    return resources.files("plimsoll.serve").joinpath("static", name).read_text(encoding="utf-8")


def page(name: str, **values: Any) -> str:
    """A page as text.

    Args:
        name: Of the template.
        values: What it shows.
    """
    return _environment().get_template(name).render(version=__version__, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plimsoll.serve", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["when"] = when
    environment.filters["number"] = format_number
    environment.filters["ms"] = format_ms
    environment.filters["duration"] = format_duration
    return environment


def when(unix_s: float, now_unix_s: float | None = None) -> str:
    """A moment as people say it: how long ago, or the day.

    >>> when(0.0, 90.0), when(0.0, 864000.0)
    ('1 min 30 s ago', '1970-01-01 00:00 UTC')
    """
    ago_s = (time.time() if now_unix_s is None else now_unix_s) - unix_s
    if ago_s < _LONG_AGO_S:
        return f"{format_duration(max(ago_s, 0))} ago"
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(unix_s))
