"""When a trial's server was gone or silent at its end, and what is said then."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.trial.trial_summary import TrialSummary, summarise
from plimsoll.record.model import EngineAccount, OutageRecord, Outcome, Verdict
from plimsoll.run.spool import why_unanswered
from support.made import measured

ACCOUNT = EngineAccount(
    started_unix_s=0, duration_s=12.3, offered_count=9, unfinished_count=0, client_user_s=0, client_system_s=0,
    client_memory_bytes_max=1,
)  # fmt: skip
S = 1_000_000_000


def lost(*, from_s: float = 4.5, to_s: float | None = None, instance: str = "a") -> OutageRecord:
    return OutageRecord(instance=instance, from_s=from_s, to_s=to_s, connections_count=4, lost_count=4)


def outcome(*outages: OutageRecord) -> Outcome:
    return Outcome(verdict=Verdict.COMPLETE, account=ACCOUNT, outages=outages, outages_count=len(outages))


def summary(rates: list[float], after_tps: list[float], ages_s: dict[int, float]) -> TrialSummary:
    """Four connections, each of which has one in flight of that age at the end of a second."""
    in_flight = {second: np.full(4, round(age * S)) for second, age in ages_s.items()}
    quick = np.full(1000, 2_000_000)
    made = measured(rates, after_tps=after_tps, in_flight=in_flight, response_ns=quick, unfinished=4)
    found = summarise(made)
    assert found is not None
    return found


def test_connections_that_are_not_back_at_the_end_are_told() -> None:
    assert why_unanswered(outcome(lost()), {"a": 0}, None) == (
        "a: no connection to the server could be opened again from 4.5 s until the load ended at 12.3 s;"
        " check the server's error log"
    )


@pytest.mark.parametrize(
    ("outage", "connected"),
    [(lost(to_s=6.0), {"a": 4}), (lost(), {"a": 1}), (lost(instance="b"), {"a": 0, "b": 4})],
    ids=["they are back", "one is", "of another instance"],
)
def test_other_outages_end_no_trial(outage: OutageRecord, connected: dict[str, int]) -> None:
    assert why_unanswered(outcome(outage), connected, None) is None


def test_silence_to_the_end_is_told_with_its_begin() -> None:
    ages = {6: 1.0, 7: 2.0, 8: 3.0, 9: 4.0, 10: 5.0, 11: 6.0}
    silent = summary([500.0] * 6 + [0.0] * 4, [0.0, 0.0], ages)
    said = why_unanswered(outcome(), {"one": 4}, silent)
    assert said is not None
    assert said.startswith("one: the server answered nothing from 8.0 s until the load ended at 12.3 s")


def test_a_stall_that_was_over_ends_no_trial() -> None:
    over = summary([500.0] * 6 + [0.0] * 4, [2000.0, 0.0], {6: 1.0, 7: 2.0, 8: 3.0, 9: 4.0})
    assert over.quiet.stalls
    assert why_unanswered(outcome(), {"one": 4}, over) is None
