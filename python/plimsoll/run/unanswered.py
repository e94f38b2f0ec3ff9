"""Trials whose server was gone or silent when they ended: what was measured before is no result of the trial.

Deliberately not here: when a server counts as silent (package `analyse`, `silence`).
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.analyse.trial_summary import TrialSummary
from plimsoll.record.model import Outcome


def why_unanswered(outcome: Outcome, connected: Mapping[str, int], summary: TrialSummary | None) -> str | None:
    """Why nobody answered any more when the load ended, as a sentence with its cure; None when somebody did.

    Args:
        outcome: With the outages of the trial.
        connected: Connections that were open at the end of the last interval, by instance.
        summary: What was measured; None where nothing was.
    """
    end_s = outcome.account.duration_s if outcome.account is not None else 0.0
    for outage in outcome.outages:
        if outage.to_s is None and connected.get(outage.instance) == 0:
            return (
                f"{outage.instance}: no connection to the server could be opened again from {outage.from_s:.1f} s until"
                f" the load ended at {end_s:.1f} s; check the server's error log"
            )
    silence = None if summary is None else summary.quiet.silence
    if silence is not None:
        return (
            f"{silence.instance}: the server answered nothing from {silence.from_s:.1f} s until the load ended at"
            f" {end_s:.1f} s, and its connections stayed open; check the server, its error log, its disks, and"
            " the network"
        )
    return None
