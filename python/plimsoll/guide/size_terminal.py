"""The answer of sizing for a terminal. It stands apart from the guide, which imports far more than an answer shows."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from plimsoll.analyse.answers.size_model import Fit, SizeAnswer, SystemFit
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.guide.size import answer_sentences, assumption_sentence, doubt_sentence, horizon_table, size_table
from plimsoll.guide.size_reasons import reason_sentence
from plimsoll.guide.terminal_blocks import section, sentence_blocks, show_table, table_blocks


def size_terminal(answer: SizeAnswer) -> Group:
    """Which systems sustain a load, with what to spare and why."""
    asked = answer.asked
    reasons = (
        f"{system.system}: {reason_sentence(system, asked)}"
        for system in answer.systems
        if not _speaks_for_itself(system)
    )
    return Group(
        *sentence_blocks(answer_sentences(answer), mark=""),
        Text(),
        show_table(size_table(answer)),
        *section("Until when", table_blocks(horizon_table(answer))),
        *section("Before you rely on it", sentence_blocks(doubt_sentence(doubt) for doubt in answer.doubts)),
        *section("Why", sentence_blocks(reasons)),
        *section("Assumptions", sentence_blocks(assumption_sentence(assumption) for assumption in answer.assumptions)),
    )


def _speaks_for_itself(system_fit: SystemFit) -> bool:
    return (
        system_fit.verdict is Fit.FITS
        and system_fit.grade is Grade.MEASURED
        and system_fit.interpolated_between is None
    )
