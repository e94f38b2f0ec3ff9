"""What HP and Sun said about their own tables must come out of them again."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.answers.size import size
from plimsoll.analyse.answers.size_model import Fit, SizeAnswer
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis, Unknown
from plimsoll.analyse.study.curve_model import PoolReason
from plimsoll.guide.size import answer_sentences
from plimsoll.record.level import Level
from support.made import Made, published
from support.told import answer_of, limits_of

PUBLISHED = Path(__file__).parents[3] / "examples" / "published"
READ_WRITE, READ_ONLY = "oltp complex read/write", "oltp complex read-only"
EIGHT, ONE = "T5240 eight zones, ST6120 4 x 73 GB RAID 5", "T5240 one instance, TS"


def rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@pytest.fixture(scope="module")
def hp() -> Analysis:
    recordings = [
        published(
            float(row["throughput_tps"]),
            system=f"{row['system']}, {row['storage']}",
            workload=row["workload"],
            connections=int(row["connections"]),
            cores=int(row["cores"]),
            factors={"storage": row["storage"]},
            reported={"cpu": row["cpu"]},
        )
        for row in rows("hp-proliant-2008.csv")
    ]
    return analyse("hp", recordings)


def asked(hp: Analysis, tps: float, connections: int | None = None) -> SizeAnswer:
    """Read-only load without headroom."""
    return size(hp, tps=tps, connections=connections, workload=READ_ONLY, headroom=0.0)


def test_all_eight_carry_1200_read_write_at_16(hp: Analysis) -> None:
    found = size(hp, tps=1200, connections=16, workload=READ_WRITE, headroom=0.0)
    assert (found.fits, found.grade) == (True, Grade.INDICATED), "each was published of one run"
    assert [(system.verdict, system.grade) for system in found.systems] == [(Fit.FITS, Grade.INDICATED)] * 8
    assert min(system.throughput_tps.value for system in found.systems if system.throughput_tps) == 1245


def test_what_hp_says_of_3000_read_write(hp: Analysis) -> None:
    said = "BL480c or BL460c, by 3 to 6 %; published once, so"
    (text,) = answer_sentences(size(hp, tps=3000, workload=READ_WRITE, headroom=0.0))
    assert text == (
        f"Indicated for 3,000 tps of oltp complex read/write: {said} without a margin for variation: keep 20 % or"
        " measure. These are clients that wait for each answer: do not plan by this figure."
    )
    (with_headroom,) = answer_sentences(size(hp, tps=2100, workload=READ_WRITE, headroom=0.3))
    assert f"{said} variation has to fit into the headroom: measure to know." in with_headroom


def test_all_carry_2000_read_only_at_8(hp: Analysis) -> None:
    assert [system.verdict for system in asked(hp, 2000, connections=8).systems] == [Fit.FITS] * 8


def test_above_4682_read_only_none_does_and_scale_out_says_what_it_takes(hp: Analysis) -> None:
    assert Fit.FITS in {system.verdict for system in asked(hp, 4682).systems}
    found = asked(hp, 4683)
    assert {system.verdict for system in found.systems} == {Fit.DOES_NOT_FIT}
    assert not found.fits
    assert [one.count for one in found.scale_out] == [2] * 8
    assert found.scale_out[0].is_read_only


def test_pool_is_cores_for_read_write_and_twice_that_for_read_only(hp: Analysis) -> None:
    assert {curve.pool.per_core for curve in hp.curves if curve.workload == READ_WRITE} == {1.0}
    assert {curve.pool.per_core for curve in hp.curves if curve.workload == READ_ONLY} == {2.0}
    assert any(
        "read/write: connection pool = cores (one connection for each processor core) on every system (indicated)."
        in text
        for text in answer_of(hp)
    )
    assert any(
        "read-only: connection pool = twice the cores (two connections for each processor core) on every system"
        " (indicated). No other level has a higher figure, and the figures do not say how runs differ." in text
        for text in answer_of(hp)
    )
    assert {curve.pool.reason for curve in hp.curves} == {PoolReason.SINGLE_FIGURES}
    assert {one.grade for one in hp.answer if one.code == "pool-per-core"} == {Grade.INDICATED}


def test_what_the_table_does_not_say_is_said(hp: Analysis) -> None:
    assert Unknown.RESPONSE_P99 in hp.systems[0].unknown
    assert Unknown.INTERVALS_OF_SINGLE_FIGURES in hp.systems[0].unknown
    assert any("Response times are unknown" in text for text in limits_of(hp))
    assert hp.curves[0].peak.tied_levels == (Level(connections=8),)
    answer = size(hp, tps=100, connections=8, workload=READ_ONLY, response_p99_ms=20)
    assert not answer.fits
    assert answer.systems[0].reason.figures["fault"] == "times-unknown"


def sun(zones_workload: str) -> list[Made]:
    found = [
        published(
            float(row["throughput_tpm"]) / 60,
            system=", ".join(
                text for text in (row["system"], row["innodb_thread_concurrency"], row["scheduling_class"]) if text
            ),
            workload="dbt2",
            rate_unit="tpm",
            connections=int(row["connections"]),
            factors={
                name: row[name] for name in ("innodb_thread_concurrency", "scheduling_class", "warehouses") if row[name]
            },
        )
        for row in rows("sun-t5240-2009-threads.csv")
    ]
    groups: dict[tuple[str, ...], float] = {}
    for row in rows("sun-t5240-2009-zones.csv"):
        key = (row["system"], row["storage"], row["flush_log_at_trx_commit"], row["connections_per_instance"])
        groups[key] = groups.get(key, 0.0) + float(row["throughput_tpm"])
    for (system, storage, flush, each), tpm in groups.items():
        factors = {"storage": storage} | ({"flush_log_at_trx_commit": flush} if flush else {})
        found.append(
            published(
                tpm / 60,
                system=f"{system}, {storage}",
                workload=zones_workload,
                rate_unit="tpm",
                instances=8,
                connections=8 * int(each),
                connections_per_instance=int(each),
                factors=factors,
            )
        )
    return found


@pytest.mark.parametrize("zones_workload", ["dbt2", "zones"])
def test_eight_instances_against_one_names_every_other_factor(zones_workload: str) -> None:
    analysis = analyse("sun", sun(zones_workload))
    text = next(text for text in answer_of(analysis) if EIGHT in text and f"{ONE} (" in text)
    for part in (
        "65,340 tpm",
        "22,215 tpm",
        "storage (ST6120",
        "connections (512 against 32)",
        "instances (8 against 1)",
        "These trials cannot separate the effects of these factors.",
    ):
        assert part in text
    differing, one_sided = text.split("Known for only one of them, so it may also differ: ")
    assert "flush_log_at_trx_commit (1)" in one_sided
    assert "flush_log" not in differing
    assert "against unknown" not in text


def test_the_two_peaks_of_sun_carry_their_other_factors() -> None:
    analysis = analyse("sun", sun("dbt2"))
    one = next(
        difference
        for difference in analysis.differences
        if {difference.base, difference.system} == {ONE, EIGHT} and difference.level is None
    )
    assert {name for name, *_ in one.other_factors} == {"connections", "instances"}
    assert ("flush_log_at_trx_commit", None, "1") in one.one_sided_factors
    assert "storage" in {name for name, *_ in one.one_sided_factors}
