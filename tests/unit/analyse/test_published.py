"""What HP and Sun said about their own tables must come out of them again."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.size import size
from plimsoll.analyse.size_model import Fit
from plimsoll.analyse.study import analyse
from unit.analyse.made import Made, published

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


def test_all_eight_carry_1200_read_write_at_16(hp: Analysis) -> None:
    found = size(hp, tps=1200, connections=16, workload=READ_WRITE)
    assert found.fits
    assert [one.verdict for one in found.systems] == [Fit.FITS] * 8
    tightest = next(one for one in found.systems if one.system == found.tightest)
    assert tightest.throughput_tps is not None
    assert tightest.throughput_tps.value == 1245
    assert any("1,245 tps" in text for text in found.text)


def test_all_carry_2000_read_only_at_8(hp: Analysis) -> None:
    assert [one.verdict for one in size(hp, tps=2000, connections=8, workload=READ_ONLY).systems] == [Fit.FITS] * 8


def test_above_4682_read_only_none_does_and_scale_out_says_what_it_takes(hp: Analysis) -> None:
    assert size(hp, tps=4682, workload=READ_ONLY).fits
    found = size(hp, tps=4683, workload=READ_ONLY)
    assert not found.fits
    assert [one.count for one in found.scale_out] == [2] * 8
    assert "replicas" in found.scale_out[0].text


def test_pool_is_cores_for_read_write_and_twice_that_for_read_only(hp: Analysis) -> None:
    assert {curve.pool.per_core for curve in hp.curves if curve.workload == READ_WRITE} == {1.0}
    assert {curve.pool.per_core for curve in hp.curves if curve.workload == READ_ONLY} == {2.0}
    assert any("read/write: connection pool = cores" in text for text in hp.answer)
    assert any("read-only: connection pool = twice the cores" in text for text in hp.answer)


def test_what_the_table_does_not_say_is_said(hp: Analysis) -> None:
    assert "response times at the 99th percentile" in hp.systems[0].unknown
    assert "how sure the figures are: there is one for each level" in hp.systems[0].unknown
    assert any("Response times are unknown" in text for text in hp.limits)
    assert hp.curves[0].peak.tied_connections == (8,)
    answer = size(hp, tps=100, connections=8, workload=READ_ONLY, response_p99_ms=20)
    assert not answer.fits
    assert "response times are unknown" in answer.systems[0].reason


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
    text = next(text for text in analysis.answer if EIGHT in text and f"{ONE} (" in text)
    for part in (
        "65,340 tpm",
        "22,215 tpm",
        "storage (ST6120",
        "connections (512 against 32)",
        "instances (8 against 1)",
        "which of these made the difference these trials cannot say",
    ):
        assert part in text
    differing, one_sided = text.split("Known of one of them only, so that it may differ too: ")
    assert "flush_log_at_trx_commit (1)" in one_sided
    assert "flush_log" not in differing
    assert "against unknown" not in text


def test_the_two_peaks_of_sun_carry_their_other_factors() -> None:
    analysis = analyse("sun", sun("dbt2"))
    one = next(
        one for one in analysis.differences if {one.base, one.system} == {ONE, EIGHT} and one.connections is None
    )
    assert {name for name, *_ in one.other_factors} == {"connections", "instances"}
    assert ("flush_log_at_trx_commit", None, "1") in one.one_sided_factors
    assert "storage" in {name for name, *_ in one.one_sided_factors}
