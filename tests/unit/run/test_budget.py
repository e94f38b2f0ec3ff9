"""Plans that are too long are refused, by how much is told, and repetitions are reduced where that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.plan.model import Plan
from plimsoll.run.folder import PLAN_FILE
from plimsoll.run.planning import held_to_budget, plan_study, total_s, was_fitted, with_repetitions
from plimsoll.spec.study import StudySpec, parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [1, 2] }
warm_up = "5s"
duration = "60s"
reset = "per_system"
repetitions = 10
budget = "20m"

[[workload]]
name = "rw"
kind = "oltp_read_write"

[[system]]
name = "a"
server = { managed = "mariadb" }
"""


def spec_of(**changes: str) -> StudySpec:
    text = STUDY
    for key, value in changes.items():
        text = "\n".join(f"{key} = {value}" if line.startswith(f"{key} =") else line for line in text.splitlines())
    return parse_study(text)


def fault_of(spec: StudySpec, *, fit: bool) -> str:
    with pytest.raises(SpecError) as caught:
        held_to_budget(spec, fit=fit)
    (fault,) = caught.value.lines
    return fault


def test_a_plan_that_is_too_long_is_refused_with_by_how_much_and_with_the_cure() -> None:
    assert fault_of(spec_of(), fit=False) == (
        "study.budget: the plan takes about 22 min 50 s, 2 min 50 s more than 20 min 00 s; reduce levels, repetitions"
        " or duration, raise the budget, or use --fit-budget, which plans 8 repetitions instead of 10"
    )


def test_a_duet_that_is_too_long_is_told_in_rounds() -> None:
    fault = fault_of(parse_study(DUET + STUDY[STUDY.index("[[system]]") :]).model_copy(), fit=False)
    assert "reduce levels, rounds or duration" in fault
    assert fault.endswith("rounds instead of 10")
    assert "repetition" not in fault


DUET = STUDY.replace("repetitions = 10", 'design = "duet"\nrounds = 10').replace('"a"', '"b"')


@pytest.mark.parametrize("share", [0.4, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("design", ["sequential", "duet"])
def test_as_many_repetitions_are_planned_as_the_budget_allows(share: float, design: str) -> None:
    spec = parse_study(STUDY if design == "sequential" else DUET + STUDY[STUDY.index("[[system]]") :])
    budget_s = share * total_s(spec)
    spec = spec.model_copy(update={"study": spec.study.model_copy(update={"budget": budget_s})})
    fitting = held_to_budget(spec, fit=True)
    count = fitting.spec.study.repetition_count
    assert 3 <= count < 10
    assert total_s(fitting.spec) <= budget_s < total_s(with_repetitions(spec, count + 1))
    assert fitting.fitted is not None
    assert (fitting.fitted.repetitions, fitting.fitted.repetitions_asked) == (count, 10)


def test_what_fits_is_left_as_it_is() -> None:
    spec = spec_of(budget='"1h"')
    assert held_to_budget(spec, fit=True).spec is spec
    assert held_to_budget(spec, fit=True).fitted is None


@pytest.mark.parametrize(
    ("repetitions", "words"),
    [("10", "even with 3 repetitions, the fewest"), ("2", "takes about 4 min 34 s, 1 min 34 s more than 3 min 00 s")],
)
def test_never_fewer_repetitions_are_planned_than_can_decide(repetitions: str, words: str) -> None:
    fault = fault_of(spec_of(repetitions=repetitions, budget='"5m"' if repetitions == "10" else '"3m"'), fit=True)
    assert words in fault
    assert "more than" in fault
    assert "--fit-budget" not in fault


def test_a_study_that_stops_when_decided_needs_its_budget_for_three_repetitions_only() -> None:
    assert held_to_budget(spec_of(repetitions='"auto"'), fit=True).fitted is None
    assert "the fewest that can decide" in fault_of(spec_of(repetitions='"auto"', budget='"3m"'), fit=False)


def test_fitting_needs_a_budget() -> None:
    spec = parse_study(STUDY.replace('budget = "20m"\n', ""))
    assert fault_of(spec, fit=True) == 'study.budget: --fit-budget needs a budget; add one such as budget = "3h"'


def test_the_plan_records_that_it_was_made_to_fit_and_keeps_the_ids_of_its_trials(tmp_path: Path) -> None:
    fitted = plan_study(spec_of(), tmp_path, fit_budget=True).plan
    whole = plan_study(spec_of(budget='"1h"')).plan
    assert fitted.fitted is not None
    assert [trial.trial_id for trial in fitted.trials] == [
        trial.trial_id for trial in whole.trials[: len(fitted.trials)]
    ]
    assert Plan.model_validate_json(fitted.model_dump_json()) == fitted


def test_a_study_that_was_made_to_fit_goes_on_so(tmp_path: Path) -> None:
    """Without the option again: the plan says it, as long as there is a budget."""
    fitted = plan_study(spec_of(), tmp_path, fit_budget=True).plan
    with pytest.raises(SpecError):
        plan_study(spec_of(), tmp_path)
    (tmp_path / PLAN_FILE).write_text(fitted.model_dump_json())
    assert plan_study(spec_of(), tmp_path).plan.trials == fitted.trials
    assert not was_fitted(parse_study(STUDY.replace('budget = "20m"\n', "")), tmp_path)
