"""Each kind of evidence and each finding has words."""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.analyse.equivalence.checks import CODES
from plimsoll.guide.answer import ANSWER
from plimsoll.guide.limits import LIMITS
from plimsoll.guide.size import ASSUMPTIONS
from plimsoll.guide.size_demand import DOUBTS
from plimsoll.prose.evidence import EVIDENCE

SOURCES = Path(__file__).parents[2] / "python" / "plimsoll" / "analyse"


def source(*names: str) -> str:
    return "\n".join((SOURCES / f"{name}.py").read_text(encoding="utf-8") for name in names)


def test_every_kind_of_evidence_has_words_and_no_other() -> None:
    text = source(
        "trial_checks",
        "steady_checks",
        "curve_checks",
        "repetitions",
        "encryption",
        "environments",
        "driver_checks",
        "file_checks",
        "throttled",
        "turn_checks",
        "character_sets",
        "search_checks",
    )
    text += source(*(f"readiness/{name}" for name in ("processors", "memory", "load", "limits", "servers")))
    given = set(re.findall(r'Code\.[A-Z_]+,\s*"([a-z-]+)"', text)) | set(re.findall(r'\bcode, "([a-z-]+)"', text))
    given |= {f"{aspect}-differ" for aspect in CODES}
    written = given | {
        "rows-returned",
        "rows-changed",
        "peak-at-last-level",
        "peak-at-first-level",
        "unfinished",
        "drift",
        "option-ignored",
        "option-changed",
    }
    assert written == set(EVIDENCE)


def test_every_finding_of_the_answer_has_words_and_no_other() -> None:
    text = source(
        "answer",
        "capacity_answer",
        "cost_answer",
        "effect_answer",
        "across",
        "within_objective",
        "missing",
        "disturbance_answer",
        "durability",
        "study",
        "replication/answer",
    )
    assert set(re.findall(r'\bfound\(\s*"([a-z0-9-]+)"', text)) == set(ANSWER)


def test_every_limitation_has_words_and_no_other() -> None:
    text = source("limits")
    given = set(re.findall(r'\("([a-z0-9-]+)", (?:lambda|unbounded|within)', text))
    given |= set(re.findall(r'\bfound\(\s*"([a-z0-9-]+)"', text))
    assert given | {"client-saturated", "client-on-server-host"} == set(LIMITS)


def test_every_assumption_has_words_and_no_other() -> None:
    text = source("size_assumptions")
    codes = {
        one or other for one, other in re.findall(r'"([a-z0-9-]+)"\),?$|found\("([a-z0-9-]+)"', text, re.MULTILINE)
    }
    assert codes == set(ASSUMPTIONS)


def test_every_doubt_about_a_demand_has_words_and_no_other() -> None:
    assert set(re.findall(r'found\("([a-z0-9-]+)"', source("size_doubts"))) == set(DOUBTS)
