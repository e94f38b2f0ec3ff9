"""How many rows take how many of the accesses, from the distribution that rows are chosen by.

Method: the rows are cut into cells, the share of the accesses that falls into each follows from the distribution
function (the formulas that the load engine draws by, which its tests hold it to), and cells are taken from the densest
on. Up to 20,000 rows each is a cell, so the counts are exact; above that the density is taken as constant within some
8,000 cells. An access is a row number that was drawn: the rows that a range select reads after its first are not
counted. The bell of gaussian and special is that of Irwin and Hall; above 20 draws its normal approximation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.spec.generators import DistributionSpec

Floats = NDArray[np.float64]

SHARES = (50, 90, 99)
"""Percent of the accesses."""

_CELLS = 4096
_EXACT_ROWS = 20_000
_HARMONIC_TERMS = 20_000
_IRWIN_HALL_DRAWS_MAX = 20

NOT_BY_ROW = frozenset({"oltp_insert", "bulk_insert", "select_random_points", "select_random_ranges"})
"""Kinds that do not choose rows by their numbers."""


def working_set(kind: str, options: Mapping[str, Any], tables: int) -> dict[str, int]:
    """Rows, of all tables together, that take 50, 90 and 99 percent of a workload's accesses.

    Empty where rows are not chosen by their numbers.
    """
    by_turns = options.get("nontrx_mode") in ("insert", "delete")
    if kind in NOT_BY_ROW or by_turns or "distribution" not in options:
        return {}
    distribution = DistributionSpec.model_validate(_as_table(options["distribution"]))
    rows = hot_rows(distribution, options["table_size"])
    return {str(share): tables * count for share, count in zip(SHARES, rows, strict=True)}


def _as_table(written: str | dict[str, Any]) -> dict[str, Any]:
    return {"kind": written} if isinstance(written, str) else written


def hot_rows(distribution: DistributionSpec, rows: int) -> tuple[int, ...]:
    """The fewest rows of one table that take 50, 90 and 99 percent of the accesses."""
    below, borders = _below(distribution, rows)
    edges = _edges(rows, borders)
    shares = np.diff(np.clip(below(edges.astype(np.float64)), 0.0, 1.0))
    widths = np.diff(edges)
    order = np.argsort(-shares / widths, kind="stable")
    taken = np.concatenate(([0.0], np.cumsum(shares[order])))
    counted = np.concatenate(([0], np.cumsum(widths[order])))
    row_counts = (float(np.interp(share / 100.0 * taken[-1], taken, counted)) for share in SHARES)
    return tuple(max(1, math.ceil(count - 1e-6)) for count in row_counts)


def _edges(rows: int, borders: tuple[float, ...]) -> NDArray[np.int64]:
    if rows <= _EXACT_ROWS:
        return np.arange(rows + 1)
    near = [round(border) + step for border in borders for step in (-1, 0, 1)]
    points = np.concatenate((np.linspace(0, rows, _CELLS), np.geomspace(1, rows, _CELLS), near))
    return np.unique(np.clip(np.rint(points), 0, rows).astype(np.int64))


def _below(  # noqa: PLR0911 - one for each kind
    distribution: DistributionSpec, rows: int
) -> tuple[Callable[[Floats], Floats], tuple[float, ...]]:
    """The share of accesses to rows before an offset, and where the density jumps."""
    value = distribution.parameters()
    match distribution.kind:
        case "uniform":
            return lambda x: x / rows, ()
        case "gaussian":
            return lambda x: _bell(int(value["draws"]), x / rows), ()
        case "pareto":
            power = math.log(value["h"]) / math.log(1.0 - value["h"])
            return lambda x: (x / rows) ** (1.0 / power), ()
        case "zipfian":
            return lambda x: _harmonic(value["exponent"], x) / _harmonic(value["exponent"], np.array([rows])), ()
        case "hot":
            return _hot(value["shares"], value["exponent"], rows)
        case "special-1.0":
            last, hot = rows - 1, value["hot_accesses_percent"] / 100.0
            whole = last * value["hot_rows_percent"] / 100.0 + 1.0
            first = last / 2.0 - last * value["hot_rows_percent"] / 200.0 + (1.0 - hot) * whole
            return _special(first, hot * whole, hot, int(value["draws"]), max(last, 1))
        case "special-0.4":
            percent = int(value["hot_rows_percent"])
            hot = 1.0 - 1.0 / (100 // (100 - int(value["hot_accesses_percent"])))
            first = rows // 2 - rows * percent // 200 - 1
            return _special(first, max(1, rows * percent // 100), hot, int(value["draws"]), rows)


def _hot(shares: list[float], exponent: float, rows: int) -> tuple[Callable[[Floats], Floats], tuple[float, ...]]:
    """Ranks with shares of their own, and the others after Zipf; where each row has its place does not matter."""
    ranked = np.asarray(shares[:rows], dtype=np.float64)
    total = float(ranked.sum())
    if len(ranked) == rows:
        ranked, total = ranked / total, 1.0
    ends, count = np.concatenate(([0.0], np.cumsum(ranked))), len(ranked)
    first, last = (_harmonic(exponent, np.array([x], dtype=np.float64)) for x in (count, max(rows, count + 1)))

    def below(x: Floats) -> Floats:
        rest = (_harmonic(exponent, np.maximum(x, count)) - first) / (last - first)
        return np.interp(x, np.arange(count + 1), ends) + (1.0 - total) * rest

    return below, tuple(map(float, range(1, count + 1)))


def _special(
    first: float, width: float, hot: float, draws: int, rows: int
) -> tuple[Callable[[Floats], Floats], tuple[float, ...]]:
    """A band of even density that takes the share `hot`, and a bell over all rows."""

    def below(x: Floats) -> Floats:
        band = np.clip((x - first) / max(width, 1e-9), 0.0, 1.0)
        return hot * band + (1.0 - hot) * _bell(draws, np.minimum(x / rows, 1.0))

    return below, (first, first + width)


def _bell(draws: int, x: Floats) -> Floats:
    """The share of means of so many uniform numbers that is below `x`, 0..1."""
    if draws > _IRWIN_HALL_DRAWS_MAX:
        from plimsoll.stats.special import ndtr

        return np.asarray(ndtr((x - 0.5) * math.sqrt(12.0 * draws)), dtype=np.float64)
    near = np.minimum(x, 1.0 - x) * draws
    total = np.zeros_like(near)
    for k in range(draws + 1):
        total += (-1) ** k * math.comb(draws, k) * np.maximum(near - k, 0.0) ** draws
    lower = total / math.factorial(draws)
    return np.where(x <= 0.5, lower, 1.0 - lower)


def _harmonic(exponent: float, x: Floats) -> Floats:
    """The sum of r^-exponent over r = 1..x: term by term at first, then by the Euler-Maclaurin formula."""
    terms = np.concatenate(([0.0], np.cumsum(np.arange(1, _HARMONIC_TERMS + 1, dtype=np.float64) ** -exponent)))
    head = terms[np.minimum(x, _HARMONIC_TERMS).astype(np.int64)]
    from_, to = float(_HARMONIC_TERMS), np.maximum(x, _HARMONIC_TERMS).astype(np.float64)
    if exponent == 1.0:
        tail = np.log(to / from_)
    else:
        tail = (to ** (1.0 - exponent) - from_ ** (1.0 - exponent)) / (1.0 - exponent)
    return np.asarray(head + tail + (to**-exponent - from_**-exponent) / 2.0, dtype=np.float64)
