"""Until when a system sustains a load that grows by the same share each year.

A load of D grows to D (1 + g)^t in t years, so it reaches C after ln(C / D) / ln(1 + g) years; a year has 365.25 days.
C is what the system sustains, D what is needed today, headroom included. With the lower prediction limit of the next
run as C, the day is one at which the next run would still sustain the load with 95 % confidence. Neither the demand
nor its growth has an error of its own here. Deliberately not here: what a system sustains (`size`).
"""

from __future__ import annotations

import math
from datetime import date, timedelta

from plimsoll.analyse.size_model import Horizon, LoadAsked, LoadDemand, SystemFit

YEAR_DAYS = 365.25

HORIZON_YEARS = 50
"""No day is named that is further from today."""


def load_today_tps(demand: LoadDemand) -> float:
    """The load of a log, grown until today; that of a log whose end is yet to come is taken as it is."""
    years = max((demand.today - demand.logged_on).days, 0) / YEAR_DAYS
    return demand.logged_tps * math.exp(years * math.log1p(demand.yearly_growth or 0.0))


def years_until(limit_tps: float, *, now_tps: float, yearly_growth: float) -> float:
    """In how many years a load reaches a limit; negative where it has done so before.

    Args:
        limit_tps: Above 0.
        now_tps: Today's load, above 0.
        yearly_growth: Above 0: 0.3 for 30 % more each year.

    >>> round(years_until(200, now_tps=100, yearly_growth=1.0), 9)
    1.0
    """
    return math.log(limit_tps / now_tps) / math.log1p(yearly_growth)


def with_horizon(fit: SystemFit, asked: LoadAsked) -> SystemFit:
    """A system with its horizon, where the load grows and it is known what the system sustains."""
    demand = asked.demand
    if demand is None or not demand.yearly_growth or not fit.sustains_tps:
        return fit
    growth = demand.yearly_growth
    about = years_until(fit.sustains_tps, now_tps=asked.needed_tps, yearly_growth=growth)
    sure = years_until(fit.sure_tps, now_tps=asked.needed_tps, yearly_growth=growth) if fit.sure_tps else None
    horizon = Horizon(
        about_years=about,
        about_on=_day(demand.today, about),
        sure_years=sure,
        sure_on=None if sure is None else _day(demand.today, sure),
        is_at_least=fit.sustains_is_lower_bound,
    )
    return fit.model_copy(update={"horizon": horizon})


def _day(today: date, years: float) -> date | None:
    return today + timedelta(days=math.floor(years * YEAR_DAYS)) if abs(years) <= HORIZON_YEARS else None
