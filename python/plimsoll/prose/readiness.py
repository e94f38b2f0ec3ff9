"""Pre-flight findings in words: what was seen, and what it does to figures. `catalogue` says what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.analyse.doubts import Code

Figures = Mapping[str, Any]


def _cpus(seen: Figures) -> str:
    shown = ", ".join(map(str, seen["cpus"][:8])) + (", ..." if len(seen["cpus"]) > 8 else "")
    noun = "CPU" if seen["shared_count"] == 1 else "CPUs"
    return f"client and {seen['instance']} may both run on {seen['shared_count']} {noun} ({shown})"


def _durability(seen: Figures) -> str:
    causes = ", ".join(f"{name} = {value}" for name, value in seen["causes"])
    return f"{seen['instance']} {seen['durability']} ({causes})"


READINESS_EVIDENCE: Mapping[str, str | Callable[[Figures], str]] = {
    "burstable": "the instance type is {product_name}, whose processor time is limited by credits",
    "debug-build": "{instance} is a debug build: {sign}",
    "pools-and-memory": "buffer pools take {buffer_pool_bytes} of {memory_bytes} of memory",
    "pool-and-limit": "the buffer pool takes {buffer_pool_bytes} of the server's memory limit, {limit_bytes}",
    "governor": "the frequency governor is {governor}",
    "huge-pages": "transparent huge pages are set to always",
    "swap": "there are {swap_bytes} of swap, and vm.swappiness is {swappiness}",
    "clock": "the clock source is {clock_source}",
    "redo-and-pool": "the redo log has {redo_bytes}, the buffer pool {buffer_pool_bytes}",
    "durability": _durability,
    "turbo": "processors may run above their base frequency",
    "smt": "{threads_count} hardware threads share {cores_count} cores",
    "busy-before": "before any load, {busy_cpu_ratio} of the processors' time was taken by something else",
    "stolen-before": "before any load, the hypervisor took {steal_cpu_ratio} of the processors' time (steal)",
    "client-shares-cpus": _cpus,
    "limit": "{name}: {limit} are allowed, {wanted} are needed",
    "free-space": "{free_bytes} are free in {path}",
}

CONSEQUENCE: Mapping[Code, str] = {
    Code.CLIENT_ON_SERVER_HOST: "The client takes processor time from the server: absolute figures are too low.",
    Code.HOST_BUSY_ELSEWHERE: "Figures are too low, and differ from run to run.",
    Code.BURSTABLE_INSTANCE: "Throughput falls, often to a tenth, when the credits are used up.",
    Code.DEBUG_BUILD: "The server is several times slower than a release build, and not everywhere by the same factor.",
    Code.MEMORY_OVERCOMMITTED: "The kernel swaps, or kills the server when memory runs out.",
    Code.LIMIT_TOO_LOW: "Connections or statements beyond the limit fail, so the level is not what it says.",
    Code.LITTLE_SPACE: "A run may stop because the disk is full.",
    Code.CPU_FREQUENCY_VARIES: "Processors that idle are slowed down: low levels look worse than they are.",
    Code.HUGE_PAGES_ALWAYS: "The kernel rearranges memory in the background: response times have stalls.",
    Code.SWAP_LIKELY: "Parts of the buffer pool may be swapped out: throughput drops and recovers without a cause.",
    Code.SLOW_CLOCK: "Each time that is taken costs a system call or more, of the client and of the server.",
    Code.REDO_LOG_SMALL: "Writes wait for the flushing of pages (checkpoint age) before storage is the limit.",
    Code.REPLICA_WRITABLE: "A write that went to it by mistake would make it another server than its source.",
    Code.QUERY_CACHE_ON: "Repeated statements are answered from the cache and say nothing about the engine.",
    Code.DATA_LARGER_THAN_BUFFER_POOL: "Figures hold for this ratio of data to memory, and depend on storage.",
    Code.DATA_IN_PAGE_CACHE: "Reads come from the kernel's page cache, which production may not have room for.",
    Code.NOT_DURABLE: "Writes are faster than those of a server that keeps what it has committed.",
    Code.TURBO_ON: "Speed depends on temperature and on how many cores are busy.",
    Code.SMT_ON: "A second thread on a core adds about a quarter of a core, not a whole one.",
}
"""What each pre-flight finding does to figures."""
