"""Planned trials that never ran are named wherever the study's figures are shown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.findings.missing import missing_groups, never_ran
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.plan.build import build_plan
from plimsoll.plan.model import PlannedTrial
from plimsoll.prose.phrases import group_words
from plimsoll.spec.study import parse_study
from support.made import Made, measured
from support.told import answer_of, evidence_of

STUDY = """
[study]
name = "s"
levels = {{ {levels} }}
repetitions = 3
reset = "never"
[[workload]]
name = "ro"
kind = "oltp_read_only"
[[workload]]
name = "rw"
kind = "oltp_read_write"
[[system]]
name = "a"
target = "mysql://u@h/d"
[[system]]
name = "b"
target = "mysql://u@i/d"
"""


def plan(levels: str = "connections = [1, 4]") -> tuple[PlannedTrial, ...]:
    trials = build_plan(parse_study(STUDY.format(levels=levels))).trials
    return tuple(sorted(trials, key=lambda trial: (trial.system, trial.workload, trial.connections, trial.repetition)))


def ran(planned: PlannedTrial) -> Made:
    """A recording of a planned trial."""
    made = measured(
        [100.0 + planned.repetition] * 12,
        system=planned.system,
        workload=planned.workload,
        connections=planned.connections,
        repetition=planned.repetition,
    )
    made.trial.__dict__["trial_id"] = planned.trial_id
    return made


def described(unrun: list[PlannedTrial]) -> list[str]:
    return [group_words(group) for group in missing_groups(never_ran(unrun, ()))]


def test_a_system_that_never_ran_is_named_in_the_answer_and_in_every_table() -> None:
    planned = plan()
    analysis = analyse("s", [ran(one) for one in planned if one.system == "a"], planned=planned)
    assert answer_of(analysis)[0] == (
        "This study is not complete: 12 of 24 planned trials have run. Nothing was measured for b."
    )
    assert analysis.planned_count == 24
    assert [(one.system, one.has_run) for one in analysis.missing] == [("b", False)] * 12
    (warning,) = (warning for warning in analysis.warnings if warning.code == "trials-not-run")
    assert (warning.systems, [level.connections for level in warning.levels]) == (("b",), [1, 4])
    assert "12 planned trials" in evidence_of(warning)
    assert "failed-trials" not in {warning.code for warning in analysis.warnings}
    row = "| b | ro | 1 and 4 connections | 1 to 3 | has not run yet | none |"
    assert row in render_markdown(analysis)
    page = render_html(analysis)
    assert "has not run yet" in page
    assert "every planned trial" not in page
    assert [assumption.code for assumption in size(analysis, tps=1, workload="ro").assumptions][
        -1
    ] == "not-measured-yet"


def test_a_workload_without_trials_is_named_with_its_system() -> None:
    planned = plan()
    analysis = analyse("s", [ran(one) for one in planned if (one.system, one.workload) != ("b", "rw")], planned=planned)
    assert answer_of(analysis)[0].endswith("18 of 24 planned trials have run. Nothing was measured for b under rw.")


def test_a_repetition_less_leaves_no_system_unmeasured() -> None:
    planned = plan()
    analysis = analyse("s", [ran(one) for one in planned[1:]], planned=planned)
    assert answer_of(analysis)[0] == "This study is not complete: 23 of 24 planned trials have run."


@pytest.mark.parametrize("is_planned", [True, False])
def test_nothing_is_said_of_a_complete_study_and_of_imports(*, is_planned: bool) -> None:
    planned = plan()
    analysis = analyse("s", [ran(one) for one in planned], planned=planned if is_planned else None)
    assert analysis.missing == ()
    assert "not complete" not in answer_of(analysis)[0]
    assert f"None: every {'planned' if is_planned else 'recorded'} trial" in render_html(analysis)


def test_a_failed_trial_is_missing_but_not_as_one_that_never_ran() -> None:
    planned = plan()[:2]
    damaged = SimpleNamespace(trial_id=planned[1].trial_id, path=None, reason="was cut short")
    analysis = analyse("s", [ran(planned[0])], [damaged], planned=planned)
    (missing,) = analysis.missing
    assert (missing.system, missing.workload, missing.repetition) == ("a", "ro", 1)
    assert (missing.has_run, missing.reason) == (True, "was cut short")
    assert "not complete" not in answer_of(analysis)[0]


def test_levels_that_lack_the_same_repetitions_stand_together() -> None:
    planned = plan("connections = [1, 4, 16]")
    unrun = [one for one in planned if one.system == "a" and one.workload == "ro"]
    unrun = [one for one in unrun if one.connections != 4 or one.repetition == 2]
    assert described(unrun) == ["a, ro, 1 and 16 connections, repetitions 1 to 3", "a, ro, 4 connections, repetition 3"]
    (alone,) = described([planned[0]])
    assert alone == "a, ro, 1 connection, repetition 1"


def test_rates_are_named_as_such() -> None:
    planned = plan("rate_tps = [500, 1500.5], connections = [8]")
    assert described(list(planned))[0] == "a, ro, target rates 500 and 1,500.5 tps, repetitions 1 to 3"
