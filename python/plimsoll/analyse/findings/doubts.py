"""Doubts about numbers, one place at a time, and how equal ones become one warning that lists where.

When there is a doubt is in the checks of each subject; words are in `plimsoll.prose`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from plimsoll.analyse.findings.finding_model import Figure
from plimsoll.record.document import Document
from plimsoll.record.level import Level
from plimsoll.record.model import TrialRecord, TrialWarning


class Code(StrEnum):
    """Every warning, in the order of what it voids. Those of the engine and of the run pass through as they are."""

    NO_SERVER = "no-server"
    THROUGHPUT_STALLED = "throughput-stalled"
    TRANSACTIONS_UNFINISHED = "transactions-unfinished"
    REPLICA_LAG_GROWS = "replica-lag-grows"
    HOST_BUSY_ELSEWHERE = "host-busy-elsewhere"
    SERVER_THROTTLED = "server-throttled"
    BURSTABLE_INSTANCE = "burstable-instance"
    MEMORY_OVERCOMMITTED = "memory-overcommitted"
    CLIENT_SATURATED = "client-saturated"
    DRIVERS_STARTED_APART = "drivers-started-apart"
    DRIVER_DIFFERS = "driver-differs"
    REPETITION_LAGS = "repetition-lags"
    TURN_SHORT = "turn-short"
    DEBUG_BUILD = "debug-build"
    DATA_DIFFERS = "data-differs"
    MACHINES_DIFFER = "machines-differ"
    SERVER_PLACE_UNKNOWN = "server-place-unknown"
    CLIENT_ON_SERVER_HOST = "client-on-server-host"
    SINGLE_REPETITION = "single-repetition"
    SHORT_WINDOW = "short-window"
    LOG_CUT_SHORT = "log-cut-short"
    REPETITIONS_MAY_DIFFER = "repetitions-may-differ"
    NOT_WARM_AT_LIMIT = "not-warm-at-limit"
    WARM_UP_UNFINISHED = "warm-up-unfinished"
    THROUGHPUT_DRIFTS = "throughput-drifts"
    THROUGHPUT_UNSTEADY = "throughput-unsteady"
    FEW_CYCLES = "few-cycles"
    INNODB_DRIFTS = "innodb-drifts"
    TARGET_INTERVAL_MISSED = "target-interval-missed"
    MACHINE_SLOWER = "machine-slower"
    PLANS_DIFFER = "plans-differ"
    LIMIT_TOO_LOW = "limit-too-low"
    LITTLE_SPACE = "little-space"
    CPU_FREQUENCY_VARIES = "cpu-frequency-varies"
    HUGE_PAGES_ALWAYS = "huge-pages-always"
    SWAP_LIKELY = "swap-likely"
    SLOW_CLOCK = "slow-clock"
    REDO_LOG_SMALL = "redo-log-small"
    INSTANCE_LAGS = "instance-lags"
    INSTANCES_SKEWED = "instances-skewed"
    ERRORS_OCCURRED = "errors-occurred"
    FAILED_TRIALS = "failed-trials"
    TRIALS_NOT_RUN = "trials-not-run"
    OUTAGE = "outage"
    CONNECTIONS_MISSING = "connections-missing"
    CONNECTIONS_STUCK = "connections-stuck"
    INTERVALS_LATE = "intervals-late"
    TELEMETRY_MISSING = "telemetry-missing"
    COLLECT_FAILED = "collect-failed"
    PEAK_AT_LAST_LEVEL = "peak-at-last-level"
    PEAK_AT_FIRST_LEVEL = "peak-at-first-level"
    LEVELS_DIFFER = "levels-differ"
    READ_ONLY_SLOWER = "read-only-slower-than-read-write"
    KEY_RANGE_MISSES_DATA = "key-range-misses-data"
    COLUMNS_NOT_COMPARED = "columns-not-compared"
    NO_PROGRESS = "no-progress"
    QUERY_CACHE_ON = "query-cache-on"
    REPLICA_WRITABLE = "replica-writable"
    DATA_LARGER_THAN_BUFFER_POOL = "data-larger-than-buffer-pool"
    DATA_IN_PAGE_CACHE = "data-in-page-cache"
    FLUSH_COSTS_NOTHING = "flush-costs-nothing"
    OPTION_NOT_IN_EFFECT = "option-not-in-effect"
    CHARACTER_SET_KEPT = "character-set-kept"
    PATHS_ON_ONE_DEVICE = "paths-on-one-device"
    HUGE_PAGES_UNUSED = "huge-pages-unused"
    ENVIRONMENT_CHANGED = "environment-changed"
    ENCRYPTION_DIFFERS = "encryption-differs"
    VARIABLES_DIFFER = "variables-differ-unexpectedly"
    NOT_DURABLE = "not-durable"
    TURBO_ON = "turbo-on"
    SMT_ON = "smt-on"


class Voids(StrEnum):
    """What a warning takes from the figures, the most first: the order of all codes, and of everything that lists them.

    A warning that explains others comes before them: a busy machine makes a client late, so the machine comes first.
    """

    RUN = "run"  # what was measured is no run of the server that could go on
    MACHINE = "machine"  # something else than the server and its load set the figures
    ABSOLUTE = "absolute"  # figures hold for this set-up, and not for the systems that they are named after
    CERTAINTY = "certainty"  # figures are less certain than they seem
    NOTHING = "nothing"  # what to know about the measurement


_FIRST = {
    Voids.RUN: Code.NO_SERVER,
    Voids.MACHINE: Code.HOST_BUSY_ELSEWHERE,
    Voids.ABSOLUTE: Code.DEBUG_BUILD,
    Voids.CERTAINTY: Code.SINGLE_REPETITION,
    Voids.NOTHING: Code.INTERVALS_LATE,
}
"""The first code of each."""


def voids(code: str) -> Voids:
    """What a warning takes from the figures; nothing for codes that are not known.

    >>> voids("host-busy-elsewhere").name, voids("from-a-later-version").name
    ('MACHINE', 'NOTHING')
    """
    order = list(Code)
    if code not in order:
        return Voids.NOTHING
    return [one for one, first in _FIRST.items() if order.index(Code(code)) >= order.index(first)][-1]


@dataclass(frozen=True, slots=True)
class Place:
    """What doubts are about; nothing for the whole study.

    Attributes:
        trials: Ids of the recordings in which it was seen.
    """

    system: str | None = None
    workload: str | None = None
    level: Level | None = None
    trials: tuple[str, ...] = ()

    def doubt(self, code: Code, seen: str, weight: float = 0.0, **figures: Figure) -> Doubt:
        """A doubt in this place, with what was seen."""
        return Doubt(self, code, Evidence(seen=seen, figures=figures), weight)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubt about a number.

    Attributes:
        code: Which; any text for a warning that a recording holds.
        evidence: What was seen; `plimsoll.prose.warnings` says each kind of it in words.
        weight: How strong the evidence is: the weightiest is shown first. Comparable within a code.
        advice: Of a warning that a recording holds; empty for others.
    """

    place: Place
    code: str
    evidence: Evidence
    weight: float = 0.0
    advice: str = ""


