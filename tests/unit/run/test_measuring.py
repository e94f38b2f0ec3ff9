"""Reference loads, budgets, and trials of automatic length."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from plimsoll.errors import HostError
from plimsoll.plan.build import build_plan
from plimsoll.run.planning import Budget
from plimsoll.run.trial import ends, trials_sharing
from plimsoll.run.trial_progress import TrialProgress
from plimsoll.servers.moment import copied_bytes, reference_times
from plimsoll.spec.study import parse_study
from plimsoll.telemetry.host import FrequencySampler

STUDY = """
[study]
name = "made"
levels = { connections = [2] }
reset = "never"
DURATION
[[workload]]
name = "w"
kind = "oltp_point_select"
[[system]]
name = "s"
target = "mysql://u@h/db"
"""


def study(duration: str):
    return parse_study(STUDY.replace("DURATION", duration)).study


def _task(duration: str, limit_s: float = float("inf")) -> SimpleNamespace:
    return SimpleNamespace(study=study(duration), interval_s=1.0, limit_s=limit_s)


def progressing(rates: list[float]) -> TrialProgress:
    found = TrialProgress(rows=None)
    found.measured.rates_tps = rates
    return found


def test_reference_load_leaves_nothing_behind_and_takes_what_it_says(tmp_path: Path) -> None:
    times = reference_times(tmp_path, wall=lambda: 7.0)
    assert times.at_unix_s == 7.0
    assert min(times.processor_ms, times.memory_ms, times.flush_ms or 0.0) > 0
    assert list(tmp_path.iterdir()) == []
    assert reference_times(None).flush_ms is None
    with pytest.raises(HostError, match="nowhere"):
        reference_times(tmp_path / "nowhere")


def test_buffers_are_larger_than_the_cache_within_limits(tmp_path: Path) -> None:
    assert copied_bytes(tmp_path) == 32 << 20
    cache = tmp_path / "devices/system/cpu/cpu0/cache/index3"
    cache.mkdir(parents=True)
    (cache / "size").write_text("36864K\n")
    assert copied_bytes(tmp_path) == 72 << 20
    (cache / "size").write_text("1048576K\n")
    assert copied_bytes(tmp_path) == 128 << 20


def test_frequency_is_that_of_some_cpus_and_absent_where_nobody_tells(tmp_path: Path) -> None:
    assert FrequencySampler(tmp_path).sample(0.0) == []
    for cpu in range(20):
        folder = tmp_path / f"devices/system/cpu/cpu{cpu}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_cur_freq").write_text("2500000\n")
    sampler = FrequencySampler(tmp_path)
    assert [one.value for one in sampler.sample(0.0)] == [2.5e9]
    assert len(sampler._files) <= 8


def test_a_fixed_duration_ends_when_it_is_over() -> None:
    task = _task('duration = "3s"')
    assert [ends(task, progressing([1.0] * count), {}) for count in (2, 3)] == [False, True]


def test_an_automatic_duration_ends_with_a_narrow_interval_or_at_its_limit() -> None:
    task = SimpleNamespace(
        study=study('duration = "auto"\nduration_limit = "2m"'), interval_s=1.0, limit_s=float("inf")
    )
    calm = list(1000 + 10 * np.random.default_rng(1).standard_normal(120))
    wild = list(1000 + 900 * np.random.default_rng(1).standard_normal(120))
    assert [ends(task, progressing(calm[:count]), {}) for count in (59, 60)] == [False, True]
    late = progressing(wild)
    assert not ends(task, progressing(wild[:119]), {})
    assert ends(task, late, {})
    assert [warning.code for warning in late.warnings] == ["target-interval-missed"]


def test_an_automatic_duration_goes_on_while_innodb_state_rises() -> None:
    """Of the last hour only the measured seconds count: before them the state was even."""
    task = SimpleNamespace(
        study=study('duration = "auto"\nduration_limit = "2m"'), interval_s=1.0, limit_s=float("inf")
    )
    calm = progressing(list(1000 + 10 * np.random.default_rng(1).standard_normal(60)))
    even, rising = [1e8] * 1000, list(np.linspace(1e8, 2e8, 60))
    assert ends(task, calm, {"innodb_checkpoint_age": even})
    assert ends(task, calm, {"innodb_checkpoint_age": [*rising, *even[:60]]})
    assert not ends(task, calm, {"innodb_checkpoint_age": [*even, *rising]})
    assert ends(task, calm, {"innodb_checkpoint_age": [value / 1000 for value in rising]}), "too little to matter"


def test_a_budget_shortens_automatic_trials_but_leaves_them_a_minute() -> None:
    wild = list(1000 + 900 * np.random.default_rng(1).standard_normal(120))
    task = _task('duration = "auto"', limit_s=10.0)
    assert [ends(task, progressing(wild[:count]), {}) for count in (59, 60)] == [False, True]


def test_budget_is_shared_among_the_trials_that_are_left() -> None:
    now = [0.0]
    budget = Budget.of(100.0, clock=lambda: now[0])
    assert budget.share_s(4, other_s=5.0) == 20.0
    now[0] = 90.0
    assert (budget.left_s, budget.share_s(4, other_s=5.0)) == (10.0, 0.0)
    assert Budget.of(None).share_s(4, other_s=5.0) == float("inf")


def test_what_ends_with_the_budget_takes_no_longer_than_what_is_left_of_it() -> None:
    now = [0.0]
    budget = Budget.of(100.0, clock=lambda: now[0])
    assert (budget.at_most(40.0), budget.at_most(400.0)) == (40.0, 100.0)
    now[0] = 130.0
    assert budget.at_most(40.0) == 0.0
    assert Budget.of(None).at_most(400.0) == 400.0


def test_a_study_until_it_is_decided_shares_its_budget_among_six_repetitions_and_then_within_one() -> None:
    trials = build_plan(parse_study(STUDY.replace("DURATION", 'repetitions = "auto"').replace("[2]", "[2, 4]"))).trials
    until = study('repetitions = "auto"')
    assert len(trials) == 40
    assert [trials_sharing(until, trials[at], trials[at:]) for at in (0, 1, 11, 12, 13, 39)] == [12, 11, 1, 2, 1, 1]
    assert trials_sharing(study("repetitions = 20"), trials[1], trials[1:]) == 39


def test_automatic_durations_are_read() -> None:
    assert study('duration = "auto"\ntarget_interval = "2.5%"').target_interval == 0.025
    assert study('duration = "auto"').duration_most == 600.0
    with pytest.raises(Exception, match="percent sign"):
        study('target_interval = "5"')
