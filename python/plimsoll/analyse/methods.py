"""How each kind of number is found, for the guide's last page. docs/methods.md tells the same at length."""

from __future__ import annotations

from plimsoll.analyse.model import MethodNote

METHODS: tuple[MethodNote, ...] = (
    MethodNote(
        name="Throughput",
        text=(
            "Completed transactions of the measured window over its real length, all instances together; a cell's "
            "value is the mean of its repetitions. Published figures are taken as they stand."
        ),
    ),
    MethodNote(
        name="Bounds of a throughput",
        text=(
            "95 %, Student's t on the logarithms of the repetitions. Their relative spread is pooled over the cells "
            "of a workload that were measured alike (same host, storage, client, source and length of window) where "
            "that gives more degrees of freedom, which assumes that it is the same in all of them; a cell that is "
            "noisier than the others (F test) stands on its own repetitions. With one repetition and nothing to "
            "pool, bounds come from within the run and say so. Bounds are never "
            "narrower than the spread within the runs. Repetitions that are equal to the last digit show no spread, "
            "and give no bounds."
        ),
        source="Kalibera and Jones 2013; Box, Hunter and Hunter 2005",
    ),
    MethodNote(
        name="Spread within a run",
        text=(
            "Neighbouring seconds resemble each other, so the error of a run's mean is widened: the wider of a "
            "correction for first-order autocorrelation, its small-sample bias removed, and overlapping batch "
            "means. Assumes that the run is steady within its window."
        ),
        source="Bayley and Hammersley 1946; Marriott and Pope 1954; Meketon and Schmeiser 1984",
    ),
    MethodNote(
        name="Response and service times",
        text=(
            "Percentiles by nearest rank from the merged histograms of all trials of a cell, within 0.05 %; mean and "
            "maximum are exact. A percentile beyond which no transaction was seen is not given. Where a source has no "
            "histograms, percentiles are those of single runs and are marked. Transactions that had not ended at the "
            "end of the window count with their age at that time; a statistic that rests on them is a lower bound, "
            "marked by ≥."
        ),
        source="HdrHistogram; Hyndman and Fan 1996; Kaplan and Meier 1958",
    ),
    MethodNote(
        name="Stalls",
        text=(
            "Stretches of seconds that completed at most 5 % of what the run's mean makes of them while something was "
            "in flight, where chance (Poisson, fewer than 1 of 1,000 runs) and transactions that take as long do not "
            "explain them. Their share of the measured time stands beside the throughput."
        ),
        source="Mitzenmacher and Upfal 2005",
    ),
    MethodNote(
        name="Scale factor",
        text="Throughput over that of the lowest level of the same curve, with the bounds of that ratio.",
    ),
    MethodNote(
        name="Peak and connection pool",
        text=(
            "The peak is the level with the highest throughput; as the highest of several noisy figures it is a "
            "little optimistic. It is bracketed when a higher level was measured and carried less. The pool is the "
            "smallest level whose throughput cannot be told from the peak's; without bounds, "
            "or where that level is tied only because the trials are noisy, it is the peak's own level."
        ),
        source="the practice of HP's sizing guide for ProLiant blades, 2008",
    ),
    MethodNote(
        name="Difference between systems",
        text=(
            "The ratio of two mean throughputs with 95 % bounds. A winner is named only when the bounds exclude 1 "
            "and the ratio is at least the smallest effect: what trials as many and as noisy as these find four "
            "times out of five at an alpha of 0.05. A smaller estimate that happens to look significant would "
            "exaggerate. Each comparison stands for itself: of twenty pairs of equal systems one is expected to "
            "have bounds that exclude 1."
        ),
        source="Welch 1947; Cohen 1988; Gelman and Carlin 2014",
    ),
    MethodNote(
        name="Drift within a window",
        text=(
            "A straight line through the throughput of the intervals; the error of its slope is widened for "
            "autocorrelation. Warned when the change is at least 5 % and chance is below 1 %."
        ),
        source="Weatherhead and others 1998",
    ),
    MethodNote(
        name="Load at a rate",
        text=(
            "A rate is carried when in all repetitions nothing was dropped, no overload lasted to the end, and at most "
            "1 % of the transactions failed or never ended. An interval is overloaded when more transactions wait at "
            "its end than it completed, or when some were dropped. What a system carries is the last rate before the "
            "first that is not carried; nothing is interpolated."
        ),
    ),
    MethodNote(
        name="Working set",
        text=(
            "The fewest rows that take half, 90 % and 99 % of the accesses, from the formula of the distribution that "
            "rows are chosen by; rows that a range select reads after its first are not counted."
        ),
    ),
    MethodNote(
        name="What a system carries (size)",
        text=(
            "The lower bound of the throughput at the level asked for decides, where there are bounds. Between two "
            "measured levels throughput is interpolated on a straight line and said to be; beyond the last level "
            "nothing is said. A response-time objective is met only by response times that were measured."
        ),
    ),
)
