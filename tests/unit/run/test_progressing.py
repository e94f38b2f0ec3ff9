"""What became of a trial's connections reaches its recording."""

from __future__ import annotations

from plimsoll.drive.protocol import ClientCpu, ConnectFailure, Done, Encryption, Outage, Ready
from plimsoll.record.model import ConnectFailureRecord, ConnectionsRecord, EncryptionRecord, OutageRecord, Verdict
from plimsoll.run.rows import IntervalRows
from plimsoll.run.trial_progress import TrialProgress, outcome_of

READY = Ready(
    type="ready",
    connections=7,
    wanted_count=9,
    connect_ms=1500,
    failures=[ConnectFailure(instance="a", code=1040, count=2, message="Too many connections")],
    encryptions=[Encryption(instance="a", role="source", agreed="TLSv1.3 TLS_AES_256_GCM_SHA384")],
    statements=[],
)
OUTAGES = [
    Outage(instance="a", from_ns=1_500_000_000, to_ns=4_000_000_000, connections_count=7, lost_count=6),
    Outage(instance="a", from_ns=5_000_000_000, to_ns=None, connections_count=1, lost_count=0),
]
DONE = Done(
    type="done", reason="completed", started_unix_ns=1, duration_ns=1, offered_count=9, unfinished_count=0,
    client=ClientCpu(user_ns=0, system_ns=0), memory_bytes_max=1, rows_count=0, outages=OUTAGES, outages_count=2,
)  # fmt: skip


def test_connections_and_outages_are_kept_in_seconds() -> None:
    outcome = outcome_of(TrialProgress(rows=IntervalRows(driver="", host=""), ready=READY, done=DONE))
    failure = ConnectFailureRecord(instance="a", code=1040, count=2, message="Too many connections")
    encrypted = EncryptionRecord(instance="a", role="source", agreed="TLSv1.3 TLS_AES_256_GCM_SHA384")
    assert outcome.connections == ConnectionsRecord(
        wanted_count=9, opened_count=7, connect_s=1.5, failures=(failure,), encryptions=(encrypted,)
    )
    assert outcome.outages == (
        OutageRecord(instance="a", from_s=1.5, to_s=4.0, connections_count=7, lost_count=6),
        OutageRecord(instance="a", from_s=5.0, to_s=None, connections_count=1, lost_count=0),
    )
    assert outcome.outages_count == 2


def test_a_trial_that_never_began_has_none() -> None:
    outcome = outcome_of(TrialProgress(rows=IntervalRows(driver="", host="")), failure="no server")
    assert (outcome.verdict, outcome.connections, outcome.outages) == (Verdict.FAILED, None, ())
