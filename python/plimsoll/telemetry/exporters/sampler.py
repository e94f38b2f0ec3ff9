"""Asks an exporter for its page now and then, and gives what it says under our own names.

A page is coarser than our own samplers: its figures cover the time since the last page with new values, and some
exporters look only every 15 or 60 s, however often they are asked. That time is measured and recorded. What Plimsoll
asks the server itself is not taken from a page: two readings of one counter at slightly different times would make it
fall. Deliberately not here: HTTP (`page`), the format (`page`), names (`readers`).
"""

from __future__ import annotations

import itertools
import statistics
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import SecretStr

from plimsoll.errors import HostError
from plimsoll.record.environment import ExporterFacts
from plimsoll.spec.target import Target
from plimsoll.telemetry.exporters import readers
from plimsoll.telemetry.exporters.page import Exposed, Page, exposed, fetch_page, shown_url
from plimsoll.telemetry.sampler import Placed, Sample, Sampler

BACK_OFF_S_MAX = 60.0
_SLACK_S = 0.25
"""A collector is never exactly on time; a request that is due so soon is made now."""

_BUSY_PART = 2
"""An exporter that needs long for a page is left in peace for as long again."""

_REMEMBERED = 1000


ON_THIS_MACHINE = "the server runs on this machine, which Plimsoll samples itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """A page to ask for.

    Attributes:
        url: Checked before.
        interval_s: Time between two requests, seconds.
        token: To be sent as bearer token; None for none.
        device: The disk that holds the server's data; None where unknown.
    """

    url: str
    interval_s: float
    token: SecretStr | None = None
    device: str | None = None


class Exporting(Protocol):
    """A server with exporters."""

    @property
    def name(self) -> str:
        """Unique within its system."""

    @property
    def target(self) -> Target:
        """How to reach it."""

    @property
    def is_here(self) -> bool | None:
        """Whether it runs on this machine; None when unknown."""

    @property
    def exporters(self) -> tuple[Exporter, ...]:
        """Pages about it and its machine."""


class ExporterSampler(Sampler):
    """One request for a page each interval, in a thread of its own."""

    source: ClassVar[str] = "exporter"
    waits: ClassVar[bool] = True
    cost: ClassVar[str] = "one HTTP request each 5 s, or as the study says; 0.1 ms for each sample that is read"
    metrics: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        exporter: Exporter,
        instance: str,
        first_hand: Collection[str] = (),
        *,
        fetch: Callable[[str, SecretStr | None], Page] = fetch_page,
    ) -> None:
        """Takes what to ask.

        Args:
            exporter: The page.
            instance: Of which server.
            first_hand: Metrics of the server that others sample; it may grow.
            fetch: Gets a page.
        """
        self._exporter, self._instance, self._first_hand, self._fetch = exporter, instance, first_hand, fetch
        self._node, self._mysqld = readers.NodeReader(exporter.device), readers.MysqldReader()
        self._not_before_s = 0.0
        self._failures_in_a_row = self._failures_count = self._pages_count = self._page_bytes_max = 0
        self._took_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._new_at_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._sources: dict[str, None] = {}

    def sample(self, at_unix_s: float) -> list[Sample]:
        """Asks if it is time to, see `Sampler`.

        Raises:
            HostError: No page came, or nothing in it is known.
        """
        if at_unix_s + _SLACK_S < self._not_before_s:
            return []
        try:
            page = self._fetch(self._exporter.url, self._exporter.token)
            known = exposed(page.text, _is_known)
            if not known:
                raise HostError(
                    f"{shown_url(self._exporter.url)}: nothing there is known; node_exporter and mysqld_exporter are"
                )
        except HostError:
            self._failures_in_a_row += 1
            self._failures_count += 1
            wait_s = self._exporter.interval_s * 2 ** min(self._failures_in_a_row, 10)
            self._not_before_s = at_unix_s + max(min(wait_s, BACK_OFF_S_MAX), self._exporter.interval_s)
            raise
        self._failures_in_a_row = 0
        self._not_before_s = at_unix_s + max(self._exporter.interval_s, _BUSY_PART * page.took_s)
        return self._read(at_unix_s, page, known)

    def _read(self, at_unix_s: float, page: Page, known: Sequence[Exposed]) -> list[Sample]:
        of_host = self._node.read(at_unix_s, known)
        of_server = self._mysqld.read(known)
        is_first = self._pages_count == 0
        self._pages_count += 1
        self._page_bytes_max = max(self._page_bytes_max, page.size_bytes)
        self._took_s.append(page.took_s)
        if of_host is not None or of_server is not None:
            self._new_at_s.append(at_unix_s)
        if is_first:  # until the second page it is known what others sample
            of_server = None
        samples = [*(of_host or ()), *(sample for sample in of_server or () if sample.metric not in self._first_hand)]
        self._sources |= dict.fromkeys(sample.source for sample in samples)
        return samples

    def facts(self) -> ExporterFacts:
        """What was read so far."""
        between_s = [later - earlier for earlier, later in itertools.pairwise(self._new_at_s)]
        return ExporterFacts(
            instance=self._instance,
            url=shown_url(self._exporter.url),
            interval_s=self._exporter.interval_s,
            resolution_s=round(statistics.median(between_s), 1) if between_s else None,
            answer_ms_median=round(statistics.median(self._took_s) * 1000, 1) if self._took_s else None,
            page_bytes_max=self._page_bytes_max,
            pages_count=self._pages_count,
            failures_count=self._failures_count,
            sources=tuple(self._sources),
            host_name=self._node.host_name,
        )


def _is_known(name: str) -> bool:
    return name in readers.KNOWN or readers.is_known(name)


def placed_exporters(instances: Sequence[Exporting], first_hand: Mapping[str, Collection[str]]) -> list[Placed]:
    """A sampler for each exporter of servers that are not on this machine.

    Args:
        instances: The servers.
        first_hand: By instance, metrics that others sample.
    """
    return [
        Placed(
            sampler=ExporterSampler(exporter, instance.name, first_hand[instance.name]),
            host="" if instance.is_here is None else instance.target.host or "",
            instance=instance.name,
        )
        for instance in instances
        if not instance.is_here
        for exporter in instance.exporters
    ]


def exporter_facts(instances: Sequence[Exporting], placed: Sequence[Placed]) -> tuple[ExporterFacts, ...]:
    """What was read from each exporter, and why others were left alone."""
    unused = (
        ExporterFacts(
            instance=instance.name,
            url=shown_url(exporter.url),
            interval_s=exporter.interval_s,
            unused=ON_THIS_MACHINE,
        )
        for instance in instances
        if instance.is_here
        for exporter in instance.exporters
    )
    return (*(place.sampler.facts() for place in placed if isinstance(place.sampler, ExporterSampler)), *unused)
