"""Warnings about the client: that it may be the limit, where it ran, and drivers that did not do alike.

Each check says for itself from which value on it doubts, and why there. What several drivers did is compared in
`plimsoll.analyse.trial.drivers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plimsoll.analyse.findings.doubts import Doubt, Observation, Place, Voids, WarningKind, place_of
from plimsoll.analyse.study.cell_model import EQUAL_WITHIN
from plimsoll.units import format_ms, format_percent, format_rate

if TYPE_CHECKING:
    from plimsoll.analyse.study.cell_model import Cell
    from plimsoll.analyse.trial.trial_summary import TrialSummary

CLIENT_SATURATED = WarningKind(
    "client-saturated",
    Voids.MACHINE,
    "Run the client on another host, or give it processors of its own, and measure these levels again.",
)

_CLIENT_RATIO_OF_BUSY_HOST = 0.2
"""On a host without idle time, a client with this share takes what the server lacks: sysbench's usual share there."""

_CLIENT_RATIO_ALONE = 0.9
_IDLE_RATIO_OF_BUSY_HOST = 0.05


class ClientOwnProcessors(Observation, kind=CLIENT_SATURATED, seen="client-own-processors"):
    """The client took nearly all of the few processors that it could use."""

    client_of_own_cpu_ratio: float

    def __str__(self) -> str:
        return f"the client took {format_percent(self.client_of_own_cpu_ratio)} of the processors that it could use"


class ClientProcessors(Observation, kind=CLIENT_SATURATED, seen="client-processors"):
    """The client took much of the host's processors."""

    client_cpu_ratio: float
    idle_cpu_ratio: float | None

    def __str__(self) -> str:
        rest = "" if self.idle_cpu_ratio is None else f"; {format_percent(self.idle_cpu_ratio)} was idle"
        return f"the client took {format_percent(self.client_cpu_ratio)} of the host's processors{rest}"


def check_client_of_cell(cell: Cell, place: Place) -> Iterator[Doubt]:
    """Whether the client took processor time that the server lacked."""
    client, idle, of_own = cell.cpu.client, cell.cpu.idle, cell.cpu.client_of_own
    if client is None:
        return
    if of_own is not None and of_own >= _CLIENT_RATIO_ALONE:
        yield place.doubt(ClientOwnProcessors(client_of_own_cpu_ratio=of_own), of_own)
        return
    shares_busy_host = idle is not None and idle <= _IDLE_RATIO_OF_BUSY_HOST and client >= _CLIENT_RATIO_OF_BUSY_HOST
    if client >= _CLIENT_RATIO_ALONE or shares_busy_host:
        yield place.doubt(ClientProcessors(client_cpu_ratio=client, idle_cpu_ratio=idle), client)


LATE_MS = 1.0
LATE_RATIO = 0.1
"""A client is late when that shows in what users wait: more than a tenth of the median, and than 1 ms."""


class ClientLate(Observation, kind=CLIENT_SATURATED, seen="client-late"):
    """The client sent transactions late."""

    dispatch_ms_p99: float

    def __str__(self) -> str:
        late = format_ms(self.dispatch_ms_p99)
        return f"the client sent 1 % of the transactions {late} or more after a connection was free"


