"""The queries of the example dashboard and of the example rules, as Prometheus takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from support.repository import ROOT

FOLDER = ROOT / "examples" / "observability"
DASHBOARD = FOLDER / "grafana" / "plimsoll.json"
RULES = FOLDER / "rules.yml"
VARIABLES = {"$__rate_interval": "10m", "$__range": "10m", "$system": ".+", "$workload": ".+"}
"""What Grafana would put in their place, to show a run of the last ten minutes."""


def written_expressions() -> list[str]:
    """As the dashboard has them, annotations and the values of variables included."""
    return [*_expressions(json.loads(DASHBOARD.read_text(encoding="utf-8")))]


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (inner for key, inner in value.items() if key in ("expr", "definition"))
        for inner in value.values():
            yield from _expressions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _expressions(inner)


def expressions() -> list[str]:
    """Those of panels; each value is the highest of ten minutes."""
    texts = [text for text in written_expressions() if not text.startswith("label_values") and " offset " not in text]
    return [_lately(text) for text in texts]


def _lately(text: str) -> str:
    """With each instant selector over the last ten minutes: the run may be over."""
    for variable, value in VARIABLES.items():
        text = text.replace(variable, value)
    selector = r"(plimsoll_\w+(?:\{[^}]*\})?)(?!\[|\w|\{)"
    return re.sub(selector, r"max_over_time(\1[10m])", text)


def rule_expressions() -> list[str]:
    """The expressions of the rules; promtool knows their syntax, and Prometheus their types."""
    text = RULES.read_text(encoding="utf-8")
    blocks = re.findall(r"^        expr: (?:\|\n((?:          .*\n)+)|(.*)\n)", text, re.MULTILINE)
    return [" ".join((block or line).split()) for block, line in blocks]
