"""What pages of node_exporter and mysqld_exporter come to, under the names and units of our own samplers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.telemetry.exporters.page import Exposed, exposed
from plimsoll.telemetry.exporters.readers import KNOWN, MysqldReader, NodeReader, is_known
from plimsoll.telemetry.sampler import Sample, matches
from plimsoll.telemetry.standard import SAMPLERS


def host_page(at: float) -> list[Exposed]:
    """A machine of two CPUs: the first is busy half the time, the second not at all."""
    text = f"""
node_cpu_seconds_total{{cpu="0",mode="user"}} {100 + 0.3 * at}
node_cpu_seconds_total{{cpu="0",mode="nice"}} {5 + 0.1 * at}
node_cpu_seconds_total{{cpu="0",mode="softirq"}} {7 + 0.1 * at}
node_cpu_seconds_total{{cpu="0",mode="idle"}} {50 + 0.4 * at}
node_cpu_seconds_total{{cpu="0",mode="iowait"}} {1 + 0.1 * at}
node_cpu_seconds_total{{cpu="1",mode="idle"}} {9 + at}
node_cpu_seconds_total{{cpu="1",mode="user"}} 3
node_context_switches_total {1000 * at}
node_intr_total {500 * at}
node_procs_running 4
node_procs_blocked 1
node_memory_MemAvailable_bytes 6e9
node_memory_Cached_bytes 3e9
node_memory_Buffers_bytes 1e8
node_memory_Shmem_bytes 5e7
node_memory_Dirty_bytes 4096
node_memory_SwapTotal_bytes 100
node_memory_SwapFree_bytes 40
node_pressure_cpu_waiting_seconds_total {0.25 * at}
node_pressure_io_stalled_seconds_total {0.125 * at}
node_schedstat_waiting_seconds_total{{cpu="0"}} {0.5 * at}
node_schedstat_waiting_seconds_total{{cpu="1"}} {0.25 * at}
node_cpu_scaling_frequency_hertz{{cpu="0"}} 2e9
node_cpu_scaling_frequency_hertz{{cpu="1"}} 4e9
node_disk_io_time_seconds_total{{device="nvme0n1"}} {0.75 * at}
node_disk_io_time_seconds_total{{device="nvme0n1p1"}} {0.75 * at}
node_disk_io_time_seconds_total{{device="loop0"}} {at}
node_disk_reads_completed_total{{device="nvme0n1"}} {10 * at}
node_disk_read_bytes_total{{device="nvme0n1"}} {5120 * at}
node_disk_read_time_seconds_total{{device="nvme0n1"}} {0.02 * at}
node_disk_writes_completed_total{{device="nvme0n1"}} {100 * at}
node_disk_written_bytes_total{{device="nvme0n1"}} {1e6 * at}
node_disk_write_time_seconds_total{{device="nvme0n1"}} {0.5 * at}
node_disk_io_time_weighted_seconds_total{{device="nvme0n1"}} {1.5 * at}
node_network_receive_bytes_total{{device="eth0"}} {2000 * at}
node_network_transmit_bytes_total{{device="eth0"}} {3000 * at}
node_network_speed_bytes{{device="eth0"}} 30000
node_network_receive_bytes_total{{device="veth1"}} {2000 * at}
node_network_transmit_bytes_total{{device="veth1"}} {3000 * at}
node_network_speed_bytes{{device="veth1"}} 1250000000
node_network_receive_bytes_total{{device="eth1"}} 0
node_network_transmit_bytes_total{{device="eth1"}} 0
node_uname_info{{nodename="db1",release="6"}} 1
"""
    return exposed(text, KNOWN.__contains__)


def named(samples: list[Sample] | None, source: str) -> dict[str, float]:
    assert samples is not None
    return {sample.metric: sample.value for sample in samples if sample.source == source}


def test_a_host() -> None:
    reader = NodeReader("nvme0n1")
    first = reader.read(1000.0, host_page(10))
    assert named(first, "host").keys().isdisjoint({"cpu_user_ratio", "context_switches_per_s"})
    assert reader.read(1005.0, host_page(10)) is None, "nothing new"
    seen = reader.read(1010.0, host_page(20))
    assert reader.host_name == "db1"
    assert named(seen, "host") == pytest.approx(
        {
            "cpu_user_ratio": 0.2,
            "cpu_system_ratio": 0.05,
            "cpu_idle_ratio": 0.7,
            "cpu_iowait_ratio": 0.05,
            "cpu_steal_ratio": 0.0,
            "cpu0_busy_ratio": 0.5,
            "cpu0_softirq_ratio": 0.1,
            "cpu1_busy_ratio": 0.0,
            "context_switches_per_s": 1000,
            "interrupts_per_s": 500,
            "runnable_count": 4,
            "blocked_count": 1,
            "memory_available_bytes": 6e9,
            "page_cache_bytes": 3.05e9,
            "dirty_bytes": 4096,
            "swap_used_bytes": 60,
            "pressure_cpu_some_ratio": 0.25,
            "pressure_io_full_ratio": 0.125,
            "run_queue_mean": 0.75,
            "cpu_frequency_hz": 3e9,
            "disk_nvme0n1_busy_ratio": 0.75,
            "network_eth0_received_bytes_per_s": 2000,
            "network_eth0_sent_bytes_per_s": 3000,
            "network_eth0_used_ratio": 0.1,
            "network_veth1_received_bytes_per_s": 2000,
            "network_veth1_sent_bytes_per_s": 3000,
        }
    )
    assert named(seen, "device") == pytest.approx(
        {
            "read_bytes_per_s": 5120,
            "write_bytes_per_s": 1e6,
            "read_per_s": 10,
            "write_per_s": 100,
            "busy_ratio": 0.75,
            "queue_length_mean": 1.5,
            "read_ms_mean": 2.0,
            "write_ms_mean": 5.0,
        }
    )


def test_rates_cover_the_time_since_there_was_something_new() -> None:
    reader = NodeReader()
    reader.read(1000.0, host_page(0))
    for at_s in (1005.0, 1010.0):
        assert reader.read(at_s, host_page(0)) is None
    assert named(reader.read(1015.0, host_page(15)), "host")["context_switches_per_s"] == 1000


def test_without_the_name_of_the_disk_there_are_no_figures_of_the_device() -> None:
    reader = NodeReader()
    reader.read(0.0, host_page(0))
    assert named(reader.read(5.0, host_page(5)), "device") == {}


def test_status_variables_get_back_the_names_that_the_server_has_for_them() -> None:
    text = """
