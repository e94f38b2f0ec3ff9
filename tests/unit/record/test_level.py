"""Levels: what kinds there are, in which order they come, and what a recording holds of them."""

from __future__ import annotations

import json

import pytest

from plimsoll.record.level import Level, LevelKind
from plimsoll.record.model import SystemRecord, TrialRecord, WorkloadRecord

RATE = Level(connections=16, rate_tps=12.5)


@pytest.mark.parametrize(
    ("level", "kind", "offered", "label"),
    [
        (Level(connections=1), LevelKind.CLOSED, 1, "1 connection"),
        (Level(connections=16, terminals=1000), LevelKind.TERMINALS, 16, "16 connections"),
        (RATE, LevelKind.RATE, 12.5, "target rate 12.5 tps"),
        (Level(connections=0), LevelKind.CLOSED, 0, ""),
    ],
)
def test_a_level_knows_its_kind(level: Level, kind: LevelKind, offered: float, label: str) -> None:
    assert (level.kind, level.offered, level.label()) == (kind, offered, label)


def test_levels_rise_within_a_kind_and_rates_come_last() -> None:
    levels = [RATE, Level(connections=32), Level(connections=4), Level(connections=1, rate_tps=2.0)]
    assert [level.label() for level in sorted(levels, key=lambda level: level.order)] == [
        "4 connections",
        "32 connections",
        "target rate 2 tps",
        "target rate 12.5 tps",
    ]


def test_a_rate_is_shown_in_the_unit_of_its_workload() -> None:
    assert (RATE.figure("tpm"), RATE.label("tpm")) == ("750", "target rate 750 tpm")


def test_a_recording_holds_a_level_as_it_always_did() -> None:
    """Terminals stand with the workload's options."""
    trial = TrialRecord(
        trial_id="t",
        study="s",
        system=SystemRecord(name="a"),
        workload=WorkloadRecord(name="w"),
        level=Level(connections=16, terminals=1000),
        repetition=0,
    )
    document = json.loads(trial.model_dump_json())
    assert document["level"] == {"connections": 16, "connections_per_instance": None, "rate_tps": None}
    assert TrialRecord.model_validate(document).level == Level(connections=16)
