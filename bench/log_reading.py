"""How fast the engine reads a slow log: the smallest entries, as MySQL writes them without `log_slow_extra`.

By processor time: what else runs on the machine hardly changes it. There is no peer.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from pathlib import Path

from bench.children import Used, run_child
from bench.ground import BASE
from bench.options import Options, say
from bench.rows import Goal, Row, Section
from plimsoll.drive.plans import read_logs_line

GOAL_MB_PER_S = 200.0
MEMORY_MIB_MAX = 100.0
BLOCK_ENTRIES = 20_000
"""Entries that differ; the log repeats them."""

STATEMENTS = (
    "BEGIN",
    "UPDATE stock SET quantity = quantity - 3 WHERE item_id = {id} AND warehouse = 'w{id}'",
    "INSERT INTO orders (customer_id, placed, note) VALUES ({id}, '2026-11-23 10:00:00', 'it''s note {id}')",
    "INSERT INTO order_lines (order_id, item_id, price) VALUES ({id}, 1, 9.99), ({id}, 2, 19.5), ({id}, 3, 0.5)",
    "SELECT id, name, price FROM items WHERE id IN ({id}, 17, 12345, 99) ORDER BY name LIMIT 20",
    "SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = {id} AND c.state <> 'x'",
    "SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = {id} AND c.state <> 'x'",
    "COMMIT",
)


def time_log_reading(options: Options) -> Section:
    """Megabytes of log for each second of processor time, with literals and without, and memory."""
    BASE.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="logs-", dir=BASE))
    try:
        say(f"writing a slow log of {options.log_megabytes} MB")
        log = folder / "slow.log"
        _write(log, options.log_megabytes * 1_000_000)
        megabytes = log.stat().st_size / 1e6
        say(f"plimsoll-engine read-logs, {options.pairs} times with literals and without")
        used = {share: list[Used]() for share in (1.0, 0.0)}
        for _ in range(options.pairs):
            for share, found in used.items():
                found.append(_read(folder, log, share))
    finally:
        shutil.rmtree(folder)
    rates = {share: [megabytes / (one.user_s + one.system_s) for one in found] for share, found in used.items()}
    goal = Goal(of="ours", limit=GOAL_MB_PER_S, at_most=False)
    memory = [one.memory_bytes_max / 2**20 for one in used[1.0]]
    rows = (
        Row(name="with all literals written", unit="MB/s", ours=rates[1.0], goal=goal),
        Row(name="without literals", unit="MB/s", ours=rates[0.0], goal=goal),
        Row(name="peak memory", unit="MiB", ours=memory, goal=Goal(of="ours", limit=MEMORY_MIB_MAX)),
    )
    return Section(
        title=f"Reading a slow log of {options.log_megabytes} MB, for each second of processor time", rows=rows
    )


def _read(folder: Path, log: Path, share: float) -> Used:
    to = folder / "tables"
    to.mkdir()
    plan = {**read_logs_line(to, [(log, "slow.log")]), "literals": {"sessions_share": share}}
    used = run_child(
        [os.environ["PLIMSOLL_ENGINE"], "read-logs"], given=json.dumps(plan).encode() + b"\n", watch_memory=True
    )
    shutil.rmtree(to)
    return used


def _write(log: Path, size_bytes: int) -> None:
    draw = random.Random(1)  # the same log in each run
    entries = [
        f"# Time: 2026-11-23T12:28:33.{number % 1_000_000:06}Z\n"
        f"# User@Host: shop[shop] @ app{number % 4}.example.com [10.0.0.{number % 4}]  Id: {draw.randrange(500):5}\n"
        f"# Query_time: 0.000{number % 1000:03}  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1\n"
        f"SET timestamp=1795436913;\n{draw.choice(STATEMENTS).format(id=draw.randrange(10_000_000))};\n"
        for number in range(BLOCK_ENTRIES)
    ]
    block = "".join(entries).encode()
    with log.open("wb") as file:
        for _ in range(max(1, size_bytes // len(block))):
            file.write(block)
