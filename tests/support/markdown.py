"""Guides in Markdown as tests read them."""

from __future__ import annotations

import re

from plimsoll.analyse.model import Analysis
from plimsoll.guide.markdown import render_markdown


def unlinked_markdown(analysis: Analysis) -> str:
    """A guide without the links from its figures to their recordings."""
    return re.sub(r"\[([^\]]*)\]\[r\d+\](?: \[r\d+\])*", r"\1", render_markdown(analysis))
