"""Turns charts into pictures (SVG, PNG) and finds the scripts that make them answer to a pointer; nothing is fetched.

Deliberately not here: what a chart shows (`charts`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import altair as alt
import vl_convert

from plimsoll.guide.drawer import drawn
from plimsoll.guide.marks import Chart
from plimsoll.guide.script_cache import cached


def chart_spec(chart: Chart) -> dict[str, Any]:
    """A chart as Vega-Lite, without the address of its schema: a page that works offline names no other place.

    Whether charts are valid is for the tests: here it would take longer than drawing them.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec.pop("$schema", None)
    return spec


def render_svg(chart: Chart) -> str:
    """A chart as an SVG picture."""
    return _without_base(drawn(chart_spec(chart), _VEGA_LITE).result())


def render_png(chart: Chart, *, scale: float = 2.0) -> bytes:
    """A chart as a PNG picture, `scale` pixels for each of its own."""
    return bytes(vl_convert.vegalite_to_png(chart_spec(chart), vl_version=_VEGA_LITE, scale=scale))


class InlineSvg:
    """A chart as SVG to stand within a page: as wide as its place, and its ids begin with `prefix`."""

    def __init__(self, spec: dict[str, Any], prefix: str) -> None:
        """Begins to draw it."""
        self._drawn, self._prefix = drawn(spec, _VEGA_LITE), prefix

    @property
    def text(self) -> str:
        """The drawing; waits until it is there."""
        svg = _without_base(self._drawn.result())
        svg = re.sub(r'(<svg [^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg, count=1)
        return re.sub(r'(\bid="|url\(#|href="#(?!recording))', rf"\g<1>{self._prefix}", svg)


def _without_base(svg: str) -> str:
    return svg.replace(f'href="{_BASE}#', 'href="#')


@cache
def chart_scripts() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, from the library that also draws the pictures.

    Making it takes as long as drawing all pictures of a guide, so it is kept in the user's cache directory.
    """
    version = vl_convert.__version__  # type: ignore[attr-defined]
    script = cached(f"charts-{version}-{_VEGA_LITE}.js", _bundle)
    for address in _ADDRESSES:
        script = script.replace(address, "")
    return script


def _bundle() -> str:
    return str(vl_convert.javascript_bundle(vl_version=_VEGA_LITE))  # type: ignore[call-arg]


_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])

_BASE = "https://vega.github.io/vega-datasets/"
"""What the library puts before links that are relative; those of a guide lead to places within it."""

_ADDRESSES = ("https://vega.github.io", "https://github.com")
"""Of an editor, a schema and a report that the script names. No part of the guide goes there, and now none can."""