def check_dispatch(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Whether the client sent transactions late; several drivers are looked at one by one."""
    from plimsoll.analyse.trial.histograms import percentile_ms

    late = trial_summary.histograms.get("dispatch_delay")
    response = trial_summary.histograms.get("response")
    if late is None or response is None or trial_summary.drivers:
        return
    late_ms, median_ms = percentile_ms(late, 0.99), percentile_ms(response, 0.5)
    if late_ms is not None and median_ms is not None and late_ms > max(LATE_MS, LATE_RATIO * median_ms):
        yield place_of(trial_summary.trial).doubt(ClientLate(dispatch_ms_p99=late_ms), late_ms)


class ClientWaited(Observation, kind=CLIENT_SATURATED, seen="client-waited"):
    """The client's threads waited for a processor."""

    waited_ms_per_transaction: float
    of_response_ratio: float

    def __str__(self) -> str:
        waited, share = format_ms(self.waited_ms_per_transaction), format_percent(self.of_response_ratio)
        return (
            f"the client's threads waited {waited} for a processor per transaction, {share} of the mean response time"
        )


def check_run_queue(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Whether the client's threads waited; on the server's host the two compete anyway, and another warning says so."""
    from plimsoll.analyse.trial.processors import shares_processors

    waits, response = trial_summary.client_waits_s_per_s, trial_summary.histograms.get("response")
    if (
        waits is None
        or response is None
        or trial_summary.throughput_tps == 0
        or shares_processors(trial_summary.environment)
    ):
        return
    if trial_summary.drivers:
        return
    waited_ms = waits / trial_summary.throughput_tps * 1000
    mean_ms = response.sum_ns / response.total / 1e6
    if waited_ms > LATE_RATIO * mean_ms:
        share = waited_ms / mean_ms
        seen = ClientWaited(waited_ms_per_transaction=waited_ms, of_response_ratio=share)
        yield place_of(trial_summary.trial).doubt(seen, share)


_CLIENT_LIMIT_RATIO = 0.8
"""Above this share of what the client can drive at most, its own queueing shows in throughput."""


class ClientNearLimit(Observation, kind=CLIENT_SATURATED, seen="client-near-limit"):
    """Throughput came near what the client reaches against a server that answers at once."""

    of_limit_ratio: float
    client_limit_tps: float

    def __str__(self) -> str:
        return (
            f"throughput was {format_percent(self.of_limit_ratio)} of the {format_rate(self.client_limit_tps)} that"
            " this client reaches against a server that answers at once"
        )


def check_limit(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Whether throughput came near what the client reaches against a server that answers at once."""
    limit_tps = trial_summary.environment.client.limit_tps
    if limit_tps is not None and trial_summary.throughput_tps > _CLIENT_LIMIT_RATIO * limit_tps:
        share = trial_summary.throughput_tps / limit_tps
        yield place_of(trial_summary.trial).doubt(
            ClientNearLimit(of_limit_ratio=share, client_limit_tps=limit_tps), share
        )


class DriverLate(Observation, kind=CLIENT_SATURATED, seen="driver-late"):
    """A driver sent transactions late."""

    driver: str
    dispatch_ms_p99: float

    def __str__(self) -> str:
        late = format_ms(self.dispatch_ms_p99)
        return f"driver {self.driver} sent 1 % of its transactions {late} or more after a connection was free"


class DriverWaited(Observation, kind=CLIENT_SATURATED, seen="driver-waited"):
    """A driver's threads waited for a processor."""

    driver: str
    waited_ms_per_transaction: float
    of_response_ratio: float

    def __str__(self) -> str:
        waited, share = format_ms(self.waited_ms_per_transaction), format_percent(self.of_response_ratio)
        return (
            f"threads of driver {self.driver} waited {waited} for a processor in each of its transactions, {share} of"
            " the mean response time"
        )


DRIVERS_STARTED_APART = WarningKind(
    "drivers-started-apart",
    Voids.MACHINE,
    "Look for what delays messages to that driver (network, a busy machine), or measure with a longer warm-up: only the"
    " beginning of the load is concerned.",
)


class DriversStartedApart(Observation, kind=DRIVERS_STARTED_APART, seen="drivers-started-apart"):
    """Drivers did not start together.

    Attributes:
        error_ms: Of the comparison of their clocks.
    """

    driver: str
    spread_ms: float
    error_ms: float

    def __str__(self) -> str:
        spread, error = format_ms(self.spread_ms), format_ms(self.error_ms)
        return f"driver {self.driver} began {spread} after the first one (known to {error})"


DRIVER_DIFFERS = WarningKind(
    "driver-differs",
    Voids.MACHINE,
    "Look for what is different about that driver: its processors, what else runs there, its way to the server. Replace"
    " it or leave it out, and measure these trials again.",
)


class DriverPart(Observation, kind=DRIVER_DIFFERS, seen="driver-part"):
    """A driver completed less than its share."""

    driver: str
    completed_ratio: float
    expected_ratio: float

    def __str__(self) -> str:
        completed, expected = format_percent(self.completed_ratio), format_percent(self.expected_ratio)
        return f"driver {self.driver} completed {completed} of all transactions; its share is {expected}"


class DriverDispatch(DriverLate, kind=DRIVER_DIFFERS, seen="driver-dispatch"):
    """A driver sent transactions later than the others."""

    others_ms_p99: float

    def __str__(self) -> str:
        return f"{super().__str__()}; of the others the median is {format_ms(self.others_ms_p99)}"


class DriverRoundTrip(Observation, kind=DRIVER_DIFFERS, seen="driver-round-trip"):
    """A driver has a longer way to the server than the others."""

    driver: str
    fastest_ms: float
    others_ms: float

    def __str__(self) -> str:
        fastest, others = format_ms(self.fastest_ms), format_ms(self.others_ms)
        return (
            f"the fastest tenth of the transactions of driver {self.driver} took up to {fastest} of service time; of"
            f" the others the median is {others}"
        )


SERVER_PLACE_UNKNOWN = WarningKind(
    "server-place-unknown",
    Voids.ABSOLUTE,
    "Run plimsoll where it sees the server's process, or against the server's own address, without a tunnel or a"
    " forwarded port.",
)


class ServerPlaceUnknown(Observation, kind=SERVER_PLACE_UNKNOWN, seen="server-place-unknown"):
    """It is not known whether the client ran on the server's host."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def check_place(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Whether it is known where the server ran."""
    client = trial_summary.environment.client
    if client.on_server_host is None and client.server_place is not None:
        yield place_of(trial_summary.trial).doubt(ServerPlaceUnknown(reason=client.server_place))


CLIENT_ON_SERVER_HOST = WarningKind(
    "client-on-server-host",
    Voids.ABSOLUTE,
    "Use such trials for differences between systems, not for absolute figures; or run the client on another host.",
    "The client takes processor time from the server: absolute figures are too low.",
)

CLIENT_TAKES_RATIO = EQUAL_WITHIN
"""From this share of the servers' processors on, a client beside them matters.

Alone, a server that saturates its processors would sustain at most so much more: less than two systems may differ and
still count as equal.
"""


class ClientOnServerHost(Observation, kind=CLIENT_ON_SERVER_HOST, seen="client-on-server-host"):
    """The client ran beside the server.

    Attributes:
        client_cpu_ratio: What it took of the machine; None where that is not known.
        are_apart: Each has CPUs of its own, the next two.
        shared_cpus: Those that both may use, where either has few.
    """

    client_cpu_ratio: float | None
    are_apart: bool | None = None
    server_cpus: str | None = None
    client_cpus: str | None = None
    shared_cpus: str | None = None

    def __str__(self) -> str:
        share = self.client_cpu_ratio
        took = "" if share is None else f" and took {format_percent(share)} of the processors"
        where = f", on CPUs of its own ({self.client_cpus}; server {self.server_cpus})" if self.are_apart else ""
        if self.shared_cpus:
            where = f", shared CPU {self.shared_cpus} with it"
        return f"the client ran on the server's host{where}{took}"


def check_client_beside(trial_summary: TrialSummary) -> Iterator[Doubt]:
    """Whether the client ran beside the server and took a share that matters."""
    from plimsoll.analyse.trial.processors import client_of_servers, cpus_of_sides, sides_of

    share = trial_summary.cpu.client
    taken = client_of_servers(share, trial_summary.environment)
    if trial_summary.environment.client.on_server_host and (taken is None or taken >= CLIENT_TAKES_RATIO):
        cpus = cpus_of_sides(sides_of(trial_summary.environment))
        yield place_of(trial_summary.trial).doubt(ClientOnServerHost(client_cpu_ratio=share, **cpus), share or 0.0)


class ClientSharesCpus(Observation, kind=CLIENT_ON_SERVER_HOST, seen="client-shares-cpus"):
    """Client and server may run on the same CPUs: seen before load."""

    instance: str
    shared_count: int
    cpus: tuple[int, ...]

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.cpus[:8])) + (", ..." if len(self.cpus) > 8 else "")
        noun = "CPU" if self.shared_count == 1 else "CPUs"
        return f"client and {self.instance} may both run on {self.shared_count} {noun} ({shown})"
