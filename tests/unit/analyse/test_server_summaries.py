"""What the server counted, per transaction: planted totals come back, and what is counted nowhere is estimated."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.where_model import WhereLevel, WherePart
from plimsoll.analyse.trial.resources import server_summaries
from plimsoll.analyse.trial.samples import samples_of
from plimsoll.record.environment import ClientFacts, Environment, HostFacts
from plimsoll.record.frames import TELEMETRY
from support.made import STARTED_UNIX_S, Made, measured

TPS = 100.0
SECONDS = 30


def telemetry(rates: dict[tuple[str, str, str], float], *, every: int = 1) -> pl.DataFrame:
    """Counters that rise by so much each second, by (source, instance, metric); shares for names that end so."""
    rows = [
        {
            "driver": "here",
            "host": "here",
            "instance": instance,
            "unix_s": STARTED_UNIX_S + second,
            "source": source,
            "metric": metric,
            "value": rate if metric.endswith(("_per_s", "_ratio", "_mean")) else 1000.0 + rate * second,
        }
        for second in range(0, SECONDS + 1, every)
        for (source, instance, metric), rate in rates.items()
    ]
    return pl.DataFrame(rows, schema=TELEMETRY)


def trial(rates: dict[tuple[str, str, str], float]) -> Made:
    return measured(
        np.full(SECONDS - 2, TPS),
        environment=Environment(host=HostFacts(name="here"), client=ClientFacts(on_server_host=True)),
        telemetry=telemetry(rates),
        response_ns=np.full(200, 40_000_000),
    )


def level(rates: dict[tuple[str, str, str], float]) -> WhereLevel:
    return analyse("made", [trial(rates)]).where_time[0].levels[0]


def test_waits_and_statements_per_transaction() -> None:
    schema = "performance_schema"
    found = level(
        {
            (schema, "one", "wait_io.file.sql.binlog_count"): 2 * TPS,
            (schema, "one", "wait_io.file.sql.binlog_ms"): 7 * TPS,
            (schema, "one", "wait_io.table.sql.handler_count"): 5 * TPS,
            (schema, "one", "wait_io.table.sql.handler_ms"): 1 * TPS,
            (schema, "one", "statement_sql.select_count"): 4 * TPS,
            (schema, "one", "statement_sql.select_ms"): 3 * TPS,
            (schema, "one", "statement_sql.select_lock_ms"): 99 * TPS,
            (schema, "one", "statement_sql.select_rows_examined_count"): 40 * TPS,
            ("host", "", "cpu_idle_ratio"): 0.5,
        }
    )
    assert [(server_wait.event, server_wait.count, server_wait.ms) for server_wait in found.server_waits] == [
        ("io.file.sql.binlog", pytest.approx(2), pytest.approx(7)),
        ("io.table.sql.handler", pytest.approx(5), pytest.approx(1)),
    ]
    (select,) = found.server_statements
    assert (select.kind, select.count, select.ms, select.rows_examined) == (
        "sql.select",
        pytest.approx(4),
        pytest.approx(3),
        pytest.approx(40),
    )


def test_instances_add_up_and_emptied_tables_are_left_out() -> None:
    rows = telemetry({("performance_schema", name, "wait_a_ms"): 2.0 for name in ("one", "two")}, every=5)
    assert _summaries(rows) == {"wait_a_ms": pytest.approx(4.0)}
    fell = rows.with_columns(value=pl.when(pl.col("unix_s") > STARTED_UNIX_S + 10).then(0.0).otherwise(pl.col("value")))
    assert _summaries(fell) == {}
    assert _summaries(rows.filter(pl.col("unix_s") == STARTED_UNIX_S + 5)) == {}, "one sample is no difference"


def _summaries(rows: pl.DataFrame) -> dict[str, float]:
    made = trial({})
    samples = samples_of(rows, made.intervals(), made.outcome.account)
    assert samples is not None
    return server_summaries(samples)


def test_a_binary_log_alone_is_not_the_wait_for_redo() -> None:
    """MariaDB counts waits for its binary log and none for its redo log: the redo part is then estimated."""
    rates = {
        ("waits", "one", "wait_binlog_file_ms"): 3 * TPS,
        ("server", "one", "innodb_data_fsyncs"): 2 * TPS,
        ("device", "one", "flush_ms_mean"): 4.0,
        ("device", "one", "flush_per_s"): 2 * TPS,
    }
    found = level(rates)
    assert found.parts_ms[WherePart.REDO] == pytest.approx(2 * 4 + 3)
    assert found.redo_is_estimate
    counted = level(rates | {("waits", "one", "wait_redo_file_ms"): 5 * TPS})
    assert counted.parts_ms[WherePart.REDO] == pytest.approx(5 + 3)
    assert not counted.redo_is_estimate


def test_what_the_server_wrote_and_read_per_transaction() -> None:
    found = level(
        {
            ("process", "one", "server_storage_write_bytes_per_s"): 8192 * TPS,
            ("server", "one", "innodb_os_log_written"): 2048 * TPS,
            ("server", "one", "innodb_log_writes"): 1.5 * TPS,
        }
    ).per_transaction
    assert (found["server_written_kb"], found["redo_kb"], found["log_writes"]) == (
        pytest.approx(8),
        pytest.approx(2),
        pytest.approx(1.5),
    )


@pytest.mark.parametrize(("throttled_s", "is_warned"), [(0.4, True), (0.005, False)])
def test_a_quota_that_stopped_the_server_is_a_warning(throttled_s: float, is_warned: bool) -> None:
    analysis = analyse("made", [trial({("process", "one", "server_throttled_s_per_s"): throttled_s})])
    assert ("server-throttled" in {warning.code for warning in analysis.warnings}) is is_warned
