"""The order of warnings: by what they void, for every code of the catalogue."""

from __future__ import annotations

from plimsoll.analyse.findings.catalogue import KINDS, placed_warnings, severity_of
from plimsoll.analyse.findings.doubts import Place, Severity, Voids, recorded
from plimsoll.analyse.findings.machine import Stolen
from plimsoll.record.level import Level
from plimsoll.record.model import TrialWarning

RUN = "no-server throughput-stalled transactions-unfinished replica-lag-grows"
MACHINE = """host-busy-elsewhere memory-overcommitted burstable-instance server-throttled client-saturated
drivers-started-apart driver-differs repetition-lags turn-short"""
ABSOLUTE = """key-range-misses-data option-not-in-effect flush-costs-nothing debug-build data-differs machines-differ
server-place-unknown client-on-server-host"""
CERTAINTY = """log-cut-short repetitions-may-differ not-warm-at-limit target-interval-missed outage connections-missing
connections-stuck single-repetition errors-occurred failed-trials trials-not-run short-window
warm-up-unfinished throughput-drifts throughput-unsteady few-cycles innodb-drifts instance-lags
instances-skewed limit-too-low little-space swap-likely huge-pages-always cpu-frequency-varies slow-clock
redo-log-small plans-differ machine-slower"""
NOTHING = """intervals-late telemetry-missing collect-failed columns-not-compared no-progress peak-at-last-level
peak-at-first-level levels-differ read-only-slower-than-read-write variables-differ-unexpectedly
data-larger-than-buffer-pool data-in-page-cache turbo-on smt-on character-set-kept paths-on-one-device
huge-pages-unused query-cache-on replica-writable not-durable environment-changed encryption-differs"""
EXPECTED = {
    code: voided
    for voided, codes in zip(Voids, (RUN, MACHINE, ABSOLUTE, CERTAINTY, NOTHING), strict=True)
    for code in codes.split()
}


def test_kinds_are_ordered_by_what_they_void() -> None:
    assert {code: kind.voids for code, kind in KINDS.items()} == EXPECTED
    assert list(KINDS) == list(EXPECTED)


def test_a_busy_machine_comes_before_a_client_that_shares_it() -> None:
    order = list(KINDS)
    assert order.index("host-busy-elsewhere") < order.index("client-saturated") < order.index("client-on-server-host")


def test_what_other_figures_than_those_of_the_systems_come_from_is_grave() -> None:
    grave = {code for code, kind in KINDS.items() if kind.voids in {Voids.RUN, Voids.MACHINE, Voids.ABSOLUTE}}
    assert {code for code in KINDS if severity_of(code) is Severity.GRAVE} == grave
    assert {"option-not-in-effect", "flush-costs-nothing", "key-range-misses-data"} <= grave
    assert severity_of("from-a-later-version") is Severity.CONTEXT


def test_of_doubts_with_one_code_the_weightiest_is_told_first_and_unknown_codes_come_last() -> None:
    place = Place("a", "w", Level(connections=4))
    later = recorded(TrialWarning(code="from-a-later-version", evidence="Something.", advice="Look."), place)
    weak, strong = (place.doubt(Stolen(steal_cpu_ratio=share), share) for share in (0.03, 0.3))
    known = recorded(TrialWarning(code="outage", evidence="It was gone.", advice="Own words."), place)
    placed = placed_warnings([later, weak, known, strong])
    assert [one.code for one in placed] == ["host-busy-elsewhere", "outage", "from-a-later-version"]
    assert [one.figures["steal_cpu_ratio"] for one in placed[0].evidence] == [0.3, 0.03]
    assert [one.advice for one in placed[1:]] == ["Own words.", "Look."]
    assert placed[0].advice == KINDS["host-busy-elsewhere"].advice
