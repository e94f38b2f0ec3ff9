"""What node_exporter says of a machine and mysqld_exporter of a server, under the names and units of our samplers.

Counters of a machine become rates over the time from one page with new values to the next. mysqld_exporter gives
families of status variables one name and a label; here they get back the names that the server has for them. Sources:
node_exporter 1.5, mysqld_exporter 0.14 (collector/global_status.go, perf_schema_file_events.go), docs/telemetry.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from plimsoll.telemetry.device import DISKS_MAX, NO_DISKS, SECTOR_BYTES, device_rates
from plimsoll.telemetry.exporters.page import Exposed
from plimsoll.telemetry.host import memory_sizes, processor_shares, traffic_counters, traffic_rates
from plimsoll.telemetry.sampler import Deltas, Sample
from plimsoll.telemetry.server_status import HISTORY, REGULAR, with_checkpoint_age
from plimsoll.telemetry.server_waits import FILES

PREFIX = "node_"
CPUS_MAX = 1024

_MODES = {"nice": "user", "irq": "system", "softirq": "system"}
"""Modes that are part of another one; all others stand for themselves."""

_KNOWN_MODES = frozenset({"user", "system", "idle", "iowait", "steal", *_MODES})
_TOTALS = {
    "node_context_switches_total": "ctxt",
    "node_intr_total": "intr",
    "node_pressure_cpu_waiting_seconds_total": "pressure_cpu_some_ratio",
    "node_pressure_io_waiting_seconds_total": "pressure_io_some_ratio",
    "node_pressure_io_stalled_seconds_total": "pressure_io_full_ratio",
    "node_pressure_memory_waiting_seconds_total": "pressure_memory_some_ratio",
    "node_pressure_memory_stalled_seconds_total": "pressure_memory_full_ratio",
}
_GAUGES = {"node_procs_running": "runnable_count", "node_procs_blocked": "blocked_count"}
_MEMORY = {
    f"node_memory_{name}_bytes": name
    for name in ("MemAvailable", "Cached", "Buffers", "Shmem", "Dirty", "SwapTotal", "SwapFree")
}
_FREQUENCIES = frozenset({"node_cpu_frequency_hertz", "node_cpu_scaling_frequency_hertz"})
_BUSY = "node_disk_io_time_seconds_total"
_DEVICE = {
    "node_disk_reads_completed_total": ("reads", 1.0),
    "node_disk_read_bytes_total": ("read_sectors", 1 / SECTOR_BYTES),
    "node_disk_read_time_seconds_total": ("read_ms", 1e3),
    "node_disk_writes_completed_total": ("writes", 1.0),
    "node_disk_written_bytes_total": ("written_sectors", 1 / SECTOR_BYTES),
    "node_disk_write_time_seconds_total": ("write_ms", 1e3),
    _BUSY: ("busy_ms", 1e3),
    "node_disk_io_time_weighted_seconds_total": ("queued_ms", 1e3),
    "node_disk_flush_requests_total": ("flushes", 1.0),
    "node_disk_flush_requests_time_seconds_total": ("flush_ms", 1e3),
}
"""Counters of a disk, their names in /proc/diskstats, and by what to multiply them."""

_NEEDED_OF_DEVICE = frozenset(name for name, _ in _DEVICE.values()) - {"flushes", "flush_ms"}
_RECEIVED, _SENT = "node_network_receive_bytes_total", "node_network_transmit_bytes_total"
_SPEED = "node_network_speed_bytes"
_NO_LINKS = ("lo", "veth", "tun", "tap", "br", "virbr", "docker", "bond", "team", "dummy", "wg", "vxlan", "cali", "cni")
"""Names of interfaces that are only software begin so; the speed that some of them have is made up."""

_CPU, _QUEUE, _HOST = "node_cpu_seconds_total", "node_schedstat_waiting_seconds_total", "node_uname_info"
KNOWN = frozenset(
    {_CPU, _QUEUE, _HOST, _RECEIVED, _SENT, _SPEED, *_TOTALS, *_GAUGES, *_MEMORY, *_FREQUENCIES, *_DEVICE}
)
"""Names of the samples that are read."""

_SAFE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_PARTITION = re.compile(r"(?:h|s|v|xv)d[a-z]+\d+|(?:nvme\d+n\d+|mmcblk\d+)p\d+")


class NodeReader:
    """From the samples of one page after the other to metrics of the host.

    Attributes:
        host_name: What the machine calls itself; None where the page does not say.
    """

    def __init__(self, device: str | None = None) -> None:
        """Takes the name of the disk that holds the server's data; None where that is not known."""
        self._device = device
        self._deltas, self._device_deltas = Deltas(), Deltas()
        self._before: dict[str, float] = {}
        self.host_name: str | None = None

    def read(self, at_unix_s: float, page: Iterable[Exposed]) -> list[Sample] | None:
        """The metrics of a page; rates are missing from the first one.

        Returns:
            None where the page tells nothing that the one before did not: its exporter had not looked again.
        """
        by_name: dict[str, list[Exposed]] = defaultdict(list)
        for series in page:
            if series.name in KNOWN:
                by_name[series.name].append(series)
        counters = {**_cpu_counters(by_name), **_other_counters(by_name)}
        of_device = self._of_device(by_name)
        self.host_name = next(
            (name for series in by_name[_HOST] if _SAFE.fullmatch(name := series.labels.get("nodename", ""))),
            self.host_name,
        )
        seen = {**counters, **of_device}
        if not seen or seen == self._before:
            return None
        self._before = seen
        metrics = _now(by_name) | _rates(self._deltas.rise(at_unix_s, counters), _link_speeds(by_name))
        samples = [Sample("host", metric, value) for metric, value in metrics.items()]
        risen = self._device_deltas.rise(at_unix_s, of_device) if of_device else None
        if risen is not None and risen[1].keys() >= _NEEDED_OF_DEVICE:
            samples += [Sample("device", metric, value) for metric, value in device_rates(*risen).items()]
        return samples

    def _of_device(self, by_name: Mapping[str, list[Exposed]]) -> dict[str, float]:
        return {
            counter: series.value * factor
            for name, (counter, factor) in _DEVICE.items()
            for series in by_name[name]
            if self._device is not None and series.labels.get("device") == self._device
        }


