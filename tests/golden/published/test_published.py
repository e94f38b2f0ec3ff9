"""What guides of the published studies in examples/published say: headline, pools, conclusions, machines."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from plimsoll.guide.build import analyse_folder
from plimsoll.guide.content import describe
from support.command import plimsoll

PUBLISHED = Path(__file__).parents[3] / "examples" / "published"
STUDIES = {
    "hp": ("", ["hp-proliant-2008"]),
    "sun": ("TPC-C-derived", ["sun-t5240-2009-threads", "sun-t5240-2009-zones"]),
    "vmware": ("sysbench oltp", ["vmware-esx-2009"]),
    "percona": ("", ["percona-2026-client"]),
}


@pytest.mark.parametrize("name", STUDIES)
def test_the_answer_and_each_conclusion(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    workload, tables = STUDIES[name]
    for table in tables:
        words = ("--workload", workload) if workload else ()
        ran = plimsoll("import", "table", PUBLISHED / f"{table}.csv", "--to", tmp_path / name, *words)
        assert ran.returncode == 0, ran.stderr
    content = describe(analyse_folder(tmp_path / name))
    section = next((section for section in content.sections if section.anchor == "claims"), None)
    assert {
        "title": content.title,
        "headlines": [headline.text for headline in content.first.headlines],
        "workloads": {part.workload.name: (part.description, *part.pools) for part in content.workloads},
        "conclusions": [] if section is None else section.sentences,
        "verdicts": []
        if section is None
        else [" | ".join(entry.text for entry in row) for row in section.tables[0].rows],
        "machines": {page.name: dict(page.facts) for page in content.pages},
        "environment": [
            " | ".join(entry.text for entry in row)
            for part in content.sections
            if part.anchor == "environments"
            for table in part.tables
            for row in table.rows
        ],
    } == snapshot


def test_every_table_is_imported_here() -> None:
    assert {table for _, tables in STUDIES.values() for table in tables} == {
        path.stem for path in PUBLISHED.glob("*.csv")
    }
