"""The demand of a log as the load that systems are sized for."""

from __future__ import annotations

from datetime import UTC, date, datetime

from plimsoll.analyse.size_model import LoadDemand
from plimsoll.learn.demand_model import Demand, Moments


def sized_demand(demand: Demand, moment: Moments, yearly_growth: float | None, today: date) -> LoadDemand:
    """What `plimsoll.analyse.size` needs of a demand.

    Args:
        demand: Of the log.
        moment: Whose rate is to be sustained.
        yearly_growth: 0.3 for 30 % more each year; None where it is not known.
        today: UTC.
    """
    return LoadDemand(
        at=moment.value,
        logged_tps=demand.rates.at(moment),
        logged_on=datetime.fromtimestamp(demand.last_unix_s, UTC).date(),
        duration_s=demand.duration_s,
        today=today,
        yearly_growth=yearly_growth,
        burstiness=demand.arrivals.burstiness,
        doubts=demand.doubts,
    )
