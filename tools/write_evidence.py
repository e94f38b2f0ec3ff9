"""Writes the simulated error rates of docs/evidence.md (`make evidence`), by the simulations of tests/truth.

    .venv/bin/python tools/write_evidence.py                  all tables, a quarter of an hour of a processor
    .venv/bin/python tools/write_evidence.py lag stalls       these

Everything is seeded, so that a table changes only with the code. Deliberately not here: the simulations themselves.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path

import numpy as np
from evidence_tables import basis as _basis
from evidence_tables import percent as _percent
from evidence_tables import results as _results
from evidence_tables import share as _share
from evidence_tables import table as _table
from evidence_tables import whole as _whole
from write_readme import with_part

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from evidence_trends import trend_answers, trend_steps  # noqa: E402
from tests.truth import (  # noqa: E402 - they are found from here on
    test_auto_duets,
    test_capacity,
    test_compare,
    test_compare_at_any_look,
    test_compare_sessions,
    test_disturbance,
    test_duet,
    test_environment_blocks,
    test_main_effects,
    test_ramps,
    test_replica_lag,
    test_scalability,
    test_sequential,
    test_single_searches,
    test_sizing,
    test_sizing_capacities,
    test_sizing_rates,
    test_stalls,
    test_statistics,
    test_steady,
    test_study_model,
    test_turns,
    test_unlike_noise,
    test_weather,
    test_where_time,
)

from plimsoll.analyse.answers.compare_model import GateOutcome  # noqa: E402
from plimsoll.analyse.trial.condition_model import StateKind  # noqa: E402
from plimsoll.stats.variance import variance_of_mean  # noqa: E402
from unit.analyse import test_repetitions, test_steps  # noqa: E402

PAGE = ROOT / "docs" / "evidence.md"
STUDIES, AUTO_DUETS, WAITS, SEARCHES, PAIRS, CLIMBS, COMPARED, CALM = 500, 150, 100, 100, 25, 200, 400, 300
"""How many are simulated."""

BLOCK_EFFECTS = (0.0, 1.0, 3.0)
"""What a repetition, a start of a server or a minute adds, as multiples of the residual."""

_FROM_PARAMETERS = "seeds that follow from the parameters"


def main() -> None:
    """Writes the tables that are named, or all."""
    names = sys.argv[1:] or list(PARTS)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        simulated = {pool.submit(part_of, name): name for name in names}
        for future in as_completed(simulated):
            text = with_part(PAGE.read_text(encoding="utf-8"), simulated[future], future.result())
            PAGE.write_text(text, encoding="utf-8")
            sys.stderr.write(f"written: {simulated[future]}\n")


def part_of(name: str) -> str:
    """What stands between the markers of this name."""
    return f"\n{PARTS[name]()}\n"


def within_a_run() -> str:
    """Intervals from the seconds of one run."""
    rows = []
    for correlation, size in ((0.0, 60), (0.3, 60), (0.6, 60), (0.8, 60), (0.8, 180), (0.6, 20)):
        covered = test_statistics.coverage_within(correlation, size, variance_of_mean)
        rows.append((f"{correlation:g}", f"{size} s", _percent(covered)))
    table = _table(["Lag-1 correlation", "Length of the run", "95 % CI contains the truth"], rows)
    return table + _basis(f"{test_statistics.STUDIES:,} runs for each row", "seed 7", "truth/test_statistics")


def systems() -> str:
    """The model of a study."""
    model, unlike = test_study_model, test_unlike_noise
    shapes = product(model.NASTY, model.SHAPES)
    covered = [share for world, shape in shapes for share in model.shares_covered(world, *shape, STUDIES)]
    winners = [model.share_with_winner(world, *shape, STUDIES) for world, shape in model.EQUAL_SYSTEMS.items()]
    detectable = [model.share_of_detectable_found(*shape, 2 * STUDIES) for shape in model.DETECTED]
    noisy = list(product((2, 4, 8), (3, 5), (2.0, 3.0, 5.0)))
    of_noisy = [unlike.share_covered(*shape, STUDIES) for shape in noisy]
    named = [unlike.share_with_winner(*shape, STUDIES) for shape in noisy]
    effects = _percent(*(math.expm1(effect) for effect in unlike.EFFECTS.values()))
    found = [unlike.share_found(count, STUDIES) for count in unlike.EFFECTS]
    return _results(
        {
            "95 % CI of a throughput, of the ratio of two levels or of two systems: covers": _percent(*covered),
            "2 to 8 equal systems: any is named faster or slower": _percent(*winners),
            "95 % CI of a system 2 to 5 times noisier than the others: covers": _percent(*of_noisy),
            "equal systems, one of them 2 to 5 times noisier: any is named": _percent(*named),
            f"effect of {effects}, noise of 3 %, 3 to 8 systems, 3 repetitions: found": _percent(*found),
            "effect as large as the minimum detectable effect: found": _percent(*detectable),
        }
    ) + _basis(
        f"{STUDIES:,} studies of 3 or 5 repetitions for each figure of a range, {2 * STUDIES:,} in the last row",
        "seeds 1, 3 and 5, in the second row the number of systems",
        "truth/test_study_model",
        "truth/test_unlike_noise",
    )


def far_below() -> str:
    """The warning of a repetition far below the others."""
    warned = f"{test_repetitions.noise_warned_of(STUDIES)} of {STUDIES:,} studies"
    return _results({"18 trials that differ by 10 %: any gets the warning": warned}) + _basis(
        "As many studies as stated", "seed 13", "unit/analyse/test_repetitions"
    )


def effects_of_factors() -> str:
    """Effects of factors where nothing has one."""
    worlds = list(product(test_main_effects.SHAPES, test_main_effects.NASTY))
    covered = [test_main_effects.shares_covered(*world, STUDIES) for world in worlds]
    named = [test_main_effects.share_named(*world, STUDIES) for world in worlds]
    kinds = {"effect": "an effect", "level": "an effect at one level", "interaction": "an interaction"}
    results = {
        f"95 % CI of {words}: covers": _percent(*(shares[kind] for shares in covered)) for kind, words in kinds.items()
    }
    return _results({**results, "no factor does anything: any is named": _percent(*named)}) + _basis(
        f"{STUDIES:,} studies of 2 x 2 and of 3 x 2 x 2 systems in each of {len(test_main_effects.NASTY)} worlds",
        "seed 23",
        "truth/test_main_effects",
    )


def environments() -> str:
    """Environments that are measured in turn."""
    blocks, rows = test_environment_blocks, []
    for switch, repetitions, counts in blocks.SWITCHED:
        winners = blocks.share_of_winners(2 * STUDIES, blocks.blocks(blocks.order(switch, repetitions)))
        how = "a hook" if switch == blocks.BY_HOOK else "hand"
        rows.append((how, repetitions, " and ".join(map(str, counts)), _percent(winners)))
    return _table(["Switched by", "Repetitions", "Blocks of each", "Equal environments: a winner"], rows) + _basis(
        f"{2 * STUDIES:,} studies for each row; blocks differ by three times the residual",
        "seed 7",
        "truth/test_environment_blocks",
    )


def duets() -> str:
    """Systems that take turns."""
    worlds = list(product(test_turns.WORLDS, (0.1, 0.5, 1.0)))
    times_s = {"2 %": (0.01,), "5 to 9 %": (0.025, 0.045), "20 to 30 %": (0.1, 0.15), "60 %": (0.3,)}
    ratios = {}
    for words, means_s in times_s.items():
        errors = [
            test_turns.error_of_the_mean(world, mean_s, variation)
            for mean_s, (world, variation) in product(means_s, worlds)
        ]
        ratios[f"ratio of systems that differ by 10 %, mean response times {words} of a turn: off by"] = _percent(
            *errors
        )
    p99 = {
        f"p99, mean response times {words} of a turn: too high by": _whole(
            *(test_turns.p99_over_truth(mean_s, variation) - 1 for variation in (0.5, 1.0))
        )
        for words, mean_s in (("5 %", 0.025), ("60 %", 0.3))
    }
    covered, different = (list(map(f, BLOCK_EFFECTS)) for f in (test_duet.share_covered, test_duet.share_different))
    auto = [test_auto_duets.shares_at_the_stop(restart, 0.0, AUTO_DUETS)[0] for restart in BLOCK_EFFECTS]
    return _results(
        {
            "6 rounds of 40 pairs, slow noise and bursts: 95 % CI of the ratio covers": _percent(*covered),
            "the same, equal systems: called different": _percent(*different),
            'rounds = "auto", equal systems: called different at the end': _percent(*auto),
            **ratios,
            **p99,
        }
    ) + _basis(
        f"{test_duet.STUDIES:,} studies for each figure of the first two rows, {AUTO_DUETS} of the third; mean of"
        f" {test_turns.STUDIES} studies for ratios; 400 turns for p99",
        f"{_FROM_PARAMETERS}, for p99 seed 3",
        "truth/test_duet",
        "truth/test_auto_duets",
        "truth/test_turns",
    )


def sequential() -> str:
    """Studies that stop when the answer is decided."""
    worlds, margin = test_sequential.WORLDS, math.log1p(test_sequential.EQUAL_WITHIN)
    ever = [test_sequential.share_ever_different(world) for world in worlds]
    named = [test_sequential.share_with_winner(world, systems, 3, 150) for world, systems in product(worlds, (2, 4))]
    equal = [
        test_sequential.share_called_equal(world, sigma, effect)
        for world, sigma, effect in product(worlds, (0.005, 0.01, 0.02), (margin, -margin))
    ]
    kept = {
        f"open after {looks} repetitions: decided within the stated number of further ones": _percent(
            test_sequential.share_kept(looks)
        )
        for looks in (2, 3, 4, 6)
    }
    return _results(
        {
            "one comparison of equal systems: a difference is named at any look": _percent(*ever),
            "2 or 4 equal systems at 3 levels: any difference is named at any look": _percent(*named),
            "systems that differ by exactly `equal_within`: called equal": _percent(*equal),
            **kept,
        }
    ) + _basis(
        f"{test_sequential.STUDIES:,} sequences, 150 and 400 studies for each figure of the first rows; normal noise,"
        " heavy tails, outliers and restarts; 300 studies of each of 12 kinds in the last rows, of which those count"
        " that were open",
        "seeds 11 and 15, in the last rows the number of repetitions and of comparisons",
        "truth/test_sequential",
    )


def states() -> str:
    """Steady, cyclic, drifting and unsteady trials."""
    steady = {
        f"steady trials of {words}: called anything else": _percent(
            *(test_steady.share_not_steady(phi, size, count) for phi, size in product((0.0, 0.6, 0.8), sizes))
        )
        for words, sizes, count in (
            ("20 and 30 s", (20, 30), 800),
            ("1 to 3 min", (60, 180), 400),
            ("10 min", (600,), 40),
        )
    }
    drifts = {
        f"drift of {change * 100:.0f} %, noise of 3 %, two minutes: found": _percent(
            test_steady.share(test_steady.states(test_steady.drifting(change, 400)), StateKind.DRIFTING)
        )
        for change in (0.2, 0.1)
    }
    dips = [test_steady.dipping(*shape, 0.2, 200) for shape in ((60, 20, 8), (120, 40, 16))]
    unsteady = [test_steady.share(test_steady.states(trials), StateKind.UNSTEADY) for trials in dips]
    cut_short, found = test_steady.share_cut_short(100, 60), test_steps.drifts_of_p99(0.4, 50) / 50
    return _results(
        {
            **steady,
            **drifts,
            "three dips that last 40 % of their period: called unsteady": _percent(*unsteady),
            "automatic length, InnoDB state unknown, cycles of 100 s: ended before two cycles": _whole(cut_short),
            "half an hour, p99 varies by 8 % from minute to minute and drifts by 40 %: found": _whole(found),
        }
    ) + _basis(
        "800, 400 and 40 steady trials of each length and of each lag-1 correlation of 0, 0.6 and 0.8; 400 that"
        " drift, 200 with dips, 60 of automatic length, 50 in the last row",
        "seeds 3, 4 and 6, in the last row 0 to 49",
        "truth/test_steady",
        "unit/analyse/test_steps",
    )


def stalls() -> str:
    """Healthy runs that are called stalled."""
    independent = [sum(test_stalls.independent_stalled(rate_tps).values()) for rate_tps in test_stalls.RATES_TPS]
    closed = [test_stalls.healthy_stalled(connections, draw) for connections, draw in test_stalls.HEALTHY]
    return _results(
        {
            "independent completions, 0.1 to 100 a second, 6, 30 and 120 s": (
                f"{sum(independent)} of {3_000 * len(independent):,} runs"
            ),
            "closed loops of 1 to 16 connections, mean times of 0.3 to 5 s, a minute": (
                f"{sum(closed)} of {100 * len(closed)} runs"
            ),
        },
        "Called stalled",
    ) + _basis("As many runs as stated", "seeds 43 and 53", "truth/test_stalls")


def lag() -> str:
    """Lag of replicas: bounded or growing."""
    bounded, growing = test_replica_lag.BOUNDED, test_replica_lag.GROWING
    kinds = {
        f"{len(bounded)} kinds of bounded lag, the least and the most": list(bounded.values()),
        "sawtooth as long as the window": [test_replica_lag.sawtooth(1.0)],
        "replica 5 % too slow, autocorrelated lag": [growing["5 % too slow, autocorrelated"]],
        "replica 10 % too slow, with a stall in the window": [growing["10 % too slow, one stall"]],
    }
    lengths = (10, 30, 60, 300)
    rows = [
        (words, *(_percent(*(test_replica_lag.share_growing(world, size) for world in worlds)) for size in lengths))
        for words, worlds in kinds.items()
    ]
    return _table(["Called growing in a window of", *(f"{size} s" for size in lengths)], rows) + _basis(
        f"{test_replica_lag.STUDIES} windows for each figure", "seed 20", "truth/test_replica_lag"
    )


def weather() -> str:
    """Trials on a machine that was slower than usual."""
    shapes = list(product(test_weather.TRIALS, test_weather.COMMON))
    calm = {kind: [test_weather.share_marked(kind, *shape, CALM) for shape in shapes] for kind in test_weather.NOISES}
    slow = {
        kind: [test_weather.share_found(kind, trials, 4, 0.05, 1.5, CALM) for trials in test_weather.TRIALS]
        for kind in ("normal", "t3")
    }
    slightly = test_weather.share_found("normal", 24, 4, 0.02, 1.1, CALM)
    return _results(
        {
            "calm studies of 6 to 100 trials, normal noise: any trial is marked": _percent(*calm["normal"]),
            "the same, heavy tails": _percent(*calm["t3"], *calm["lognormal"]),
            "a machine slower by half in four figures, normal noise of 5 %: found": _percent(*slow["normal"]),
            "the same, heavy tails: found": _percent(*slow["t3"]),
            "a machine slower by 10 % in four figures, normal noise of 2 %, 24 trials: found": _percent(slightly),
        }
    ) + _basis(f"{CALM} studies for each figure", "seed 3, for calm studies the number of trials", "truth/test_weather")


def disturbance() -> str:
    """Other programs on the machine."""
    worlds, count = test_disturbance.WORLDS, test_disturbance.STUDIES
    beside = [test_disturbance.studies(worlds["beside the second"], connections=one) for one in (1, 4, 32)]
    faster = test_disturbance.studies(worlds["mild"], ratio=1.3)
    calm = [test_disturbance.duets(worlds[name], ratio=1.3) for name in ("calm", "lowest priority")]
    of_duets = {name: test_disturbance.duets(worlds[name]) for name in ("busy", "heavy", "once", "long")}

    def unmarked(*found: test_disturbance.Counts) -> str:
        return _whole(*(one.too_low_unmarked / one.too_low for one in found))

    return _results(
        {
            "1 to 4 programs beside the second of two equal systems: winner by a paired t test": _whole(
                *(found.named / count for found in beside)
            ),
            "the same, by Plimsoll's rule, by over 5 %": _whole(*(found.kept_large / count for found in beside)),
            "another program for 20 of 60 s, a system 1.3 times as fast: named by a paired t test": _whole(
                faster.named / count
            ),
            "the same, by Plimsoll's rule: named": _whole(faster.kept / count),
            "spells of 100 s of 1 to 4 programs: figures over 10 % too low that are not marked": unmarked(
                test_disturbance.studies(worlds["long"])
            ),
            "duets of 5 rounds on a calm machine: figures that are marked": _whole(
                *(found.marked / count / 2 for found in calm)
            ),
            "duets, figures over 10 % too low that are not marked: spells of 20 s of up to 4 or 8 programs": unmarked(
                of_duets["busy"], of_duets["heavy"]
            ),
            "duets, the same: one spell of 40 s": unmarked(of_duets["once"]),
            "duets, the same: spells of 100 s, through most of so short a study": unmarked(of_duets["long"]),
        }
    ) + _basis(f"{count} studies for each figure", "seed 1", "truth/test_disturbance")


def scalability() -> str:
    """Peaks of scaling laws, and equal waits."""
    shapes = {"clear": test_scalability.CLEAR, "near the last level": test_scalability.NEAR_THE_LAST_LEVEL}
    peaks = {
        f"95 % interval of a planted peak of the USL, {words}: contains it": _percent(
            *(test_scalability.peaks(shape, (block, block))[0] for block in BLOCK_EFFECTS)
        )
        for words, shape in shapes.items()
    }
    waits = [test_where_time.share_named_alone(block, WAITS) for block in BLOCK_EFFECTS]
    return _results({**peaks, "of two equal waits, one is named alone": _percent(*waits)}) + _basis(
        f"{test_scalability.COVERED_STUDIES} studies for each figure, {WAITS} of waits",
        f"seed 5, for waits 0 to {WAITS - 1}",
        "truth/test_scalability",
        "truth/test_where_time",
    )


SEARCHED = {
    "steady": "nothing but arrivals",
    "independent": "speed by 10 %, independently every 0.1 s",
    "autocorrelated": "speed by 4 %, autocorrelated 0.9",
    "slowly-autocorrelated": "speed by 5 %, autocorrelated 0.93",
    "runs-differ-1": "also mean speed between runs, by 1 %",
    "runs-differ-3": "also mean speed between runs, by 3 %",
    "stalls-100": "stalls of 0.1 s every 100 s",
    "stalls-60": "stalls of 0.1 s every 60 s, runs of 120 s",
    "stalls-45": "stalls of 0.1 s every 45 s, runs of 120 s",
}
SPELLS = {
    "mild": "5 to 25 % slower, a minute of three",
    "busy": "30 to 70 % slower, a minute of three",
    "heavy": "40 to 85 % slower, half of the time",
    "long": "30 to 70 % slower, five minutes of fifteen",
    "once": "80 % slower for three minutes, once",
}
_OF_SEARCHES = (
    f"{SEARCHES} searches for each row",
    f"seeds from {test_capacity.FIRST_SEED:,} on",
    "truth/test_capacity",
)


def _seeds() -> range:
    return range(test_capacity.FIRST_SEED, test_capacity.FIRST_SEED + SEARCHES)


def _near(answers: Sequence[test_capacity.Capacity], truth_tps: float, within: float) -> int:
    return sum(abs((answer.capacity_tps or 0.0) / truth_tps - 1) <= within for answer in answers)


def _off(values: Iterable[float | None], truth_tps: float) -> str:
    """The median of known values against the truth."""
    percent = 100 * (float(np.median([value for value in values if value is not None])) / truth_tps - 1)
    return f"{round(percent, 1) or 0.0:+.1f} %"


def _ends(answers: Sequence[test_capacity.Capacity], truth_tps: float) -> tuple[int, int, int]:
    """How often `low` is not above the truth, `high` not below it, and `high` unknown; unknown ends are not wrong."""
    return (
        sum(answer.low is None or answer.low <= truth_tps for answer in answers),
        sum(answer.high is None or answer.high >= truth_tps for answer in answers),
        sum(answer.high is None for answer in answers),
    )


def searches() -> str:
    """One search on a machine of its own."""
    rows = []
    for name, words in SEARCHED.items():
        world = {**test_capacity.WORLDS, **test_capacity.LONG_WORLDS}[name]
        truth_tps, answers = world.truth_tps, [test_capacity.searched(world, seed) for seed in _seeds()]
        lows, highs, open_count = _ends(answers, truth_tps)
        error = _off((answer.capacity_tps for answer in answers), truth_tps)
        ends = [_off((getattr(answer, end) for answer in answers), truth_tps) for end in ("low", "high")]
        near = [_near(answers, truth_tps, within) for within in (0.03, 0.05)]
        rows.append((words, *near, f"{lows} and {highs}", error, " and ".join(ends), open_count))
    header = ["What varies", "within 3 %", "within 5 %", "`low` <= truth, truth <= `high`", "median error"]
    return _table([*header, "median `low` and `high`", "`high` unknown"], rows) + _basis(*_OF_SEARCHES)


def spells() -> str:
    """One search beside other programs, of which it sees nothing."""
    world, rows = test_capacity.WORLDS["autocorrelated"], []
    for name, words in SPELLS.items():
        neighbour = test_capacity.NEIGHBOURS[name]
        answers = [test_capacity.searched(world, seed, neighbour.machine(seed)) for seed in _seeds()]
        lows, highs, open_count = _ends(answers, world.truth_tps)
        error = _off((answer.capacity_tps for answer in answers), world.truth_tps)
        rows.append((words, _near(answers, world.truth_tps, 0.05), lows, open_count, SEARCHES - highs, error))
    header = ["Spells", "within 5 %", "`low` <= truth", "`high` unknown", "truth above `high`", "median error"]
    return _table(header, rows) + _basis(*_OF_SEARCHES)


def disturbed_searches() -> str:
    """One search that sees how long threads waited for a processor."""
    world = test_capacity.WORLDS["autocorrelated"]
    machines: dict[str, Callable[[int], test_capacity.Times | None]] = {
        "none": lambda _: None,
        **{words: test_capacity.NEIGHBOURS[name].machine for name, words in SPELLS.items()},
        "half as fast for the first three minutes, in each second alike": lambda _: np.repeat([0.5, 1.0], [180, 3420]),
        "5 to 85 % slower in each second, always": test_capacity.never_quiet,
        "the same from the end of the sweep on": lambda seed: test_capacity.never_quiet(seed, calm_s=24),
        "the same from two minutes on": lambda seed: test_capacity.never_quiet(seed, calm_s=120),
    }
    rows, held = [], list[float]()
    for words, machine_of in machines.items():
        found = [test_capacity.search_on(world, seed, machine_of(seed)) for seed in _seeds()]
        others = [answer for answer, _ in found if not test_capacity.says_disturbed(answer)]
        lows, highs, _ = _ends(others, world.truth_tps)
        wrong = 2 * len(others) - lows - highs
        took_s = float(np.median([took_s for _, took_s in found]))
        near = f"{_near(others, world.truth_tps, 0.05)} of {len(others)}" if others else ""
        minutes = f"{took_s // 60:.0f} min {took_s % 60:02.0f} s"
        rows.append((words, SEARCHES - len(others), near, SEARCHES - wrong, minutes))
        if words.startswith("the same"):
            held += [answer.low / world.truth_tps - 1 for answer, _ in found if answer.low is not None]
    header = ["Spells", "disturbed", "of the others: within 5 %", "an interval that holds the truth, or disturbed"]
    range_held = f"{100 * min(held):+.1f} to {100 * max(held):+.1f} % off the capacity"
    note = (
        f"\nIn the last two rows, the highest rate that held was {range_held}; a single short run may hold above it.\n"
    )
    return _table([*header, "median time"], rows) + _basis(*_OF_SEARCHES) + note


def single_searches() -> str:
    """Two systems that were searched once each."""
    chosen, share_named = test_single_searches.CHOSEN, test_single_searches.share_named
    results = {
        f"servers of equal speed, searched once each, {words}: differ significantly": _percent(
            *(share_named(name, start_noise, PAIRS) for name in chosen)
        )
        for words, start_noise in (("starts alike", 0.0), ("starts differ by 3 %", 0.03))
    }
    return _results(results) + _basis(
        f"{PAIRS} pairs on each of {len(chosen)} servers of the first table",
        "seeds from 70,000 on",
        "truth/test_single_searches",
    )


RAMPED = {
    "calm": "nothing else runs",
    "fast and even": "nothing else runs, a fast and even server",
    "mild": "a minute of three 5 to 25 % slower",
    "busy": "a minute of three 30 to 70 % slower",
    "heavy": "half of the time 40 to 85 % slower",
    "long": "five minutes of ten 40 to 80 % slower",
    "once": "80 % slower for three minutes, once",
    "bursts": "three seconds of fifteen 30 to 70 % slower",
    "stalls": "both servers stand still for 0.2 s every 8 s",
    "drift": "12 % faster after seven minutes",
    "starts differ": "starts of the servers differ by 3 %",
    "beside the second": "half as fast beside the second system, always",
    "a little beside the second": "15 % slower beside the second system, always",
    "spells beside the second": "60 % slower beside the second system, in half of its ramps",
}


def ramps() -> str:
    """Two capacities by ramps in pairs."""
    rows = []
    for name, words in RAMPED.items():
        equal, faster = (test_ramps.verdicts(name, ratio, CLIMBS) for ratio in (1.0, test_ramps.RATIO))
        counts = (equal["faster"] + equal["slower"], equal["disturbed"])
        counts += (faster["faster"], faster["slower"], faster["disturbed"])
        rows.append((words, *(_percent(count / CLIMBS) for count in counts)))
    header = ["The machine", "equal systems: named a winner", "disturbed", "second 1.30 times as fast: found"]
    return _table([*header, "named wrong", "disturbed"], rows) + _basis(
        f"{CLIMBS} studies of up to seven minutes for each row and ratio",
        f"seeds from {test_ramps.FIRST_SEED:,} on",
        "truth/test_ramps",
    )


def sizing() -> str:
    """Systems that are too small, and what is said of them."""
    quiet = [name for name in test_capacity.WORLDS if not name.startswith("stalls")]
    worlds = {name: test_capacity.WORLDS[name].truth_tps for name in quiet}
    by_capacity = test_sizing_capacities.share_that_fits
    small = [by_capacity(name, truth_tps / 0.98, count) for name, truth_tps in worlds.items() for count in (2, 3)]
    large = [by_capacity(name, 0.8 * truth_tps) for name, truth_tps in worlds.items()]
    by_rate, too_small_tps = test_sizing_rates.share_that_fits, 0.98 * test_sizing_rates.RATE_TPS
    alike = [by_rate(name, too_small_tps, 10) for name in test_sizing_rates.WORLDS if name != "runs-differ-10"]
    closed = [
        test_sizing.share_too_small_that_fits(*world)
        for world in product(test_sizing.LEVELS, test_sizing.NOISES, test_sizing.BLOCK_EFFECTS)
    ]
    slow = [
        test_sizing.share_too_slow_that_fits(*world) for world in product(test_sizing.LEVELS, test_sizing.BLOCK_EFFECTS)
    ]
    return _results(
        {
            "capacity 2 % below the load, two or three searches": _percent(*small),
            "capacity a quarter above the load, three searches, no headroom": _percent(*large),
            "target rates, system 2 % too small, runs differ by up to 3 % in speed": _percent(*alike),
            "the same, runs differ by 10 %": _percent(by_rate("runs-differ-10", too_small_tps, 10)),
            "the same, four repetitions": _percent(by_rate("runs-differ-10", too_small_tps, 10, repetitions=4)),
            "closed loops, system 2 % too small": _percent(*closed),
            "closed loops, p99 5 % above the objective": _percent(*slow),
        },
        "Fits",
    ) + _basis(
        f"All pairs and triples of {test_sizing_capacities.SEARCHES} searches on each server of the first table of"
        f" searches without stalls; {test_sizing_rates.STUDIES} studies of three of {test_sizing_rates.RUNS} runs;"
        f" {test_sizing.STUDIES} studies of closed loops for each figure",
        f"seeds from {test_sizing_capacities.FIRST_SEED:,} on; 11 and 13; 1 and 2",
        "truth/test_sizing_capacities",
        "truth/test_sizing_rates",
        "truth/test_sizing",
    )


def compare_equal() -> str:
    """Comparisons of equal systems."""
    rows = []
    for words, paired in (("within one study", True), ("two studies of one session", False)):
        made = (test_compare.answers(ratio=1.0, block=block, paired=paired, count=COMPARED) for block in BLOCK_EFFECTS)
        rows.append((words, _percent(*(_share(map(test_compare.names_a_winner, found)) for found in made))))
    header = [
        "Equal systems, 4 levels, 5 repetitions, noise of 2 %",
        "a winner is named at some level or over all levels",
    ]
    return _table(header, rows) + _basis(
        f"{COMPARED} comparisons for each figure", _FROM_PARAMETERS, "truth/test_compare"
    )


def compare_gate() -> str:
    """What a gate says of versions that are slower, or not."""
    rows = []
    for repetitions, noise in ((3, 0.01), (3, 0.02), (3, 0.04), (5, 0.01), (5, 0.02), (5, 0.04), (8, 0.02), (8, 0.04)):
        cells = []
        for ratio in (1.0, 0.95, 0.9):
            found = test_compare.answers(
                ratio=ratio, block=0.0, paired=True, repetitions=repetitions, noise=noise, count=COMPARED
            )
            outcomes = (GateOutcome.FAILED, GateOutcome.PASSED, GateOutcome.UNDECIDED)
            cells.append(" / ".join(f"{100 * test_compare.share(found, outcome):.0f}" for outcome in outcomes))
        rows.append((repetitions, f"{noise * 100:.0f} %", *cells))
    return _table(["Repetitions", "Noise", "equal systems", "5 % slower", "10 % slower"], rows) + _basis(
        f"{COMPARED} studies for each entry", _FROM_PARAMETERS, "truth/test_compare"
    )


def compare_baselines() -> str:
    """Two studies of a machine that moves between sessions."""
    sessions, rows = test_compare_sessions, []
    for moves, count in ((0.02, 3), (0.02, 10), *product((0.1,), (2, 3, 5, 10)), *product((0.3,), (3, 5, 10))):
        equal, faster = (sessions.answers(moves, count, ratio=ratio) for ratio in (1.0, 1.3))
        effects = [answer.comparisons[0].smallest_effect for answer in equal]
        detectable = float(np.median([effect for effect in effects if effect is not None]))
        winners = [_percent(sessions.winners(found)) for found in (equal, faster)]
        rows.append((_whole(moves), count, *winners, f"{detectable:.3g}"))
    header = ["Sessions move by", "Baselines", "Winner, equal", "Winner, 1.30 times", "Detectable"]
    return _table(header, rows) + _basis(
        f"{sessions.PAIRS} pairs of studies for each figure", _FROM_PARAMETERS, "truth/test_compare_sessions"
    )


def compare_alternating() -> str:
    """Two studies whose sessions alternate."""
    sessions, rows = test_compare_sessions, []
    for moves, count in ((0.02, 2), (0.1, 2), (0.1, 4), (0.1, 6), (0.3, 4), (0.3, 6)):
        found = [sessions.alternating(moves, count, ratio=ratio) for ratio in (1.0, 1.3)]
        winners = [_percent(sessions.winners(answers)) for answers in found]
        rows.append((_whole(moves), count, *winners))
    return _table(["Sessions move by", "Sessions of each", "Winner, equal", "Winner, 1.30 times"], rows) + _basis(
        f"{sessions.PAIRS} pairs of studies for each figure", _FROM_PARAMETERS, "truth/test_compare_sessions"
    )


def compare_stopped() -> str:
    """Studies that stopped by themselves."""
    at_any_look, deviations = test_compare_at_any_look, (0.02, 0.05)
    two = {sd: at_any_look.shares_of_two_studies(sd) for sd in deviations}
    one = [
        _share(map(at_any_look.names_a_winner, at_any_look.answers(world, sd, levels=levels)))
        for world, sd, levels in product(("normal", "heavy tails", "outliers"), (0.02, 0.05, 0.10), ((4,), (1, 4)))
    ]
    words = {False: "by a t test", True: "by Plimsoll's intervals"}
    results = {
        f"two studies, noise of {sd * 100:.0f} %, {words[own]}": _percent(two[sd][own])
        for own, sd in product(words, deviations)
    }
    results["two systems of one study, noise of 2, 5 and 10 %, also heavy tails and outliers"] = _percent(*one)
    return _results(results, "A winner is named") + _basis(
        f"{at_any_look.STUDIES} pairs of equal systems for each figure",
        f"seed 3; {_FROM_PARAMETERS} in the last row",
        "truth/test_compare_at_any_look",
    )


_MAKERS = (
    *(trend_steps, trend_answers),
    *(searches, disturbed_searches, ramps, spells, systems, effects_of_factors, duets, single_searches, states),
    *(sequential, sizing, compare_gate, environments, disturbance, scalability, compare_baselines),
    *(compare_alternating, compare_equal, compare_stopped, weather, far_below, stalls, lag, within_a_run),
)
PARTS = {maker.__name__.replace("_", "-"): maker for maker in _MAKERS}
"""By the name in their markers; those that take longest begin first."""


if __name__ == "__main__":
    main()