def _cpu_counters(by_name: Mapping[str, list[Exposed]]) -> dict[str, float]:
    """Seconds by CPU and mode, as `processor_shares` takes them."""
    counters: dict[str, float] = defaultdict(float)
    for series in by_name[_CPU]:
        number, mode = series.labels.get("cpu", ""), series.labels.get("mode", "")
        if not re.fullmatch(r"\d{1,4}", number) or int(number) >= CPUS_MAX or mode not in _KNOWN_MODES:
            continue
        for cpu in ("cpu", f"cpu{int(number)}"):
            counters[f"{cpu} {_MODES.get(mode, mode)}"] += series.value
            if mode == "softirq":
                counters[f"{cpu} softirq"] += series.value
    return dict(counters)


def _other_counters(by_name: Mapping[str, list[Exposed]]) -> dict[str, float]:
    counters = {short: by_name[name][0].value for name, short in _TOTALS.items() if by_name[name]}
    disks = {series.labels.get("device", ""): series.value for series in by_name[_BUSY] if series.value > 0}
    named = [name for name in sorted(disks) if _is_disk(name)][:DISKS_MAX]
    counters |= {f"disk_{name}_busy_ratio": disks[name] for name in named}
    if by_name[_QUEUE]:
        counters["run_queue_mean"] = sum(series.value for series in by_name[_QUEUE])
    sent = {series.labels.get("device", ""): series.value for series in by_name[_SENT]}
    received = {series.labels.get("device", ""): series.value for series in by_name[_RECEIVED]}
    both = {name: (received[name], sent[name]) for name in received if name in sent and _SAFE.fullmatch(name)}
    return counters | traffic_counters(both)


def _is_disk(name: str) -> bool:
    return bool(_SAFE.fullmatch(name)) and not name.startswith(NO_DISKS) and not _PARTITION.fullmatch(name)


def _link_speeds(by_name: Mapping[str, list[Exposed]]) -> dict[str, float]:
    """By interface, bytes per second in one direction."""
    named = {series.labels.get("device", ""): series.value for series in by_name[_SPEED] if series.value > 0}
    return {name: speed for name, speed in named.items() if not name.startswith(_NO_LINKS)}


