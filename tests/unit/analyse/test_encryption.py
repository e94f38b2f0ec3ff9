"""Whether systems were connected to alike: from what recordings say to the guide."""

from __future__ import annotations

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.findings.doubts import PlacedWarning
from plimsoll.analyse.model import Analysis
from plimsoll.guide.content import describe
from plimsoll.guide.facts import shared_facts
from plimsoll.guide.html import render_html
from plimsoll.record.model import ConnectionsRecord, EncryptionRecord
from support.made import Made, measured
from support.told import evidence_of

NEW = "TLSv1.3 TLS_AES_256_GCM_SHA384"
OLD = "TLSv1.2 ECDHE-RSA-AES128-GCM-SHA256"


def trial(system: str, *agreed: str | None, repetition: int = 0, tls: str | None = None) -> Made:
    """A trial whose connections to each of its servers were encrypted so; `tls` is what the study file said."""
    records = tuple(
        EncryptionRecord(instance=f"{system}/{index}", role="source", agreed=one) for index, one in enumerate(agreed)
    )
    made = ConnectionsRecord(wanted_count=4, opened_count=4, connect_s=0.1, encryptions=records)
    factors = {"target": f"{system}:3306"} | ({} if tls is None else {"tls": tls})
    return measured([100.0] * 10, system=system, repetition=repetition, factors=factors, connections_made=made)


def doubt(analysis: Analysis) -> PlacedWarning | None:
    found = [warning for warning in analysis.warnings if warning.code == "encryption-differs"]
    return found[0] if found else None


def test_encrypted_against_plain_is_a_doubt_about_both_systems() -> None:
    analysis = analyse("s", [trial("a", NEW, tls="preferred"), trial("b", None, tls="preferred"), trial("c", NEW)])
    found = doubt(analysis)
    assert found is not None
    assert evidence_of(found) == f"connections were not encrypted alike: {NEW} for a and c; none for b"
    assert found.systems == ("a", "b", "c")


def test_another_version_or_cipher_is_a_doubt_too() -> None:
    found = doubt(analyse("s", [trial("a", NEW, tls="required"), trial("b", OLD, tls="verify-ca")]))
    assert found is not None
    assert f"{NEW} for a; {OLD} for b" in evidence_of(found)


def test_plain_that_the_study_asked_for_is_a_factor_and_no_doubt() -> None:
    analysis = analyse("s", [trial("a", NEW, tls="preferred"), trial("b", None, tls="disabled")])
    assert doubt(analysis) is None
    table = describe(analysis).factors
    assert table is not None
    assert [column.heading for column in table.columns] == ["system", "target", "tls", "encryption"]
    assert [entry.text for entry in table.rows[1]] == ["b", "b:3306", "disabled", "none"]
    peaks = next(difference for difference in analysis.differences if difference.level is None)
    assert ("tls", "preferred", "disabled") in peaks.other_factors
    assert "encryption" not in {name for name, _, _ in peaks.other_factors}, "it follows from tls"


def test_encryption_that_nobody_asked_for_is_one_more_factor() -> None:
    analysis = analyse("s", [trial("a", NEW, tls="required"), trial("b", None, tls="preferred")])
    peaks = next(difference for difference in analysis.differences if difference.level is None)
    assert ("encryption", NEW, "none") in peaks.other_factors


def test_plain_that_was_only_not_forbidden_is_a_doubt() -> None:
    assert doubt(analyse("s", [trial("a", NEW, tls="required"), trial("b", None, tls="preferred")])) is not None


def test_repetitions_of_one_system_that_differ_are_a_doubt_about_it() -> None:
    analysis = analyse("s", [trial("a", NEW), trial("a", None, repetition=1), trial("a", NEW, repetition=2)])
    found = doubt(analysis)
    assert found is not None
    assert found.systems == ("a",)
    assert f"{NEW} (2 trials), none (1 trial)" in evidence_of(found)


def test_systems_that_are_encrypted_alike_are_no_doubt_and_say_so_once() -> None:
    analysis = analyse("s", [trial("a", NEW), trial("b", NEW)])
    assert doubt(analysis) is None
    content = describe(analysis)
    assert ("Encryption of connections", NEW) in shared_facts(analysis.systems)
    assert all("Encryption of connections" not in dict(page.facts) for page in content.pages)
    assert content.factors is not None
    assert [column.heading for column in content.factors.columns] == ["system", "target"]


def test_where_they_differ_each_system_says_how() -> None:
    analysis = analyse("s", [trial("a", NEW), trial("b", None)])
    own = {page.name: dict(page.facts) for page in describe(analysis).pages}
    assert own["a"]["Encryption of connections"] == NEW
    assert own["b"]["Encryption of connections"] == "none"
    assert "not encrypted alike" in render_html(analysis)


def test_several_servers_of_one_trial_are_told_together() -> None:
    (system,) = analyse("s", [trial("a", NEW, None)]).systems
    assert system.encryptions == {f"{NEW} and none": 1}


def test_what_is_unknown_is_no_doubt() -> None:
    assert doubt(analyse("s", [measured([100.0] * 10, system="a"), trial("b", NEW), trial("b", repetition=1)])) is None
