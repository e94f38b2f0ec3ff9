"""Recordings of two environments become an analysis: compared by blocks, with what must be said of that."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Bounds, SpreadKind
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.answer import LIMITS
from plimsoll.guide.words import difference_verdict
from plimsoll.prose.phrases import vague_words
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.record.model import Outcome, ReportedResult, State, StateMark, SystemRecord, Verdict
from plimsoll.record.store import read_study, write_recording
from support.recordings import a_trial

CPUS = {"metal": 8, "virtual": 7}


def analysed(folder: Path, order: str, *, repetitions: int = 2, ratio: float = 1.0) -> Analysis:
    """A study measured in the order of environments (m, v), each with so many repetitions."""
    random, count = np.random.default_rng(5), {"metal": 0, "virtual": 0}
    for second, letter in enumerate(order):
        name = {"m": "metal", "v": "virtual"}[letter]
        block = random.normal() * 0.02
        for within in range(repetitions):
            repetition, count[name] = count[name], count[name] + 1
            trial = a_trial(
                f"{name}-{repetition}",
                repetition=repetition,
                states=(StateMark(state=State.RESET, began_unix_s=1000.0 * second + within),),
            ).model_copy(update={"system": SystemRecord(name=name, environment=name, factors={"environment": name})})
            tps = 1000.0 * (ratio if name == "virtual" else 1.0) * float(np.exp(block + random.normal() * 0.005))
            instance = InstanceFacts(name=f"{name}/0")
            measured_on = Environment(host=HostFacts(name=name, cpu_threads=CPUS[name]), instances=(instance,))
            outcome = Outcome(verdict=Verdict.COMPLETE, reported=ReportedResult(throughput_tps=tps))
            write_recording(folder, trial, measured_on, outcome)
    return analyse("s", read_study(folder).recordings)


def test_one_block_of_each_gives_no_interval_however_many_repetitions(tmp_path: Path) -> None:
    found = analysed(tmp_path, "mv", repetitions=5, ratio=0.5)
    assert {difference.verdict for difference in found.differences} == {RatioVerdict.UNTESTABLE}
    assert all(difference.ratio.bounds is None for difference in found.differences)
    assert difference_verdict(found.differences[0]) == "not testable: an environment was measured only once"
    (limit,) = [limit for limit in found.limits if limit.code == "environments-once"]
    said = LIMITS[limit.code](limit.figures)
    assert "metal and virtual were measured in turn" in said
    assert "no confidence interval until each was measured in at least two blocks" in said


def test_neighbouring_blocks_of_one_environment_are_one(tmp_path: Path) -> None:
    found = analysed(tmp_path, "mvvm", ratio=0.5)
    assert found.differences[0].blocks is not None
    assert found.differences[0].blocks.counts == (2, 1)
    assert found.differences[0].verdict is RatioVerdict.UNTESTABLE


def test_several_blocks_decide(tmp_path: Path) -> None:
    found = analysed(tmp_path, "mvmvmv", ratio=0.5)
    (at_level,) = [difference for difference in found.differences if difference.level is not None]
    assert at_level.verdict is RatioVerdict.SLOWER
    assert at_level.ratio.bounds is not None
    assert at_level.ratio.bounds.basis == "blocks"
    assert "3 and 3 blocks of environments" in at_level.ratio.bounds.method
    assert at_level.blocks is not None
    assert at_level.blocks.environments == ("metal", "virtual")
    assert at_level.blocks.counts == (3, 3)
    assert "environments-in-turn" in {limit.code for limit in found.limits}


def test_blocks_that_differ_too_much_are_called_so() -> None:
    wide = Bounds(low=0.1, high=10, confidence=0.95, basis=SpreadKind.BLOCKS, degrees=1.2, method="Welch")
    assert vague_words(wide) == "not known within a factor of 3: blocks of environments differ too much"


def test_a_guest_with_one_cpu_fewer_is_warned_of(tmp_path: Path) -> None:
    found = analysed(tmp_path, "mvmv")
    assert "machines-differ" in {warning.code for warning in found.warnings}
    assert {system.name: system.in_environment for system in found.systems} == {"metal": "metal", "virtual": "virtual"}
