"""Studies that can be duets, and those that cannot, with their cures."""

from __future__ import annotations

import pytest

from plimsoll.spec.study import StudySpec, counted_s_of_duet, pairs_per_round, parse_study, sweeps_to_warm
from support.faults import assert_refused, faults_of

WORKLOAD = '[[workload]]\nname = "w"\nkind = "oltp_read_only"\n'
SYSTEM = '[[system]]\nname = "{}"\n[system.server]\nmanaged = "mariadb"\n'
TWO = SYSTEM.format("a") + SYSTEM.format("b")
RAMPS = 'capacity = { response_p99 = "50ms" }'


def parsed(
    keys: str = "", systems: str = TWO, workload: str = WORKLOAD, levels: str = "connections = [4]"
) -> StudySpec:
    return parse_study(f'[study]\nname = "s"\ndesign = "duet"\nlevels = {{ {levels} }}\n{keys}\n{workload}{systems}')


def test_a_duet_has_turns_and_rounds_and_their_defaults() -> None:
    study = parsed().study
    assert (study.turn, study.rounds, study.repetition_count, pairs_per_round(study)) == (0.5, 6, 6, 60)
    study = parsed('turn = "200ms"\nduration = "6s"\nrounds = 3').study
    assert (pairs_per_round(study), study.repetition_count) == (15, 3)
    assert counted_s_of_duet(study, 3) == pytest.approx(15 * 2 * 0.16), "against each of two others"
    assert sweeps_to_warm(3.0, study, 2) == 15
    assert sweeps_to_warm(3.0, study, 3) == 8, "a sweep of three has two turns of each"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"keys": "repetitions = 3"}, "study.repetitions: a duet has rounds"),
        ({"keys": 'turn = "50ms"'}, 'study.turn: must be "100ms" to "10s", is 0.05 s'),
        ({"keys": 'duration = "5s"'}, "study.duration: holds 5 pairs of turns of 0.5 s, at least 10"),
        ({"keys": "rounds = 1"}, "study.rounds: must be at least 2, is 1"),
        ({"systems": SYSTEM.format("a")}, "study.design: a duet compares systems; there is one"),
        (
            {"systems": SYSTEM.format("a") + '[[system]]\nname = "b"\ntarget = "mysql://u@db"\nreset = "never"\n'},
            "system[1]: a duet freezes servers",
        ),
        (
            {"levels": "connections = [4], rate_tps = [100.0]"},
            "study.levels.rate_tps: in a duet connections go at their",
        ),
        ({"keys": '[study.clients]\nthink_time = "10ms"'}, "study.clients.think_time: pauses go on while a server"),
        (
            {"workload": '[[workload]]\nname = "w"\nkind = "tpcc"\nwarehouses = 1\ntimes = 1.0\n'},
            "workload[0]: has pauses of its own",
        ),
        ({"levels": RAMPS, "keys": 'turn = "1s"'}, "study.turn: ramps that compare capacities have no turns"),
        ({"levels": RAMPS, "keys": 'rounds = "auto"'}, "study.rounds: must be a number where capacities are compared"),
        (
            {"levels": RAMPS, "keys": 'duration = "auto"'},
            "study.duration: must be a time where capacities are compared",
        ),
        ({"levels": RAMPS, "keys": "repetitions = 3"}, "study.repetitions: a duet has rounds"),
    ],
)
def test_what_cannot_be_a_duet_is_refused_with_its_cure(changes: dict[str, str], fault: str) -> None:
    assert_refused(fault, parsed, **changes)


def test_keys_of_a_duet_belong_to_no_other_study() -> None:
    text = f'[study]\nname = "s"\nlevels = {{ connections = [4] }}\nturn = "1s"\nrounds = 3\n{WORKLOAD}{TWO}'
    assert [line.split(":")[0] for line in faults_of(parse_study, text)] == ["study.turn", "study.rounds"]


def test_capacities_are_compared_in_one_round_of_ramps() -> None:
    study = parsed(levels=RAMPS).study
    assert study.climbs
    assert (study.repetition_count, study.is_until_decided) == (1, False)
    assert parsed("rounds = 2", levels=RAMPS).study.repetition_count == 2
