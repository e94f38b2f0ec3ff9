"""Marked trials, repeats and the state of trials in an analysis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.repetitions import check_weather
from plimsoll.analyse.study.conditions import slow_figures
from plimsoll.analyse.trial.samples import telemetry_of
from plimsoll.analyse.trial.steady import innodb_series
from plimsoll.analyse.trial.trial_summary import summarise
from plimsoll.guide.content import describe
from plimsoll.record import frames
from plimsoll.record.model import ReferenceTimes, SystemRecord, Verdict, Weather
from support.made import PLACE, STARTED_UNIX_S, Made, measured

RATES = np.full(60, 1000.0) + np.tile([-5, 5, 3, -3], 15)


def with_weather(made: Made, processor_ms: float, **trial: object) -> Made:
    times = ReferenceTimes(at_unix_s=1.0, processor_ms=processor_ms, memory_ms=100.0, flush_ms=8.0)
    outcome = made.outcome.model_copy(update={"weather": Weather(before=times, after=times)})
    return replace(made, outcome=outcome, trial=made.trial.model_copy(update=trial))


def study(slow_ms: float = 150.0) -> list[Made]:
    times = (100.0, 101.0, 99.0, 100.5, 99.5, slow_ms)
    return [with_weather(measured(RATES, repetition=index), ms) for index, ms in enumerate(times)]


def test_a_slow_machine_is_marked_and_shown() -> None:
    analysis = analyse("made", study())
    (warning,) = (warning for warning in analysis.warnings if warning.code == "machine-slower")
    assert warning.evidence[0].figures["repetition"] == 6
    conditions = analysis.curves[0].cells[0].conditions
    assert [condition.repetition for condition in conditions if condition.slower] == [5]
    assert {one.figure for one in conditions[5].slower} == {"processor-before", "processor-after"}
    table = describe(analysis).conditions
    assert table is not None
    assert [row[3].text for row in table.rows] == ["6"]
    assert table.rows[0][4].mark == "machine slower"


def test_what_other_processes_took_marks_a_trial_of_few_as_well() -> None:
    """Of three trials; the reference load, which runs before and after, saw nothing."""
    summaries = [summarise(one) for one in study(slow_ms=100.0)[:3]]
    shares = (0.01, 0.02, 0.2)
    trials = [
        replace(summary, other_cpu_ratio=share) for summary, share in zip(summaries, shares, strict=True) if summary
    ]
    ((trial_id, figures),) = slow_figures(trials).items()
    assert trial_id == trials[2].trial.trial_id
    assert [(figure.figure, round(figure.ratio, 3)) for figure in figures] == [
        ("other-processes", round(0.98 / 0.8, 3))
    ]


def test_a_round_of_a_duet_is_marked_for_both_systems_which_share_a_reference_load() -> None:
    """Each system's rounds are judged by themselves: pairs of equal figures of twelve trials are not twelve figures."""
    turns = pl.DataFrame(schema=frames.TURNS)
    trials = [
        replace(one, turns=turns, trial=one.trial.model_copy(update={"trial_id": f"{system}-{index}"}))
        for system in ("a", "b")
        for index, made in enumerate(study())
        if (one := summarise(replace(made, trial=made.trial.model_copy(update={"system": SystemRecord(name=system)}))))
    ]
    assert slow_figures(trials).keys() == {"a-5", "b-5"}
    (doubt, _) = check_weather(trials, slow_figures(trials))
    assert doubt.evidence.text.startswith("round 6: the processor reference")
    assert slow_figures([trial for index, trial in enumerate(trials) if index % 6 >= 3]) == {}, "three rounds of each"


def test_alike_machines_and_older_recordings_are_not_marked() -> None:
    calm = analyse("made", study(slow_ms=100.2))
    older = analyse("made", [measured(RATES, repetition=index) for index in range(6)])
    for analysis in (calm, older):
        assert "machine-slower" not in {warning.code for warning in analysis.warnings}
        assert describe(analysis).conditions is None


def test_a_repeat_counts_and_the_first_trial_is_listed() -> None:
    first = study()
    again = with_weather(measured(RATES * 1.1, repetition=5), 100.0, trial_id="again", repeats=first[5].trial.trial_id)
    analysis = analyse("made", [*first, again])
    cell = analysis.curves[0].cells[0]
    assert "again" in cell.trials
    assert first[5].trial.trial_id not in cell.trials
    assert [(one.trial_id, one.replaced_by) for one in analysis.missing] == [(first[5].trial.trial_id, "again")]
    assert not {"machine-slower", "failed-trials"} & {warning.code for warning in analysis.warnings}


def test_a_repeat_that_failed_replaces_nothing() -> None:
    first = study()
    failed = with_weather(measured(RATES, repetition=5), 100.0, trial_id="again", repeats=first[5].trial.trial_id)
    failed = replace(failed, outcome=failed.outcome.model_copy(update={"verdict": Verdict.FAILED, "reason": "x"}))
    analysis = analyse("made", [*first, failed])
    assert first[5].trial.trial_id in analysis.curves[0].cells[0].trials
    assert [one.trial_id for one in analysis.missing] == ["again"]


def innodb_table(values: dict[str, np.ndarray]) -> pl.DataFrame:
    rows = [
        {**PLACE, "unix_s": STARTED_UNIX_S + second + 0.01, "source": "server", "metric": metric, "value": float(value)}
        for metric, series in values.items()
        for second, value in enumerate(series)
    ]
    return pl.DataFrame(rows, schema=frames.TELEMETRY)


def test_innodb_state_is_of_the_window_and_counters_by_their_rise() -> None:
    table = innodb_table(
        {
            "innodb_checkpoint_age": 1e7 + np.arange(20.0),
            "innodb_buffer_pool_reads": 50.0 * np.arange(20.0),
            "innodb_history_list_length": np.full(20, 3.0),
        }
    )
    made = measured(RATES)
    account = made.outcome.account
    telemetry = telemetry_of(table, made.intervals(), account)
    found = innodb_series(telemetry, account, from_s=5.0, seconds=10)
    assert found.keys() == {"innodb_checkpoint_age", "innodb_buffer_pool_reads"}
    assert found["innodb_checkpoint_age"].tolist() == (1e7 + np.arange(6.0, 16.0)).tolist()
    assert found["innodb_buffer_pool_reads"].tolist() == [50.0] * 10
    assert innodb_series(telemetry, account, from_s=5.0, seconds=30) == {}


def test_rising_innodb_state_is_a_doubt_though_throughput_is_flat() -> None:
    table = innodb_table({"innodb_checkpoint_age": np.linspace(1e7, 3e7, 64)})
    analysis = analyse("made", [measured(RATES, telemetry=table)])
    assert "innodb-drifts" in {warning.code for warning in analysis.warnings}
    assert analysis.curves[0].cells[0].conditions[0].steady.state == "drifting"


def test_steps_and_short_cycles_are_doubts() -> None:
    random = np.random.default_rng(1)
    noise = 10 * random.standard_normal(120)
    steps = 1000 + noise - 200.0 * (np.arange(120) >= 70)
    early = 1000 + noise - 200.0 * (np.arange(120) < 20)
    cycle = 1000 + noise + 100 * np.sin(2 * np.pi * np.arange(120) / 70)
    seen = [
        {warning.code for warning in analyse("made", [measured(rates)]).warnings} for rates in (steps, early, cycle)
    ]
    kinds = {"throughput-unsteady", "warm-up-unfinished", "few-cycles", "throughput-drifts"}
    assert [one & kinds for one in seen] == [{"throughput-unsteady"}, {"warm-up-unfinished"}, {"few-cycles"}]
