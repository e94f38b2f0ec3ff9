"""The order of warnings: by what they void, for every code of the catalogue."""

from __future__ import annotations

from plimsoll.analyse.findings.doubts import Code, Voids, voids
from plimsoll.prose.warnings import Severity, severity_of

RUN = "no-server throughput-stalled transactions-unfinished replica-lag-grows"
MACHINE = """host-busy-elsewhere server-throttled burstable-instance memory-overcommitted client-saturated
drivers-started-apart driver-differs repetition-lags turn-short"""
ABSOLUTE = "debug-build data-differs machines-differ server-place-unknown client-on-server-host"
CERTAINTY = """single-repetition short-window log-cut-short repetitions-may-differ not-warm-at-limit warm-up-unfinished
throughput-drifts throughput-unsteady few-cycles innodb-drifts target-interval-missed machine-slower plans-differ
limit-too-low little-space cpu-frequency-varies huge-pages-always swap-likely slow-clock redo-log-small instance-lags
instances-skewed errors-occurred failed-trials trials-not-run outage connections-missing connections-stuck"""
NOTHING = """intervals-late telemetry-missing collect-failed peak-at-last-level peak-at-first-level levels-differ
read-only-slower-than-read-write key-range-misses-data columns-not-compared no-progress query-cache-on replica-writable
data-larger-than-buffer-pool data-in-page-cache flush-costs-nothing option-not-in-effect character-set-kept
paths-on-one-device huge-pages-unused environment-changed encryption-differs variables-differ-unexpectedly not-durable
turbo-on smt-on"""
EXPECTED = {
    code: voided
    for voided, codes in zip(Voids, (RUN, MACHINE, ABSOLUTE, CERTAINTY, NOTHING), strict=True)
    for code in codes.split()
}


def test_every_code_stands_where_what_it_voids_puts_it() -> None:
    assert [code.value for code in Code] == list(EXPECTED)
    assert {code.value: voids(code) for code in Code} == EXPECTED


def test_a_busy_machine_comes_before_a_client_that_shares_it() -> None:
    order = list(Code)
    assert order.index(Code.HOST_BUSY_ELSEWHERE) < order.index(Code.CLIENT_SATURATED)
    assert order.index(Code.CLIENT_SATURATED) < order.index(Code.CLIENT_ON_SERVER_HOST)


def test_severity_follows_from_what_is_voided() -> None:
    grave = {Voids.RUN, Voids.MACHINE, Voids.ABSOLUTE}
    assert {code for code in Code if severity_of(code) is Severity.GRAVE} == {
        code for code in Code if voids(code) in grave
    }
    assert severity_of("from-a-later-version") is Severity.CONTEXT
