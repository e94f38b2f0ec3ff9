"""What a number was measured on: this machine with its settings, and a running server as it describes itself.

Huge pages are those that an administrator has reserved (the kernel's Documentation/admin-guide/mm/hugetlbpage): how
many are free, and how much of a process is in them; transparent huge pages are a setting. Deliberately not here:
storage (`storage`), what follows from settings (`plimsoll.analyse.findings.machine`), and anything that changes over
time (package `telemetry`).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plimsoll.record.environment import HostFacts, InstanceFacts, StorageFacts
from plimsoll.servers.control import ControlConnection
from plimsoll.servers.option_file import OptionFile
from plimsoll.units import format_bytes, parse_whole

_PROC = Path("/proc")
_SYS = Path("/sys")
_CLOCK_TRIES = 5
_EMULATED = "TCG"
"""In the name of the processor that QEMU shows where it runs without KVM."""

_HYPERVISORS = {
    "kvm": "kvm",
    "qemu": "kvm",
    "vmware": "vmware",
    "virtualbox": "virtualbox",
    "xen": "xen",
    "microsoft corporation": "hyper-v",
    "amazon ec2": "kvm (Amazon EC2)",
    "google": "kvm (Google Compute Engine)",
}


def host_facts(*, proc: Path = _PROC, sys: Path = _SYS, etc: Path = Path("/etc")) -> HostFacts:
    """Describes this machine from what its kernel shows. Whatever cannot be found out is None.

    Args:
        proc: Where the kernel shows processes; another folder in tests.
        sys: Where the kernel shows devices; another folder in tests.
        etc: Where os-release is; another folder in tests.
    """
    cpus = _cpu_blocks(proc)
    cores = {(block.get("physical id"), block["core id"]) for block in cpus if "core id" in block}
    sockets = {block["physical id"] for block in cpus if "physical id" in block}
    first = cpus[0] if cpus else {}
    return HostFacts(
        name=_read(proc / "sys/kernel/hostname") or platform.node() or None,
        kernel=_read(proc / "sys/kernel/osrelease"),
        operating_system=_operating_system(etc),
        virtualisation=_virtualisation(first, sys),
        cpu_model=first.get("model name") or first.get("Model"),
        cpu_sockets=len(sockets) or None,
        cpu_cores=len(cores) or None,
        cpu_threads=len(cpus) or None,
        cpu_governor=_read(sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        numa_nodes=len(list((sys / "devices/system/node").glob("node[0-9]*"))) or None,
        memory_bytes=_meminfo_bytes(proc, "MemTotal"),
        clock_source=_read(sys / "devices/system/clocksource/clocksource0/current_clocksource"),
        pressure_stall_information=(proc / "pressure/cpu").exists(),
        **machine_settings(proc, sys),
    )


def usable_memory_bytes(*, proc: Path = _PROC, sys: Path = _SYS) -> int:
    """Memory that this process may use: the machine's, or less where its control group says so."""
    total = _meminfo_bytes(proc, "MemTotal") or 2**30
    limits = [total]
    for line in (_read(proc / "self/cgroup") or "").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        folder, name = ("memory", "memory.limit_in_bytes") if controllers else ("", "memory.max")
        for place in (group.lstrip("/"), ""):
            text = _read(sys / "fs/cgroup" / folder / place / name)
            if text and text.isdigit():
                limits.append(int(text))
    return min(limits)


def instance_facts(
    control: ControlConnection,
    *,
    name: str,
    tables: Sequence[str] = (),
    option_file: OptionFile | None = None,
    storage: StorageFacts | None = None,
) -> InstanceFacts:
    """Asks a server for everything that could explain its numbers.

    Args:
        control: A connection to it.
        name: The instance's name within its system.
        tables: Tables of the data set, in the connection's database.
        option_file: Of a managed server.
        storage: Where its data is, when that is on this machine.

    Raises:
        TargetError: The server refused, or a table does not exist.
    """
    variables = control.variables()
    version = variables.get("version")
    comment = variables.get("version_comment", "")
    return InstanceFacts(
        name=name,
        version=f"{version} {comment}".strip() if version else None,
        flavour="mariadb" if "mariadb" in f"{version} {comment}".lower() else "mysql",
        started_unix_s=started_unix_s(control),
        variables=variables,
        tables={table: _definition(control, table) for table in tables},
        data_bytes=_data_bytes(control, tables),
        option_file=option_file and option_file.text,
        options=option_file and option_file.options,
        storage=storage,
    )


def started_unix_s(control: ControlConnection) -> int | None:
    """When the server's process began; the same number each time it is asked. None when it does not say.

    Both numbers are whole seconds of one clock, so they must be of the same second.
    """
    for _ in range(_CLOCK_TRIES):
        before = control.value("SELECT UNIX_TIMESTAMP()")
        uptime = control.rows("SHOW GLOBAL STATUS LIKE 'Uptime'")
        if before == control.value("SELECT UNIX_TIMESTAMP()"):
            up_s = parse_whole(str(uptime[0][1])) if uptime and len(uptime[0]) > 1 else None
            now_s = parse_whole(str(before))
            return None if up_s is None or now_s is None else now_s - up_s
    return None


def _definition(control: ControlConnection, table: str) -> str:
    quoted = table.replace("`", "``")
    return "\n".join(str(row[1]) for row in control.rows(f"SHOW CREATE TABLE `{quoted}`", columns=2))


