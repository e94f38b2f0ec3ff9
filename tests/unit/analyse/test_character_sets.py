"""Columns that have another character set than a study gave the server; nothing where it gave none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from plimsoll.analyse.findings.options import check_character_sets
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import InstanceFacts
from plimsoll.record.level import Level
from plimsoll.record.server_facts import ColumnFacts, DataFacts, TableFacts

STATED = "[mysqld]\ncharacter_set_server=latin1\n"


def server(option_file: str, *character_sets: str | None, own: str = "latin1") -> InstanceFacts:
    columns = {
        f"c{number}": ColumnFacts(type="text", character_set=character_set)
        for number, character_set in enumerate(character_sets)
    }
    return InstanceFacts(
        name="a",
        option_file=option_file,
        variables={"character_set_server": own},
        data=DataFacts(tables={"t": TableFacts(columns=columns)}),
    )


def seen(*instances: InstanceFacts) -> list[object]:
    system, workload = SimpleNamespace(name="s"), SimpleNamespace(name="w")
    trial = SimpleNamespace(trial_id="t", system=system, workload=workload, level=Level(connections=1))
    summary = SimpleNamespace(trial=trial, environment=SimpleNamespace(instances=instances))
    return [
        character_set.evidence.figures["columns"]
        for character_set in check_character_sets(cast("TrialSummary", summary))
    ]


def test_columns_that_keep_their_own_are_told_once_for_instances_that_agree() -> None:
    one = server(STATED, "latin1", "ascii", None, "utf8mb4")
    assert seen(one, one) == [("t.c1: ascii", "t.c3: utf8mb4")]


@pytest.mark.parametrize(
    "one",
    [
        server(STATED, "latin1", None),
        server("[mysqld]\nport=1\n", "ascii"),
        server("[mysqld]\ncollation-server=utf8_bin\n", "utf8mb3", own="utf8"),
        InstanceFacts(name="a", option_file=STATED, variables={"character_set_server": "latin1"}),
    ],
)
def test_nothing_is_told_where_none_was_stated_or_all_agree(one: InstanceFacts) -> None:
    assert seen(one) == []
