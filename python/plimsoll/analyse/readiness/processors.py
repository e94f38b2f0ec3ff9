"""Processors whose speed depends on more than the load: governor, turbo, SMT, instances with credits, slow clocks.

Sources: kernel documentation on cpufreq, SMT and clocksource; Amazon, Microsoft, Google and Alibaba on their burstable
instance types. Azure and Google do not show the type in the firmware, so their burstable ones are not seen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.analyse.doubts import Code, Doubt
from plimsoll.analyse.readiness.model import Readiness

STEADY_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource")
"""Read in user space, in some tens of nanoseconds; others need a system call or a slow device."""

_BURSTABLE = re.compile(
    r"^t\d[a-z]*\.\w+$|^(standard_)?b\d+[a-z]*(_v\d+)?$|^(e2-(micro|small|medium)|f1-micro|g1-small)$|^ecs\.t\d\S*$",
    re.IGNORECASE,
)
"""Amazon t2.micro to t4g.2xlarge, Azure B1s to B20as_v2, Google's shared cores, Alibaba ecs.t5 and t6."""


def burstable(facts: Readiness) -> Iterator[Doubt]:
    """The instance has processor time only as long as its credits last."""
    product = facts.host.product_name
    if product is not None and _BURSTABLE.match(product.strip()):
        yield facts.place.doubt(Code.BURSTABLE_INSTANCE, "burstable", product_name=product.strip())


def governor(facts: Readiness) -> Iterator[Doubt]:
    """Another governor than `performance` slows idle processors down."""
    name = facts.host.cpu_governor
    if name not in (None, "performance"):
        yield facts.place.doubt(Code.CPU_FREQUENCY_VARIES, "governor", governor=name)


def turbo(facts: Readiness) -> Iterator[Doubt]:
    """Processors run above their base frequency until they are hot or many."""
    if facts.host.cpu_turbo:
        yield facts.place.doubt(Code.TURBO_ON, "turbo")


def smt(facts: Readiness) -> Iterator[Doubt]:
    """More logical CPUs than cores: the second thread of a core adds far less than a core does."""
    cores, threads = facts.host.cpu_cores, facts.host.cpu_threads
    if cores is not None and threads is not None and threads > cores and facts.host.cpu_smt is not False:
        yield facts.place.doubt(Code.SMT_ON, "smt", threads_count=threads, cores_count=cores)


def clock(facts: Readiness) -> Iterator[Doubt]:
    """A clock that takes long to read costs each transaction, of the client and of the server."""
    source = facts.host.clock_source
    if source is not None and source not in STEADY_CLOCKS:
        yield facts.place.doubt(Code.SLOW_CLOCK, "clock", clock_source=source)
