"""What a repetition that stalled does to intervals: its own cell's becomes words, those of others stay."""

from __future__ import annotations

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.tables import show_rate
from support.made import measured


def test_an_interval_wider_than_a_factor_of_three_is_told_in_words() -> None:
    trials = [
        measured([tps] * 10, connections=connections, repetition=repetition)
        for connections, repeated in {4: (1000, 1000, 3), 8: (1000, 990, 1010)}.items()
        for repetition, tps in enumerate(repeated)
    ]
    analysis = analyse("made", trials)
    low, high = analysis.curves[0].cells
    assert low.throughput_tps.bounds is not None
    assert low.throughput_tps.bounds.high > 1000 * low.throughput_tps.bounds.low
    assert show_rate(low.throughput_tps, "tps").detail == (
        "not known within a factor of 3: repetitions differ too much"
    )
    assert high.throughput_tps.bounds is not None
    assert high.throughput_tps.bounds.high < 1.1 * high.throughput_tps.bounds.low
    assert "repetition-lags" in [warning.code for warning in analysis.warnings]


@pytest.mark.parametrize("lagging_tps", [0, 3])
def test_a_repetition_that_stalled_does_not_widen_the_intervals_of_others(lagging_tps: int) -> None:
    repeated = {"a": (1000, 1000, lagging_tps), "b": (1000, 990, 1010)}
    trials = [
        measured([tps] * 10, system=system, repetition=repetition)
        for system, own in repeated.items()
        for repetition, tps in enumerate(own)
    ]
    analysis = analyse("made", trials)
    calm = analysis.curves[1].cells[0].throughput_tps.bounds
    assert calm is not None
    assert calm.high < 1.1 * calm.low
    assert {difference.verdict for difference in analysis.differences} & {
        RatioVerdict.FASTER,
        RatioVerdict.EQUAL,
    } == set()
    assert "repetition-lags" in [warning.code for warning in analysis.warnings]
