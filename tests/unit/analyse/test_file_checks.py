"""Paths on one device and huge pages that a server did not use, as doubts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from plimsoll.analyse.findings.options import check_files
from plimsoll.analyse.trial.trial_summary import TrialSummary
from plimsoll.record.environment import InstanceFacts, StorageFacts
from plimsoll.record.level import Level


def seen(instance: InstanceFacts, **factors: str) -> list[tuple[str, object]]:
    system, workload = SimpleNamespace(name="s", factors=factors), SimpleNamespace(name="w")
    trial = SimpleNamespace(trial_id="t", system=system, workload=workload, level=Level(connections=1))
    summary = SimpleNamespace(trial=trial, environment=SimpleNamespace(instances=(instance,)))
    doubts = check_files(cast("TrialSummary", summary))
    return [(doubt.kind.code, doubt.evidence.figures.get("roles")) for doubt in doubts]


def on(device: str) -> StorageFacts:
    return StorageFacts(device=device)


def test_paths_on_one_device() -> None:
    roles = {"redo": on("sdb"), "undo": on("sdb"), "tmp": on("sda")}
    assert seen(InstanceFacts(name="a", storage=on("sda"), storage_of_roles=roles)) == [
        ("paths-on-one-device", "redo and undo")
    ]
    assert seen(InstanceFacts(name="a", storage=on("sda"), storage_of_roles={"redo": on("sda")})) == [
        ("paths-on-one-device", "data and redo")
    ]
    assert seen(InstanceFacts(name="a", storage=on("sda"), storage_of_roles={"redo": on("sdb")})) == []
    assert seen(InstanceFacts(name="a", storage=on("sda"))) == []


def test_huge_pages() -> None:
    variables = {"innodb_buffer_pool_size": "8388608"}
    unused = InstanceFacts(name="a", variables=variables, huge_pages_bytes=0)
    assert [code for code, _ in seen(unused, huge_pages="true")] == ["huge-pages-unused"]
    assert seen(unused) == []
    assert seen(unused.model_copy(update={"huge_pages_bytes": 9 * 2**20}), huge_pages="true") == []
    assert seen(unused.model_copy(update={"huge_pages_bytes": None}), huge_pages="true") == []
