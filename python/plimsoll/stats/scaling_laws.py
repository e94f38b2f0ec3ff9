"""Fits of three laws of scalability to the throughputs of one curve, and their parametric bootstrap.

With N connections, linear scaling is X = lambda N, Amdahl's law (1967) X = lambda N / (1 + sigma (N - 1)), and the
universal scalability law (USL; Gunther 2007, chapter 4) X = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)), with
sigma, kappa >= 0: the cost of waiting for each other, and of making data agree.

Model of a study: log X = law(N) + repetition + residual. A repetition may be faster or slower as a whole, so lambda is
its own for each repetition, and only sigma and kappa, the shape, follow from how levels differ within one. The start
is non-negative least squares on the linearised form N / X; then bounded Gauss-Newton steps on residuals of log X.

The bootstrap is parametric, with both levels of the model: three repetitions can be resampled in ten ways only, which
gives intervals that are far too narrow. How levels differ within repetitions moves the shape; that variance is drawn
with its own uncertainty (scaled inverse chi-squared). How repetitions differ as wholes moves the height of the curve,
by Student's t of their means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS = 400
_STEPS = 25
_GAIN = 1e-7
"""A step that lowers the squares by a smaller share is the last one."""

_SEED = 20071


class Law(StrEnum):
    """A law of scalability, the simplest first."""

    LINEAR = "linear"
    AMDAHL = "amdahl"
    USL = "usl"

    @property
    def shape_count(self) -> int:
        """How many parameters it has besides lambda."""
        return {Law.LINEAR: 0, Law.AMDAHL: 1, Law.USL: 2}[self]


@dataclass(frozen=True, slots=True)
class Levels:
    """The throughputs of one curve, reduced to what fits need.

    Attributes:
        connections: Shape (levels,), rising.
        log_tps: Mean logarithm of each level with the effects of repetitions removed, shape (levels,).
        weights: Trials of each level, shape (levels,).
        repetitions: How many repetitions there are.
        residual: Variance of a trial's logarithm within repetitions; None where it cannot be known.
        degrees: Its degrees of freedom.
        between: Variance of the repetitions' means, over their levels; 0 with one repetition.
    """

    connections: Floats
    log_tps: Floats
    weights: Floats
    repetitions: int
    residual: float | None
    degrees: int
    between: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """One law fitted to levels.

    Attributes:
        shape: sigma and kappa.
        log_scale: Logarithm of lambda, the throughput of one connection.
        squares: Weighted sum of squared residuals of the levels' means.
    """

    law: Law
    shape: tuple[float, float]
    log_scale: float
    squares: float

    def log_at(self, connections: Floats) -> Floats:
        """Logarithm of the throughput at so many connections."""
        return np.asarray(self.log_scale + log_law(connections, np.array([self.shape]))[0])


def levels_of(log_tps: Floats, connections: Floats) -> Levels:
    """Removes what repetitions have in common from a table of trials.

    Args:
        log_tps: Shape (levels, repetitions); NaN where a trial is missing.
        connections: Shape (levels,), rising.
    """
    there = np.isfinite(log_tps)
    effects = np.zeros(log_tps.shape[1])
    means = np.zeros(log_tps.shape[0])
    filled = np.where(there, log_tps, 0.0)
    for _ in range(1 if there.all() else 200):  # a complete table needs one round, others converge quickly
        means = ((filled - effects) * there).sum(1) / there.sum(1)
        effects = ((filled - means[:, None]) * there).sum(0) / there.sum(0)
        effects -= effects.mean()
    means = ((filled - effects) * there).sum(1) / there.sum(1)
    left = np.where(there, filled - means[:, None] - effects, 0.0)
    repetitions = log_tps.shape[1]
    degrees = int(there.sum()) - log_tps.shape[0] - (repetitions - 1)
    residual = float((left**2).sum()) / degrees if repetitions > 1 and degrees > 0 else None
    between = float(effects.var(ddof=1)) if repetitions > 1 else 0.0
    weights = there.sum(1).astype(np.float64)
    return Levels(connections, means, weights, repetitions, residual, max(degrees, 0), between)


def log_law(connections: Floats, shapes: Floats) -> Floats:
    """Logarithm of throughput over lambda; shapes (draws, 2) give (draws, levels)."""
    return np.asarray(np.log(connections) - np.log(_cost(connections, shapes)))


def _cost(connections: Floats, shapes: Floats) -> Floats:
    ones = connections - 1.0
    return np.asarray(1.0 + shapes[:, :1] * ones + shapes[:, 1:] * connections * ones)


def fit(levels: Levels, law: Law) -> Fitted:
    """The law nearest to the levels, by weighted least squares of logarithms."""
    start = _linearised(levels, law)
    shapes, log_scales, squares = fit_many(levels, levels.log_tps[None, :], law, start)
    return Fitted(law, (float(shapes[0, 0]), float(shapes[0, 1])), float(log_scales[0]), float(squares[0]))


def _linearised(levels: Levels, law: Law) -> Floats:
    """N / X = a + b (N - 1) + c N (N - 1) with a, b, c >= 0, in relative errors."""
    from plimsoll.stats.special import nnls

    n = levels.connections
    columns = np.stack([np.ones_like(n), n - 1, n * (n - 1)], axis=1)[:, : 1 + law.shape_count]
    cost = n / np.exp(levels.log_tps - levels.log_tps.mean())
    coefficients = np.zeros(3)
    coefficients[: columns.shape[1]] = nnls(columns / cost[:, None], np.ones_like(n))[0]
    return coefficients[1:] / coefficients[0] if coefficients[0] > 0 else np.zeros(2)


def fit_many(levels: Levels, log_tps: Floats, law: Law, start: Floats) -> tuple[Floats, Floats, Floats]:
    """Fits a law to many made-up studies at once.

    Args:
        levels: Connections and weights.
        log_tps: Means of levels, shape (draws, levels).
        law: Which.
        start: sigma and kappa to start from.

    Returns:
        Shapes (draws, 2), logarithms of lambda (draws,), weighted sums of squares (draws,).
    """
    weights = levels.weights / levels.weights.sum()
    shapes = np.tile(start * (np.arange(2) < law.shape_count), (log_tps.shape[0], 1))
    left, squares = _residuals(levels.connections, weights, log_tps, shapes)
    for _ in range(_STEPS if law.shape_count else 0):
        step = _newton(levels.connections, weights, left, shapes, law) - shapes
        improved = False
        for scale in (1.0, 0.3, 0.05):
            tried = shapes + scale * step
            new_left, new_squares = _residuals(levels.connections, weights, log_tps, tried)
            better = new_squares < squares * (1 - _GAIN)
            improved |= bool(better.any())
            shapes = np.where(better[:, None], tried, shapes)
            left = np.where(better[:, None], new_left, left)
            squares = np.where(better, new_squares, squares)
            if better.all():
                break
            step = np.where(better[:, None], 0.0, step)
        if not improved:
            break
    scales = ((log_tps - log_law(levels.connections, shapes)) * weights).sum(1)
    return shapes, scales, squares * levels.weights.sum()


def _residuals(n: Floats, weights: Floats, log_tps: Floats, shapes: Floats) -> tuple[Floats, Floats]:
    left = log_tps - log_law(n, shapes)
    left = left - (left * weights).sum(1, keepdims=True)
    return left, (left**2 * weights).sum(1)


def _newton(n: Floats, weights: Floats, left: Floats, shapes: Floats, law: Law) -> Floats:
    """The shapes that minimise the squares of the linearised residuals, each at least 0: one of four active sets."""
    slopes = np.stack([n - 1, n * (n - 1)], axis=0)[:, None, :] / _cost(n, shapes)
    slopes = slopes - (slopes * weights).sum(2, keepdims=True)
    goal = -left + (slopes * shapes.T[:, :, None]).sum(0)  # cost rises with the shape: log X falls
    a, b, c = ((slopes[i] * slopes[j] * weights).sum(1) for i, j in ((0, 0), (0, 1), (1, 1)))
    p, q = ((slopes[i] * goal * weights).sum(1) for i in (0, 1))
    tiny = 1e-300
    zero = np.zeros_like(a)
    candidates = [(zero, zero), (np.maximum(p / (a + tiny), 0), zero)]
    if law is Law.USL:
        determinant = a * c - b * b
        both = ((c * p - b * q) / (determinant + tiny), (a * q - b * p) / (determinant + tiny))
        inside = (both[0] >= 0) & (both[1] >= 0) & (determinant > 1e-12 * a * c)
        candidates += [
            (zero, np.maximum(q / (c + tiny), 0)),
            (np.where(inside, both[0], 0.0), np.where(inside, both[1], 0.0)),
        ]
    values = np.stack([a * s**2 + 2 * b * s * k + c * k**2 - 2 * p * s - 2 * q * k for s, k in candidates])
    best = values.argmin(0)
    return np.stack([np.choose(best, [candidate[index] for candidate in candidates]) for index in (0, 1)], axis=1)


def corrected_aic(levels: Levels, fitted: Fitted) -> float:
    """AICc (Hurvich and Tsai 1989) of all trials: their residuals within repetitions and those of the levels' means.

    Every repetition's lambda and the variance count as parameters. Infinite where there are too few trials.
    """
    count = float(levels.weights.sum())
    parameters = fitted.law.shape_count + levels.repetitions + 1
    if count - parameters - 1 <= 0:
        return math.inf
    squares = max(fitted.squares + (levels.residual or 0.0) * levels.degrees, 1e-12 * count)
    return count * math.log(squares / count) + 2 * parameters * count / (count - parameters - 1)


def misfit_probability(levels: Levels, fitted: Fitted) -> float | None:
    """Chance of residuals of the levels' means as large as these if the law were true: F test for lack of fit.

    None without repetitions, or where the levels are no more than the law's parameters. Source: Draper and Smith 1998,
    chapter 2.
    """
    from plimsoll.stats.special import fdtrc

    degrees = levels.connections.size - 1 - fitted.law.shape_count
    if levels.residual is None or levels.residual <= 0 or degrees <= 0:
        return None
    return float(fdtrc(degrees, levels.degrees, fitted.squares / degrees / levels.residual))


def bootstrap(levels: Levels, fitted: Fitted, draws: int = DRAWS) -> tuple[Floats, Floats]:
    """The law fitted again to studies drawn from the fit: shapes (draws, 2) and logarithms of lambda (draws,).

    Without repetitions the residuals of the levels stand for the noise. The seed is fixed: a guide that is built again
    says the same.
    """
    random = np.random.default_rng(_SEED)
    residual_degrees = levels.connections.size - 1 - fitted.law.shape_count
    if levels.residual is None:
        variance, degrees = fitted.squares / max(residual_degrees, 1), max(residual_degrees, 1)
    else:  # what the law misses counts as noise, where it is more than that
        pooled = (fitted.squares + levels.residual * levels.degrees) / (max(residual_degrees, 0) + levels.degrees)
        variance, degrees = max(levels.residual, pooled), levels.degrees
    noise = np.sqrt(variance * degrees / random.chisquare(degrees, size=(draws, 1)) / levels.weights)
    fitted_means, weights = fitted.log_at(levels.connections), levels.weights / levels.weights.sum()
    means = fitted_means + noise * random.standard_normal((draws, levels.connections.size))
    if levels.repetitions > 1:
        means += (_heights(levels, draws, random) - ((means - fitted_means) * weights).sum(1))[:, None]
    shapes, log_scales, _ = fit_many(levels, means, fitted.law, np.array(fitted.shape))
    return shapes, log_scales


def _heights(levels: Levels, draws: int, random: np.random.Generator) -> Floats:
    """How far the mean of all levels may lie from the truth, (draws,): Student's t of the means of the repetitions.

    A repetition is the outermost unit, so nothing else says how far. The quantiles of t are taken evenly and shuffled:
    with two degrees of freedom, the edges of so few independent draws would be off by a tenth.
    """
    from plimsoll.stats.special import stdtrit

    evenly = (random.permutation(draws) + 0.5) / draws
    return np.asarray(stdtrit(levels.repetitions - 1, evenly) * math.sqrt(levels.between / levels.repetitions))


def peak_connections(shapes: Floats) -> Floats:
    """Where the USL has its highest throughput, sqrt((1 - sigma) / kappa); infinite without kappa. At least 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.where(shapes[:, 1] > 0, (1.0 - shapes[:, 0]) / shapes[:, 1], np.inf)
    return np.asarray(np.sqrt(np.maximum(squared, 1.0)))
