"""Engines elsewhere that say what none should: a clear error or figures that fit, never a crash, and no bug of ours."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.drive.merging import merge_intervals, merge_ready
from plimsoll.drive.protocol import MESSAGE, Done, EngineMessage, Interval, Ready
from plimsoll.errors import EngineBugError, InvalidTrialError, PlimsollError
from plimsoll.record.document import Document
from plimsoll.record.frames import table_bytes
from plimsoll.run.rows import IntervalRows, oldest_in_flight_ms, response_ms_p99
from plimsoll.run.trial_progress import account_of, connections_of, outages_of
from support.engines import DONE, READY
from unit.drive.test_shared import GOOD, drive

HUGE = "9" * 400
VALUES = [
    HUGE,
    f"-{HUGE}",
    "9" * 5000,
    "1e400",
    "NaN",
    "-Infinity",
    "-1",
    "1.5",
    '"x"',
    "[[]]",
    "{}",
    "null",
    '"\\ud800"',
]
VALUES += [str(2**power) for power in (16, 31, 32, 52, 53, 62, 63, 64)]
VALUES += ["[" * 50_000, "[" * 50_000 + "]" * 50_000]

AGES = {"buckets": [7, 33_791], "counts": [1, 2], "sum_ns": 9, "max_ns": 5}
COUNTS = ("completed", "rolled_back", "failed", "dropped", "retries", "reads", "writes", "others")
GROUP = {
    "instance": "a",
    "backlog_count": 1,
    "connected_count": 2,
    "in_flight": {"response": AGES},
    "snapshot": {
        "transactions": {
            "read": {
                "counts": dict.fromkeys((*COUNTS, "rows_returned", "rows_affected"), 3),
                "histograms": {"response": AGES},
            }
        },
        "errors": [{"transaction": "read", "class": "statement", "code": 1213, "count": 1}],
    },
    "replication": {
        "lag_ns": 1,
        "lag_end_ns": 1,
        "reads_count": 1,
        "stale_count": 1,
        "waits_count": 1,
        "wait_ns": 1,
        "wait_timeouts_count": 1,
    },
}
OUTAGE = {"instance": "a", "role": "source", "from_ns": 1, "to_ns": 2, "connections_count": 1, "lost_count": 1}
FAILURE = {"instance": "a", "role": "source", "code": 1045, "count": 1, "message": "no"}
MESSAGES: dict[str, dict[str, Any]] = {
    "interval": {
        "type": "interval",
        "index": 1,
        "from_ns": 1,
        "to_ns": 2,
        "client": {"user_ns": 1, "system_ns": 1},
        "groups": [GROUP],
        "run_delay_ns": 1,
        "turn": {"turn": 1, "side": 1, "part": "lead"},
    },
    "ready": {**READY, "failures": [FAILURE]},
    "done": {**DONE, "outages": [OUTAGE], "outages_count": 1},
}


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where the values of a message are, lists and objects as well."""
    if place:
        yield place
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*place, key))


def with_value(message: dict[str, Any], place: tuple[str | int, ...], text: str) -> str:
    """A message with another value at a place."""
    changed = copy.deepcopy(message)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = "HERE"
    return json.dumps(changed).replace('"HERE"', text)


def used(message: EngineMessage) -> None:
    """Does with a message what a trial does with it: by itself, and added to another engine's."""
    documents: list[Document] = []
    match message:
        case Interval():
            of_both = merge_intervals({"here": message, "there": message})
            rows = IntervalRows("driver", "host")
            rows.add(message, began_unix_s=1.7e9)
            rows.add(of_both, began_unix_s=1.7e9)
            for name, frame in rows.take().items():
                table_bytes(name, frame)
            oldest_in_flight_ms(of_both)
            response_ms_p99([message, of_both])
            assert of_both.throughput_tps >= 0
        case Ready():
            documents += [connections_of(message), connections_of(merge_ready([message, message]))]
        case Done():
            documents += [account_of(message), *outages_of(message)]
    for document in documents:
        type(document).model_validate_json(document.model_dump_json())


@pytest.mark.parametrize("kind", MESSAGES)
def test_what_passes_is_taken_by_tables_and_computations(kind: str) -> None:
    message, passed = MESSAGES[kind], 0
    used(MESSAGE.validate_json(json.dumps(message)))
    for place in places(message):
        for value in VALUES:
            try:
                read = MESSAGE.validate_json(with_value(message, place, value))
            except ValidationError:
                continue
            passed += 1
            try:
                used(read)
            except ValidationError as error:
                is_sum = "less than" in str(error)  # of what two engines said
                assert is_sum, (place, value[:30])
    assert passed > 10, "not all is refused"


HOSTILE = {
    "huge hello": "HELLO['unix_ns'] = int('9' * 400); say(HELLO); hear()",
    "other protocol": "HELLO['protocol'] = 999; say(HELLO); hear()",
    "nested ready": "say(HELLO); hear(); os.write(1, b'[' * 100_000 + b'\\n'); hear()",
    "huge ready": "READY['connections'] = int('9' * 400); say(HELLO); hear(); say(READY); hear()",
    "dies": "say(HELLO); hear(); sys.exit(101)",
    "calls itself a bug": "say(HELLO); hear(); say({'type': 'failed', 'class': 'bug', 'message': 'panic'}); hear()",
    "NaN in an interval": "begin(); one = interval(0); one['to_ns'] = float('nan'); say(one); hear()",
    "backwards": "begin(); one = interval(0); one['from_ns'] = 2 * 10**9; say(one); hear()",
    "twice": "begin(); say(interval(0), interval(0)); hear(); say(DONE)",
    "uneven": "begin(); one = interval(0); one['groups'][0]['in_flight'] = {'response':"
    " {'buckets': [1, 2], 'counts': [1], 'sum_ns': 1, 'max_ns': 1}}; say(one); hear()",
    "sum beyond": "begin(); one = interval(0); one['client']['user_ns'] = 2**63 - 1; say(one); hear(); say(DONE)",
    "huge account": "begin(); say(interval(0), interval(1)); hear(); DONE['offered_count'] = 10**400; say(DONE)",
    "begun in 2262": "begin(); say(interval(0), interval(1)); hear(); DONE['started_unix_ns'] = 2**63 - 1; say(DONE)",
    "begun never": "begin(); say(interval(0), interval(1)); hear(); DONE['started_unix_ns'] = 0; say(DONE)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_engine_elsewhere_ends_the_trial_and_is_no_bug(name: str) -> None:
    with pytest.raises(PlimsollError, match=r"driver load|what the drivers said") as raised:
        drive(GOOD, HOSTILE[name])
    assert not isinstance(raised.value, EngineBugError)
    if "begin()" in HOSTILE[name]:
        assert isinstance(raised.value, InvalidTrialError)


def test_a_clock_that_no_calendar_has_is_corrected_like_any_other() -> None:
    _, (right, wrong) = drive(GOOD, f"AHEAD_NS = 2**62\n{GOOD}")
    assert wrong.clock_ahead_s == pytest.approx(2**62 / 1e9, abs=1)
    assert max(right.start_late_s, wrong.start_late_s) < 1e-6