mysql_global_status_commands_total{command="select"} 11
mysql_global_status_handlers_total{handler="read_key"} 12
mysql_global_status_connection_errors_total{error="accept"} 13
mysql_global_status_buffer_pool_pages{state="free"} 14
mysql_global_status_buffer_pool_dirty_pages 15
mysql_global_status_buffer_pool_page_changes_total{operation="flushed"} 16
mysql_global_status_innodb_row_ops_total{operation="inserted"} 17
mysql_global_status_innodb_row_lock_time 18
mysql_global_status_threads_running 19
mysql_global_status_innodb_redo_log_current_lsn 500
mysql_global_status_innodb_redo_log_checkpoint_lsn 480
mysql_global_status_wsrep_cluster_size 3
mysql_global_status_uptime 99
mysql_info_schema_innodb_metrics_transaction_trx_rseg_history_len 20
mysql_perf_schema_file_events_seconds_total{event_name="wait/io/file/innodb/innodb_log_file",mode="write"} 1.5
mysql_perf_schema_file_events_seconds_total{event_name="wait/io/file/innodb/innodb_log_file",mode="misc"} 0.5
mysql_perf_schema_file_events_seconds_total{event_name="wait/io/file/sql/relaylog",mode="misc"} 0.5
"""
    reader = MysqldReader()
    seen = reader.read(exposed(text, is_known))
    assert named(seen, "server") == {
        "com_select": 11,
        "handler_read_key": 12,
        "connection_errors_accept": 13,
        "innodb_buffer_pool_pages_free": 14,
        "innodb_buffer_pool_pages_dirty": 15,
        "innodb_buffer_pool_pages_flushed": 16,
        "innodb_rows_inserted": 17,
        "innodb_row_lock_time": 18,
        "threads_running": 19,
        "innodb_redo_log_current_lsn": 500,
        "innodb_redo_log_checkpoint_lsn": 480,
        "innodb_checkpoint_age": 20,
        "innodb_history_list_length": 20,
    }
    assert named(seen, "waits") == {"wait_redo_file_ms": 2000.0}
    assert reader.read(exposed(text, is_known)) is None


_NAMES = st.sampled_from([*sorted(KNOWN), "mysql_global_status_commands_total", "mysql_global_status_x"])
_LABELS = st.dictionaries(st.sampled_from(["cpu", "mode", "device", "command", "nodename"]), st.text(max_size=8))
_VALUES = st.floats(allow_nan=False, allow_infinity=False)
_PAGES = st.lists(st.lists(st.builds(Exposed, _NAMES, _LABELS, _VALUES), max_size=20), max_size=3)


@given(_PAGES)
def test_whatever_a_page_says_metrics_have_names_that_are_documented(pages: list[list[Exposed]]) -> None:
    host, server = NodeReader("sda"), MysqldReader()
    patterns = {(sampler.source, pattern) for sampler in SAMPLERS for pattern in sampler.metrics}
    for at_s, page in enumerate(pages):
        for sample in (*(host.read(float(at_s), page) or ()), *(server.read(page) or ())):
            assert any(sample.source == source and matches(sample.metric, one) for source, one in patterns), sample
            assert sample.metric.isprintable()