def _rates(risen: tuple[float, dict[str, float]] | None, speeds: Mapping[str, float]) -> dict[str, float]:
    if risen is None:
        return {}
    elapsed_s, rises = risen
    traffic = {name: value for name, value in rises.items() if name.startswith("network_")}
    shares = {name: min(value / elapsed_s, 1.0) for name, value in rises.items() if name.endswith("_ratio")}
    metrics = processor_shares(elapsed_s, rises) | shares | traffic_rates(elapsed_s, traffic, speeds)
    if "run_queue_mean" in rises:
        metrics["run_queue_mean"] = rises["run_queue_mean"] / elapsed_s
    return metrics


def _now(by_name: Mapping[str, list[Exposed]]) -> dict[str, float]:
    """What is known of the moment."""
    metrics = {short: by_name[name][0].value for name, short in _GAUGES.items() if by_name[name]}
    sizes = {short: by_name[name][0].value for name, short in _MEMORY.items() if by_name[name]}
    if sizes.keys() >= {"MemAvailable", "Cached", "Buffers"}:
        metrics |= memory_sizes(sizes)
    hertz = [series.value for name in sorted(_FREQUENCIES) for series in by_name[name]]
    if hertz:
        metrics["cpu_frequency_hz"] = sum(hertz) / len(hertz)
    return metrics


_STATUS = "mysql_global_status_"
_LABELLED = {
    f"{_STATUS}commands_total": ("command", "com_"),
    f"{_STATUS}handlers_total": ("handler", "handler_"),
    f"{_STATUS}connection_errors_total": ("error", "connection_errors_"),
    f"{_STATUS}buffer_pool_pages": ("state", "innodb_buffer_pool_pages_"),
    f"{_STATUS}buffer_pool_page_changes_total": ("operation", "innodb_buffer_pool_pages_"),
    f"{_STATUS}innodb_row_ops_total": ("operation", "innodb_rows_"),
}
"""Families of status variables, the label that tells them apart, and how their names begin."""

_RENAMED = {
    f"{_STATUS}buffer_pool_dirty_pages": "innodb_buffer_pool_pages_dirty",
    "mysql_info_schema_innodb_metrics_transaction_trx_rseg_history_len": HISTORY,
}
VARIABLES_MAX = 1_500
"""That are read from a page; servers have some 400 to 600."""

_FILE_WAITS = "mysql_perf_schema_file_events_seconds_total"
_VARIABLE = re.compile(rf"(?=[a-z0-9_]{{1,120}}\Z)(?:{REGULAR})")


def is_known(name: str) -> bool:
    """Whether samples of this name are read."""
    return name.startswith(_STATUS) or name in _RENAMED or name == _FILE_WAITS


class MysqldReader:
    """From the samples of one page after the other to status variables."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}

    def read(self, page: Iterable[Exposed]) -> list[Sample] | None:
        """The status variables of a page that are recorded, and totals of waits for files.

        Returns:
            None where the page tells nothing that the one before did not.
        """
        values, waits_ms = dict[str, float](), dict[str, float]()
        for series in page:
            if series.name == _FILE_WAITS and (metric := FILES.get(series.labels.get("event_name", ""))) is not None:
                waits_ms[metric] = waits_ms.get(metric, 0.0) + series.value * 1e3
            elif len(values) < VARIABLES_MAX and (variable := _variable_of(series)) is not None:
                values[variable] = series.value
        values = with_checkpoint_age(values)
        seen = {**values, **waits_ms}
        if not seen or seen == self._before:
            return None
        self._before = seen
        samples = [Sample("server", name, value) for name, value in values.items()]
        return samples + [Sample("waits", metric, value) for metric, value in waits_ms.items()]


def _variable_of(series: Exposed) -> str | None:
    """The status variable that a sample is of; None for one that is not recorded."""
    if series.name in _LABELLED:
        label, begin = _LABELLED[series.name]
        variable = begin + series.labels.get(label, "")
    elif series.name in _RENAMED:
        variable = _RENAMED[series.name]
    elif series.name.startswith(_STATUS):
        variable = series.name.removeprefix(_STATUS)
    else:
        return None
    return variable if _VARIABLE.fullmatch(variable) else None
