"""What doctor says of the physical CPUs: what a guest can see of them, and what it cannot."""

from __future__ import annotations

from plimsoll.analyse.findings.machine import Moment
from plimsoll.record.environment import HostFacts
from plimsoll.run.checkup import physical_cpus

SHAPE = HostFacts(cpu_sockets=1, cpu_cores=2, cpu_threads=4)
MOMENT = Moment(busy_ratio=0.1, steal_ratio=0.031, sample_s=0.5, steal_ratio_since_boot=0.012)


def on(virtualisation: str | None) -> HostFacts:
    return SHAPE.model_copy(update={"virtualisation": virtualisation})


def test_a_guest_is_told_what_it_cannot_see() -> None:
    check = physical_cpus(on("kvm"), MOMENT)
    assert check.found == (
        "hypervisor kvm; it shows 1 socket, 2 cores, 4 hardware threads;"
        " steal 3.1 % now, 1.2 % since the machine started"
    )
    assert check.advice is not None
    assert "cannot be seen from inside a guest; ask the provider" in check.advice
    assert check.findings == ()


def test_on_bare_metal_nothing_is_hidden() -> None:
    check = physical_cpus(on("none"), MOMENT)
    assert "no hypervisor" in check.found
    assert check.advice is None


def test_where_the_kernel_shows_no_flag_both_may_be() -> None:
    check = physical_cpus(HostFacts(), None)
    assert check.found == (
        "whether there is a hypervisor is not shown; the kernel sees unknown sockets, unknown cores,"
        " unknown hardware threads; steal unknown"
    )
    assert check.advice is not None
    assert check.advice.startswith("If this is a guest, how many physical CPUs")
