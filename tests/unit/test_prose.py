"""Each kind of evidence and each finding has words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from plimsoll.analyse.findings.catalogue import KINDS, OBSERVATIONS
from plimsoll.analyse.study.cell_model import Bounds, Estimate, SpreadKind
from plimsoll.guide.answer import ANSWER, LIMITS
from plimsoll.guide.size import ASSUMPTIONS, DOUBTS
from plimsoll.prose.ratios import ratio_interval

SOURCES = Path(__file__).parents[2] / "python" / "plimsoll" / "analyse"
FINDINGS = {*ANSWER, *LIMITS, *ASSUMPTIONS, *DOUBTS}


def source(*names: str) -> str:
    return "\n".join((SOURCES / f"{name}.py").read_text(encoding="utf-8") for name in names)


def own(codes: set[str], words: Iterable[str]) -> set[str]:
    """Codes without those of other kinds of findings: a file may have several kinds."""
    return codes - (FINDINGS - set(words))


def test_every_observation_is_made_somewhere_and_is_of_a_kind() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    names = [one.__name__ for one in OBSERVATIONS]
    used = {name for name in names if len(re.findall(rf"\b{name}\b", text)) > 1}
    assert used == set(names)
    assert {one.kind.code for one in OBSERVATIONS} <= KINDS.keys()


def test_every_kind_of_warning_is_raised_somewhere() -> None:
    """By an observation, by whoever writes it into a recording, or by the engine."""
    root = SOURCES.parents[2]
    code = "\n".join(path.read_text(encoding="utf-8") for path in (root / "python").rglob("*.py"))
    engine = "\n".join(path.read_text(encoding="utf-8") for path in (root / "crates").rglob("src/**/*.rs"))
    raised = {one.kind.code for one in OBSERVATIONS}
    raised |= {name for name in KINDS if re.search(rf"\b{name.upper().replace('-', '_')}\.(warning\(|code,)", code)}
    assert KINDS.keys() - raised == {name for name in KINDS if f'"{name}"' in engine} - raised


def test_every_finding_of_the_answer_has_words_and_no_other() -> None:
    text = source(
        "answers/answer",
        "answers/capacity",
        "study/effects",
        "study/differences",
        "study/points",
        "findings/missing",
        "findings/limits",
        "explain/durability",
        "analysis",
        "explain/replication",
    )
    given = set(re.findall(r'\bmake_finding\(\s*"([a-z0-9-]+)"', text))
    assert own(given, ANSWER) == set(ANSWER)


def test_every_limitation_has_words_and_no_other() -> None:
    text = source("findings/limits")
    given = set(re.findall(r'\("([a-z0-9-]+)", (?:lambda|unbounded|within)', text))
    given |= set(re.findall(r'\bmake_finding\(\s*"([a-z0-9-]+)"', text))
    assert own(given, LIMITS) | {"client-saturated", "client-on-server-host"} == set(LIMITS)


def test_every_assumption_has_words_and_no_other() -> None:
    text = source("answers/size")
    codes = {
        one or other
        for one, other in re.findall(r'"([a-z0-9-]+)"\),?$|make_finding\("([a-z0-9-]+)"', text, re.MULTILINE)
    }
    assert own(codes, ASSUMPTIONS) == set(ASSUMPTIONS)


def test_every_doubt_about_a_demand_has_words_and_no_other() -> None:
    codes = set(re.findall(r'make_finding\("([a-z0-9-]+)"', source("answers/size")))
    assert own(codes, DOUBTS) == set(DOUBTS)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.06, 4.23, "95 % CI 1.06 to 4.23 times"),
        (0.2, 0.9, "95 % CI -80.0 % to -10.0 %"),
        (0.6, 2.4, "not known within a factor of 3: repetitions differ too much"),
    ],
)
def test_a_wide_interval_of_a_ratio_is_shown_where_it_decides(low: float, high: float, words: str) -> None:
    bounds = Bounds(low=low, high=high, basis=SpreadKind.REPETITIONS, method="made up")
    assert ratio_interval(Estimate(value=math.sqrt(low * high), bounds=bounds, trial_count=6)) == words
