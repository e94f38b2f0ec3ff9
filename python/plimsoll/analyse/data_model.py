"""What became of data between and during trials, as values; part of the analysis."""

from __future__ import annotations

from plimsoll.record.document import Document


class DataSummary(Document):
    """The data of one system under one workload, over its trials.

    Attributes:
        system: Whose.
        workload: Which.
        trials_count: Trials of which anything is known.
        ways: In how many trials data came about how: `copy`, `prepare`, `fresh` or `left`.
        reset_s_median: Time to put data back, seconds; null where that was never done.
        other_s_median: The time that the other way would have taken by its last measurement; null when unknown.
        size_bytes: Largest size of what was copied; null where nothing was.
        cloned_bytes: Largest size of what shares its blocks with the original.
        is_aged: Data came from an earlier study.
        rows_ratio: Largest relative change of the number of rows during a trial, with its sign; null when unknown.
        bytes_ratio: The same of the size of the tables' files.
        redo_turns_min: How often the redo log was filled while the server warmed up, in the trial where it was least
            often; from 1 on it wrapped. Null when unknown.
        redo_turns_max: The same where it was most often.
    """

    system: str
    workload: str
    trials_count: int
    ways: dict[str, int]
    reset_s_median: float | None = None
    other_s_median: float | None = None
    size_bytes: int | None = None
    cloned_bytes: int = 0
    is_aged: bool = False
    rows_ratio: float | None = None
    bytes_ratio: float | None = None
    redo_turns_min: float | None = None
    redo_turns_max: float | None = None
