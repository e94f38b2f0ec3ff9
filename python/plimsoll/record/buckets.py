"""The bucket layout of histograms: durations in nanoseconds with three significant digits.

It is HdrHistogram's with a lowest discernible value of 1; the engine writes the same (its core crate, `histogram`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    found: NDArray[np.int64] = np.minimum(index, BUCKET_COUNT - 1)
    return found
