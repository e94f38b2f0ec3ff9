"""What a number was measured on: this machine, and a running server as it describes itself.

Deliberately not here: storage (`storage`), and anything that changes over time (package `telemetry`).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from pathlib import Path

from plimsoll.record.environment import HostFacts, InstanceFacts, StorageFacts
from plimsoll.servers.control import ControlConnection
from plimsoll.servers.machine_settings import machine_settings
from plimsoll.units import parse_whole

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
    option_file: str | None = None,
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
        option_file=option_file,
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
