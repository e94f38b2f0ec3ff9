"""Findings of earlier studies in a study file."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [1, 4] }
[[workload]]
name = "reads"
kind = "oltp_read_only"
[[system]]
name = "a"
server = { managed = "mariadb" }
[[claim]]
says = "Reads peak early."
workload = "reads"
"""


def test_a_range_may_have_no_upper_end() -> None:
    (claim,) = parse_study(STUDY + "peak_per_cpu = [0.5, inf]").claim
    assert (claim.check, claim.peak_per_cpu) == ("peak_per_cpu", (0.5, float("inf")))


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ("", "give exactly one of"),
        ('peak_connections = [1, 4]\nlimited_by = "hardware"', "give exactly one of"),
        ("ratio = [1, 2]", "either base (another system) or base_workload"),
        ('ratio = [1, 2]\nbase = "b"', "there is no system 'b'"),
        ('ratio = [1, 2]\nbase_workload = "writes"', "there is no workload 'writes'"),
        ("scale_factor = [1, 2]", "claim[0].connections: say at which level"),
        ("scale_factor = [1, 2]\nconnections = 16", "no level of the study has 16 connections"),
        ("peak_connections = [2, 3]", "claim[0].peak_connections: no level of the study lies within [2, 3]"),
        ("ratio = [2, 1]", "the lower one first"),
        ("ratio = [0, 0]", "must be two numbers"),
        ("ratio = [nan, 1]", "must be two numbers"),
        ("ratio = [1]", "must be two numbers"),
        ("peek = [1, 2]", "claim[0].peek"),
    ],
)
def test_what_no_figure_can_agree_with_is_refused(keys: str, fault: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_study(STUDY + keys)
    assert fault in "\n".join(caught.value.lines)
