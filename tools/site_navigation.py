"""Navigation of the documentation: four parts, each page in one of them, titled by what a reader wants from it.

The site shows it, and `make docs` writes it as docs/README.md for readers of the repository. Needs only the standard
library, so that tests read it where the site's packages are not installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOME = "README.md"
INDEX = "docs/README.md"
INTRODUCTION = """\
# Documentation

New here? Read in this order: the [README](../README.md), the tutorial [Size an existing server](tutorial.md), and
[Reading the guide](reading-the-guide.md). The [glossary](glossary.md) defines each term once.

`make docs` generates this page, `cli.md`, `study-file.md`, `warnings.md`, `*-json.md` and the schemas; `make pictures`
the pictures, `make tutorial` the output in tutorials, `make evidence` `evidence.md`, `make bench` `benchmarks.md`.
"""


@dataclass(frozen=True)
class Entry:
    """A page in the navigation.

    Attributes:
        path: The page's Markdown file, from the repository's root.
        title: What the navigation calls it. The page keeps its own heading.
        below: Entries that unfold below it.
    """

    path: str
    title: str
    below: tuple[Entry, ...] = ()


def _decisions() -> tuple[Entry, ...]:
    """Every decision, with its heading as title."""
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    return tuple(Entry(str(page.relative_to(ROOT)), heading(page)) for page in pages)


def heading(page: Path) -> str:
    """The first heading of a Markdown file, without marks of code."""
    first = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return first.removeprefix("# ").replace("`", "")


PARTS: dict[str, tuple[Entry, ...]] = {
    "Start": (
        Entry("README.md", "First answer"),
        Entry("docs/install.md", "Install"),
        Entry("docs/tutorial.md", "Tutorial: size an existing server"),
        Entry("docs/reading-the-guide.md", "Read the guide"),
        Entry(INDEX, "All pages"),
    ),
    "Do": (
        Entry("docs/ab.md", "Find out which setting is faster"),
        Entry("docs/duet.md", "Find a small difference on a noisy machine: duets"),
        Entry("docs/capacity.md", "Find the highest rate within a response time"),
        Entry("docs/compare.md", "Stop a change that makes a server slower"),
        Entry("docs/gate-a-merge.md", "Gate a merge on throughput"),
        Entry("docs/trend.md", "See which change made a server slower"),
        Entry("docs/serve.md", "Watch a run in a browser"),
        Entry("docs/factors.md", "Vary settings, fit a budget"),
        Entry("docs/load-at-a-rate.md", "Load a server at a rate"),
        Entry("docs/clients.md", "Imitate clients: think time, retries, outages"),
        Entry("docs/oltp.md", "Choose an OLTP workload"),
        Entry("docs/tpcc.md", "Run the TPC-C-derived workload"),
        Entry("docs/ycsb.md", "Run YCSB's workloads or pgbench's transaction"),
        Entry("docs/sysbench.md", "Run sysbench scripts"),
        Entry("docs/learn-tutorial.md", "Size servers for a production load"),
        Entry("docs/learn.md", "See what a production log shows"),
        Entry("docs/doctor.md", "Check that a machine is fit to measure"),
        Entry("docs/observability.md", "Watch a run in Grafana"),
        Entry("docs/hosts.md", "Run servers on other machines"),
        Entry("docs/hooks.md", "Measure a cloud database or a cluster"),
        Entry("docs/drivers.md", "Drive the load from several machines"),
        Entry("docs/kubernetes.md", "Drive load from Kubernetes"),
        Entry("docs/placement.md", "Give servers and clients their CPUs"),
        Entry("docs/server-files.md", "Choose where a server's files are"),
        Entry("docs/replicas.md", "Measure a source with replicas"),
        Entry("docs/read-spreading.md", "Spread reads over replicas"),
        Entry("docs/reading-replicas.md", "Read a guide about replicas"),
        Entry("docs/failover.md", "Time a failover"),
        Entry("docs/durability.md", "Test what a crash loses"),
        Entry("docs/storage.md", "Measure storage without a database"),
        Entry("docs/cost.md", "Compare what systems cost"),
        Entry("docs/encryption.md", "Encrypt connections, keep passwords secret"),
        Entry("docs/bundle.md", "Send a study to somebody"),
        Entry("docs/import.md", "Import published results and logs"),
    ),
    "Look up": (
        Entry("docs/cli.md", "Commands"),
        Entry("docs/study-file.md", "Study file"),
        Entry("docs/workloads.md", "Workload file"),
        Entry("docs/warnings.md", "Warnings"),
        Entry("docs/glossary.md", "Glossary"),
        Entry(
            "docs/guide-json.md",
            "JSON: guide.json and others",
            (
                Entry("docs/ab-json.md", "ab --json"),
                Entry("docs/capacity-json.md", "capacity --json"),
                Entry("docs/compare-json.md", "compare --json"),
                Entry("docs/doctor-json.md", "doctor --json"),
                Entry("docs/durability-json.md", "durability --json"),
                Entry("docs/failover-json.md", "failover --json"),
                Entry("docs/learn-check-json.md", "learn check --json"),
                Entry("docs/learn-digests-json.md", "learn digests --json"),
                Entry("docs/learn-report-json.md", "learn report --json"),
                Entry("docs/size-json.md", "size --json"),
                Entry("docs/storage-json.md", "storage --json"),
                Entry("docs/study-plan-json.md", "study plan --json"),
                Entry("docs/study-status-json.md", "study status --json"),
                Entry("docs/trend-json.md", "trend --json"),
                Entry("docs/trial-json.md", "trial --json"),
            ),
        ),
        Entry("docs/recordings.md", "Recordings"),
        Entry("docs/export.md", "Tables: CSV and Parquet"),
        Entry("docs/telemetry.md", "Telemetry"),
        Entry("docs/logs.md", "Logs of production servers"),
        Entry("docs/engine-protocol.md", "Engine protocol"),
        Entry("docs/python.md", "Python"),
        Entry(
            "examples/README.md",
            "Example studies",
            (
                Entry("examples/published/README.md", "Published studies"),
                Entry("examples/sysbench/README.md", "Logs of sysbench"),
            ),
        ),
        Entry("CHANGELOG.md", "Changes"),
    ),
    "Understand": (
        Entry("docs/methods.md", "How a guide decides"),
        Entry("docs/evidence.md", "Simulated error rates"),
        Entry(
            "docs/learn-workload.md",
            "Learned workloads",
            (
                Entry("docs/learn-data.md", "Their data"),
                Entry("docs/learn-demand.md", "The demand"),
                Entry("docs/learn-fidelity.md", "How faithful they are"),
            ),
        ),
        Entry("docs/peers.md", "Other tools"),
        Entry("docs/benchmarks.md", "Plimsoll's own speed"),
        Entry("docs/engine.md", "The load engine"),
        Entry("docs/what-decides.md", "Which part decides what"),
        Entry("ARCHITECTURE.md", "Architecture"),
        Entry("docs/decisions/README.md", "Decisions", _decisions()),
        Entry("STYLE.md", "Style of the code"),
        Entry("CONTRIBUTING.md", "Contributing"),
    ),
}
"""Each part with its entries, in the order in which they are shown."""


def entries(part: tuple[Entry, ...]) -> Iterator[Entry]:
    """A part's entries, those below others included."""
    for entry in part:
        yield entry
        yield from entries(entry.below)


def pages() -> list[str]:
    """The Markdown file of every entry."""
    return [entry.path for part in PARTS.values() for entry in entries(part)]


def index_markdown() -> str:
    """The whole of docs/README.md: every page by part. A README lists its own entries, so they are left out here."""
    parts = (f"## {part}\n\n" + "".join(_listed(listed)) for part, listed in PARTS.items())
    return "\n".join([INTRODUCTION, *parts])


def _listed(listed: tuple[Entry, ...], indent: str = "") -> Iterator[str]:
    for entry in listed:
        if entry.path != INDEX:
            yield f"{indent}* [{entry.title}]({os.path.relpath(entry.path, 'docs')})\n"
        if not entry.path.endswith(HOME):
            yield from _listed(entry.below, indent + "  ")