def _data_bytes(control: ControlConnection, tables: Sequence[str]) -> int | None:
    if not tables:
        return None
    places = ", ".join(["%s"] * len(tables))
    return control.count(
        "SELECT SUM(data_length + index_length) FROM information_schema.tables "  # noqa: S608
        f"WHERE table_schema = DATABASE() AND table_name IN ({places})",
        *tables,
    )


def _cpu_blocks(proc: Path) -> list[dict[str, str]]:
    """The blocks of /proc/cpuinfo that describe a logical CPU."""
    blocks = []
    for text in (_read(proc / "cpuinfo") or "").split("\n\n"):
        pairs = (line.partition(":") for line in text.splitlines())
        block = {key.strip(): value.strip() for key, _, value in pairs}
        if "processor" in block:
            blocks.append(block)
    return blocks


def _operating_system(etc: Path) -> str | None:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)', _read(etc / "os-release") or "", re.MULTILINE)
    return match[1] if match else None


def _virtualisation(cpu: dict[str, str], sys: Path) -> str | None:
    """The hypervisor's name; `unknown hypervisor` when only the processor's flag shows one; `none` on bare metal."""
    maker = " ".join(_read(sys / "class/dmi/id" / name) or "" for name in ("sys_vendor", "product_name")).lower()
    known = next((name for mark, name in _HYPERVISORS.items() if mark in maker), None)
    if _EMULATED in cpu.get("model name", "").split():
        return "qemu, which emulates the processor"
    if known and "hypervisor" in cpu.get("flags", "hypervisor").split():
        return known
    flags = cpu.get("flags")
    if flags is None:
        return None
    return "unknown hypervisor" if "hypervisor" in flags.split() else "none"


def _meminfo_bytes(proc: Path, name: str) -> int | None:
    match = re.search(rf"^{name}:\s+(\d+) kB", _read(proc / "meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def machine_settings(proc: Path, sys: Path) -> dict[str, Any]:
    """Fields of `HostFacts` that are settings; None where the kernel does not show one.

    Args:
        proc: Where the kernel shows processes; another folder in tests.
        sys: Where the kernel shows devices; another folder in tests.
    """
    cpu, firmware = sys / "devices/system/cpu", sys / "class/dmi/id"
    swappiness = _read(proc / "sys/vm/swappiness")
    return {
        "product_name": _read(firmware / "product_name"),
        "cpu_turbo": _turbo(cpu),
        "cpu_smt": _flag(_read(cpu / "smt/active")),
        "swap_bytes": _swap_bytes(proc),
        "swappiness": int(swappiness) if swappiness and swappiness.isdigit() else None,
        "transparent_huge_pages": _chosen(_read(sys / "kernel/mm/transparent_hugepage/enabled")),
    }


def _turbo(cpu: Path) -> bool | None:
    """`intel_pstate/no_turbo` says that it is off, `cpufreq/boost` of other drivers that it is on."""
    is_off = _flag(_read(cpu / "intel_pstate/no_turbo"))
    return _flag(_read(cpu / "cpufreq/boost")) if is_off is None else not is_off


def _swap_bytes(proc: Path) -> int | None:
    """Sizes in /proc/swaps are in KiB, below a line of headings."""
    try:
        lines = (proc / "swaps").read_text(encoding="utf-8", errors="replace").splitlines()[1:]
    except OSError:
        return None
    sizes = [line.split()[-3] for line in lines if len(line.split()) >= 5]
    return sum(int(size) * 1024 for size in sizes if size.isdigit())


def _chosen(text: str | None) -> str | None:
    """`always [madvise] never` says that madvise is in force."""
    match = re.search(r"\[([^\]]+)\]", text or "")
    return match[1] if match else None


def _flag(text: str | None) -> bool | None:
    return {"0": False, "1": True}.get(text or "")


OVERHEAD_RATIO = 1.1
"""A buffer pool's control structures take up to a tenth of it in addition."""


def huge_pages_fault(wanted_bytes: int, *, proc: Path = _PROC) -> str | None:
    """Why a buffer pool cannot be in huge pages, and what to do; None when enough are free.

    Args:
        wanted_bytes: Size of all buffer pools that run at the same time.
        proc: Where the kernel shows itself; another folder in tests.
    """
    page_bytes = (_meminfo(proc, "Hugepagesize") or 0) * 1024
    if not page_bytes:
        return "huge_pages: this kernel has no huge pages; leave huge_pages out"
    needed = -(-round(wanted_bytes * OVERHEAD_RATIO) // page_bytes)
    total, free = _meminfo(proc, "HugePages_Total") or 0, _meminfo(proc, "HugePages_Free") or 0
    if needed <= free:
        return None
    return (
        f"huge_pages: {needed} huge pages of {format_bytes(page_bytes)} are needed for {format_bytes(wanted_bytes)} of"
        f" buffer pool, {free} are free; reserve them: sysctl vm.nr_hugepages={total - free + needed}"
    )


def huge_pages_bytes(pid: int, *, proc: Path = _PROC) -> int | None:
    """Memory of a process in reserved huge pages, bytes; None when the kernel does not say."""
    try:
        text = (proc / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r"^HugetlbPages:\s+(\d+) kB", text, re.MULTILINE)
    return None if match is None else int(match[1]) * 1024


def _meminfo(proc: Path, name: str) -> int | None:
    try:
        text = (proc / "meminfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    return None if match is None else int(match[1])
