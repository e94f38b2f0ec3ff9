"""Histograms of durations: the bucket layout, and a recording's histograms as a log that other tools read and merge.

The layout is HdrHistogram's, in nanoseconds with three significant digits and a lowest discernible value of 1; the
engine writes the same (its core crate, `histogram`). So nothing is rounded in an HdrHistogram log (V2 encoding), which
needs the extra `hdr`. Deliberately not here: reading such logs.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.errors import HostError, RecordError, SpecError
from plimsoll.record.store import Recording

SUB_BUCKETS = 2048
HALF_SUB_BUCKETS = SUB_BUCKETS // 2
BUCKET_COUNT = SUB_BUCKETS + 31 * HALF_SUB_BUCKETS


def bucket_middle_ns(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """The middle of each bucket, nanoseconds: at most 0.05 % from any duration that counts in it.

    Args:
        index: Bucket indexes, any shape, each in 0..`BUCKET_COUNT`-1.

    Returns:
        Nanoseconds, of the same shape.

    >>> bucket_middle_ns(np.array([0, 2047, 2048, 2049])).tolist()
    [0, 2047, 2048, 2050]
    """
    octave = np.maximum(index // HALF_SUB_BUCKETS - 1, 0)
    low = (index - octave * HALF_SUB_BUCKETS) << octave
    middle: NDArray[np.int64] = low + (((np.int64(1) << octave) - 1) >> 1)
    return middle


def bucket_of_ns(duration_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The index of the bucket in which each duration counts; what is longer than the last bucket counts in it.

    Args:
        duration_ns: Nanoseconds, any shape, each 0 or more.

    Returns:
        Bucket indexes, of the same shape.

    >>> bucket_of_ns(np.array([0, 2047, 2048, 2049, 2050])).tolist()
    [0, 2047, 2048, 2048, 2049]
    """
    octave = np.zeros_like(duration_ns)
    for shift in range(1, 32):
        octave[(duration_ns >> shift) >= HALF_SUB_BUCKETS] = shift
    index = (duration_ns >> octave) + octave * HALF_SUB_BUCKETS
    bucket: NDArray[np.int64] = np.minimum(index, BUCKET_COUNT - 1)
    return bucket


MEASURES = ("response", "service", "pool_wait", "dispatch_delay")
VALUE_NS_MAX = (1 << 42) - 1
SIGNIFICANT_DIGITS = 3


def write_hdr_log(recording: Recording, path: Path, *, measure: str = "response") -> int:
    """Writes one line for each interval and transaction type, tagged with the type's name.

    Args:
        recording: With histograms.
        path: The log, which is replaced.
        measure: One of `MEASURES`. Durations are in nanoseconds, the maximum of each line in milliseconds.

    Returns:
        How many lines were written.

    Raises:
        SpecError: There is no such measure.
        HostError: The extra `hdr` is not installed, or the file cannot be written.
        RecordError: The recording has no histograms, or is damaged.
    """
    if measure not in MEASURES:
        raise SpecError(f"measure: must be one of {', '.join(MEASURES)}, is {measure!r}")
    histograms, intervals = recording.histograms(), recording.intervals()
    if histograms is None or intervals is None or recording.outcome.account is None:
        raise RecordError(f"{recording.path}: has no histograms; published figures cannot be exported")
    began_s = recording.outcome.account.started_unix_s
    spans = {row["interval"]: (row["from_s"], row["to_s"]) for row in intervals.iter_rows(named=True)}
    wanted = histograms.filter(histograms["measure"] == measure).sort("interval")
    try:
        with path.open("w", encoding="utf-8") as file:
            file.write(f"#[Plimsoll: {recording.trial.trial_id}, {measure} time, nanoseconds]\n")
            file.write("#[Histogram log format version 1.2]\n")
            for row in wanted.iter_rows(named=True):
                _write_line(file, row, began_s, spans[row["interval"]])
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}; choose another folder with --to") from None
    return len(wanted)


def _write_line(file: IO[str], row: dict[str, Any], began_s: float, span: tuple[float, float]) -> None:
    histogram = _histogram(row["buckets"], row["counts"])
    tag = "".join(char if char.isalnum() or char in "_-." else "_" for char in row["transaction"])
    start_s, length_s = began_s + span[0], span[1] - span[0]
    encoded = histogram.encode().decode("ascii")
    file.write(f"Tag={tag},{start_s:.3f},{length_s:.3f},{row['max_ns'] / 1e6:.3f},{encoded}\n")


def _histogram(buckets: list[int], counts: list[int]) -> Any:
    try:
        from hdrh.histogram import HdrHistogram
    except ImportError:
        raise HostError("the extra hdr is not installed; pip install 'plimsoll[hdr]'") from None
    histogram = HdrHistogram(1, VALUE_NS_MAX, SIGNIFICANT_DIGITS)
    for value_ns, count in zip(bucket_middle_ns(np.asarray(buckets, dtype=np.int64)).tolist(), counts, strict=True):
        histogram.record_value(value_ns, count)
    return histogram
