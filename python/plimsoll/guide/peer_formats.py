"""Results in formats of tools that keep histories: Bencher Metric Format of a study, and a CSV for Apache Otava.

Bencher takes one value with its interval for each measure of a benchmark; Otava a table with a row for each run. Names
are built from what users wrote, so characters that those tools would read as something else become `_`.
Deliberately not here: where the files go (`plimsoll.cli.export`), and Plimsoll's own tables (`plimsoll.analyse.tidy`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime

from plimsoll.analyse.answers.compare_model import Metric
from plimsoll.analyse.answers.trend import place_name
from plimsoll.analyse.answers.trend_model import TrendAnswer, TrendPlace
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.errors import SpecError

_BENCHMARK_CHARACTERS_MAX = 1024
_NOT_IN_COLUMNS = re.compile(r"[^A-Za-z0-9_.+-]+")


def bencher_json(analysis: Analysis) -> str:
    """Throughput with its 95 % confidence interval and the p99 of every system, workload and level, as text.

    The measures are `throughput`, transactions per second, and `p99`, milliseconds. A p99 of merged histograms has no
    interval; one that is a lower bound is left out.
    """
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for curve in analysis.curves:
        for cell in curve.cells:
            name = f"{curve.system} / {curve.workload} / {cell.level.label() or 'level not known'}"
            measures = {"throughput": _bounded(cell.throughput_tps)}
            times = cell.response_ms
            if times.p99 is not None and "p99" not in times.lower_bounds:
                measures["p99"] = {"value": times.p99}
            benchmarks[name[:_BENCHMARK_CHARACTERS_MAX]] = measures
    return json.dumps(benchmarks, indent=2, allow_nan=False) + "\n"


def _bounded(estimate: Estimate) -> dict[str, float]:
    edges = {} if estimate.bounds is None else {"lower_value": estimate.bounds.low, "upper_value": estimate.bounds.high}
    return {"value": estimate.value, **edges}


def otava_csv(answer: TrendAnswer) -> tuple[str, tuple[str, ...]]:
    """A row for each study: its time, its labels, and a column for each metric that every study has.

    Otava reads no empty field, so metrics that some study lacks are left out.

    Returns:
        The text, and the names of the metrics that were left out.

    Raises:
        SpecError: When some study was measured is not known.
    """
    unknown = [study.name for study in answer.studies if study.began_unix_s is None]
    if unknown:
        raise SpecError(f"{unknown[0]}: when it was measured is not known, and Otava needs a time for each run")
    whole = [place for place in answer.places if len(place.points) == len(answer.studies)]
    systems_count = len({place.system for place in answer.places})
    labels = sorted(set.intersection(*(set(study.labels) for study in answer.studies)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", "study", *labels, *(_column(place, systems_count) for place in whole)])
    for index, study in enumerate(answer.studies):
        began = datetime.fromtimestamp(study.began_unix_s or 0.0, UTC)
        figures = [repr(place.points[index].value.value) for place in whole]
        writer.writerow([began.isoformat(), study.name, *(study.labels[name] for name in labels), *figures])
    left_out = tuple(_column(place, systems_count) for place in answer.places if place not in whole)
    return text.getvalue(), left_out


def _column(place: TrendPlace, systems_count: int) -> str:
    """Such as `read-write_16_connections_tps`."""
    unit = "p99_ms" if place.metric is Metric.P99 else "tps"
    parts = (*place_name(place, with_system=systems_count > 1), unit)
    return _NOT_IN_COLUMNS.sub("_", "_".join(filter(None, parts)))