def place_of(trial: TrialRecord) -> Place:
    """The place of a trial."""
    return Place(trial.system.name, trial.workload.name, trial.level, (trial.trial_id,))


def recorded(warning: TrialWarning, place: Place) -> Doubt:
    """A warning that a recording holds, with its own words."""
    return Doubt(place, warning.code, Evidence(text=warning.evidence), advice=warning.advice)


def placed_warnings(doubts: Iterable[Doubt]) -> tuple[PlacedWarning, ...]:
    """One warning for each code, the gravest first; codes that are not known come last."""
    by_code: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        by_code.setdefault(doubt.code, []).append(doubt)
    rank = {code.value: index for index, code in enumerate(Code)}
    return tuple(_merged(by_code[code]) for code in sorted(by_code, key=lambda code: (rank.get(code, len(rank)), code)))


def _merged(same: Sequence[Doubt]) -> PlacedWarning:
    weightiest_first = sorted(same, key=lambda doubt: -doubt.weight)
    return PlacedWarning(
        code=same[0].code,
        evidence=tuple({one.evidence.model_dump_json(): one.evidence for one in weightiest_first}.values()),
        advice=weightiest_first[0].advice,
        systems=_seen(doubt.place.system for doubt in same),
        workloads=_seen(doubt.place.workload for doubt in same),
        levels=_levels(doubt.place.level for doubt in same),
        trials=_seen(trial_id for doubt in weightiest_first for trial_id in doubt.place.trials),
    )


def _seen(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _levels(levels: Iterable[Level | None]) -> tuple[Level, ...]:
    by_order = {level.order: level for level in levels if level is not None and level.offered > 0}
    return tuple(by_order[order] for order in sorted(by_order))


class Evidence(Document):
    """What was seen that gives rise to a doubt.

    Attributes:
        seen: Which kind of evidence; empty for a warning that a recording holds as text.
        figures: By names that end in the unit.
        text: The same in words.
    """

    seen: str = ""
    figures: dict[str, Figure] = Field(default_factory=dict)
    text: str = ""


class PlacedWarning(Document):
    """A doubt about numbers and what it is about. Empty tuples mean the whole study.

    Attributes:
        code: Stable name; every code is described in docs/warnings.md.
        evidence: All that was seen, the strongest first.
        advice: What to do about it, in words.
        systems: Where it was raised.
        workloads: Where it was raised.
        levels: At which it was raised, rising.
        trials: Ids of the recordings in which it was seen, the strongest evidence first; empty where it is not about
            single ones.
    """

    code: str
    evidence: tuple[Evidence, ...]
    advice: str = ""
    systems: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()
    trials: tuple[str, ...] = ()
