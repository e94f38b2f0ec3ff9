"""Puts `[learned]` into the text of a workload file and changes nothing else in it. TOML by tomlkit.

Deliberately not here: what it means (`plimsoll.spec.learned`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import tomlkit

from plimsoll.learn.demand_model import Demand
from plimsoll.learn.fidelity import kinds_of
from plimsoll.learn.fidelity_model import Fidelity, LogPeriod
from plimsoll.learn.profile_model import Profile
from plimsoll.learn.report_model import LogReport

_DIGITS = 6


def period_of(profile: Profile, report: LogReport, demand: Demand | None) -> LogPeriod:
    """The log that a workload was learned from."""
    return LogPeriod(
        first_unix_s=None if demand is None else demand.first_unix_s,
        last_unix_s=None if demand is None else demand.last_unix_s,
        transactions_count=report.transactions_count,
        transaction_share=1 - profile.other_share,
        time_share=None if profile.other_time_share is None else 1 - profile.other_time_share,
    )


def with_learned(text: str, period: LogPeriod, fidelity: Fidelity | None = None) -> str:
    """The text of a workload file with `[learned]` at its end, or in place of the one that it has.

    Args:
        text: Of the file.
        period: Of the log.
        fidelity: What a run of it showed; None for none.
    """
    table = tomlkit.table()
    for key, value in _said(period).items():
        table.add(key, value)
    if fidelity is not None:
        table.add("check", _check(fidelity))
    document = tomlkit.parse(text)
    document["learned"] = table
    return tomlkit.dumps(document)


def _said(period: LogPeriod) -> dict[str, Any]:
    said = {
        "from": _moment(period.first_unix_s),
        "to": _moment(period.last_unix_s),
        "transactions": round(period.transactions_count),
        "transaction_share": round(period.transaction_share, _DIGITS),
        "time_share": None if period.time_share is None else round(period.time_share, _DIGITS),
    }
    return {key: value for key, value in said.items() if value is not None}


def _check(fidelity: Fidelity) -> Any:
    table, how = tomlkit.table(), fidelity.conditions
    table.add("at", _moment(how.checked_unix_s))
    table.add("server", how.server)
    table.add("connections", how.connections)
    table.add("duration_s", how.duration_s)
    figures = tomlkit.array()
    for one in kinds_of(fidelity):
        entry = tomlkit.inline_table()
        for key, value in one.model_dump(exclude_none=True).items():
            entry.append(key, round(value, _DIGITS) if isinstance(value, float) else value)
        figures.append(entry)
    table.add("figures", figures.multiline(multiline=True))
    return table


def _moment(unix_s: int | None) -> datetime | None:
    return None if unix_s is None else datetime.fromtimestamp(unix_s, UTC)
