"""What a trial was measured on, as values: host, storage, servers, client, and the placement found in effect.

Part of a recording.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.document import Document
from plimsoll.record.server_facts import DataFacts


class PlacementFacts(Document):
    """Read back from the kernel while the server ran.

    Attributes:
        cpus: CPUs that its threads may run on, all threads together.
        cores: How many cores these belong to; None when unknown.
        cpus_by: `cgroup` where a cpuset of its own holds it there, `affinity` where only its threads' masks do; None
            where it may use all CPUs.
        cpu_quota: Processor time per second, in CPUs; None for no limit.
        memory_limit_bytes: None for no limit.
        io_limits: By device (`major:minor`) and name: bytes or operations per second.
        scheduling: Class with the priority of the real-time classes: `other`, `fifo:10`; several, in order, where
            threads differ.
        nice: Of most of its threads.
        nice_others: Of the rest: MySQL gives some of its threads -20 where it has the right to.
    """

    cpus: tuple[int, ...] | None = None
    cores: int | None = None
    cpus_by: str | None = None
    cpu_quota: float | None = None
    memory_limit_bytes: int | None = None
    io_limits: dict[str, int] = Field(default_factory=dict)
    scheduling: str | None = None
    nice: int | None = None
    nice_others: tuple[int, ...] = ()

    @property
    def processors(self) -> float | None:
        """How many CPUs it could use at once; None when unknown."""
        known = [limit for limit in (len(self.cpus) if self.cpus else None, self.cpu_quota) if limit is not None]
        return float(min(known)) if known else None


class HostFacts(Document):
    """A machine. Whatever cannot be found out is None.

    Attributes:
        product_name: What the firmware calls the machine; some clouds put the type of the instance there.
        cpu_turbo: Processors may run faster than their base frequency.
        cpu_smt: Hardware threads share cores (hyper-threading).
        swap_bytes: Size of all swap devices and files; 0 for none.
        swappiness: `vm.swappiness`.
        transparent_huge_pages: `always`, `madvise` or `never`.
    """

    name: str | None = None
    kernel: str | None = None
    operating_system: str | None = None
    virtualisation: str | None = None
    cpu_model: str | None = None
    cpu_sockets: int | None = None
    cpu_cores: int | None = None
    cpu_threads: int | None = None
    cpu_governor: str | None = None
    numa_nodes: int | None = None
    memory_bytes: int | None = None
    clock_source: str | None = None
    pressure_stall_information: bool | None = None
    product_name: str | None = None
    cpu_turbo: bool | None = None
    cpu_smt: bool | None = None
    swap_bytes: int | None = None
    swappiness: int | None = None
    transparent_huge_pages: str | None = None


class StorageFacts(Document):
    """Where an instance keeps its data. Whatever cannot be found out is None.

    Attributes:
        path: Of the folder, absolute and without links.
        file_system: Its type, such as `ext4`.
        mount_options: Of the mount and of the file system, with commas.
        device: The kernel's name of the device, such as `vda1`.
        device_model: What the device calls itself.
        rotational: Whether it rotates, as the kernel believes.
        scheduler: Which scheduler of requests is in force.
        free_bytes: Free space for users.
        flush_ms_median: Of a small write with fdatasync in the data directory, milliseconds.
        write_cache: `write back` (a flush is needed to make writes durable) or `write through`, as the kernel says.
        queue_requests: How many requests the kernel lets wait for the device.
        layers: From the device down to the disks, one line each where it is made of others: `md0: raid1 of sda1, sdb1`,
            `dm-0: lvm vg-data on nvme0n1p2`.
    """

    path: str | None = None
    file_system: str | None = None
    mount_options: str | None = None
    device: str | None = None
    device_model: str | None = None
    rotational: bool | None = None
    scheduler: str | None = None
    free_bytes: int | None = None
    flush_ms_median: float | None = None
    write_cache: str | None = None
    queue_requests: int | None = None
    layers: tuple[str, ...] = ()


class InstanceFacts(Document):
    """A running server.

    Attributes:
        name: Unique within its system.
        role: `source` or `replica`. Instances divide the whole; a replica repeats its source.
        version: As the server says it.
        flavour: `mariadb` or `mysql`.
        started_unix_s: When its process began, by the server's clock, whole seconds.
        variables: Every effective global variable.
        variables_set: Names of those whose value somebody chose, in an option file or later; null where the server does
            not say. All others have the server's own defaults.
        variable_defaults: What the server itself would have chosen for those; empty where it does not say.
        tables: Definition of each table of the data set, as SHOW CREATE TABLE prints it.
        data_bytes: Size of the data set's tables with their indexes.
        option_file: Text of the option file of a managed server.
        options: What that states: values as text, by the variables that they are for; null for other servers and in
            older recordings.
        storage: Where its data is; None when the server is not on this machine.
        storage_of_roles: Where files are that have a path of their own: `redo`, `binlog`, `undo`, `tmp`.
        huge_pages_bytes: Memory of its process in huge pages that were reserved; None when unknown.
        placement: What of its machine it may use; None when its process is not known.
        data: Its tables and how it executes the workloads' statements, before the first trial; null where nobody asked.
    """

    name: str
    role: Literal["source", "replica"] = "source"
    version: str | None = None
    flavour: str | None = None
    started_unix_s: int | None = None
    variables: dict[str, str] = Field(default_factory=dict)
    variables_set: tuple[str, ...] | None = None
    variable_defaults: dict[str, str] = Field(default_factory=dict)
    tables: dict[str, str] = Field(default_factory=dict)
    data_bytes: int | None = None
    option_file: str | None = None
    options: dict[str, str] | None = None
    storage: StorageFacts | None = None
    storage_of_roles: dict[str, StorageFacts] = Field(default_factory=dict)
    huge_pages_bytes: int | None = None
    placement: PlacementFacts | None = None
    data: DataFacts | None = None


class ClientFacts(Document):
    """What drove the load.

    Attributes:
        on_server_host: Client and server shared a machine; None when unknown.
        server_place: How that was found, or why it is unknown; None for imports.
        limit_tps: What it reached at this level against a server that answers at once; None when never measured.
        cpus: CPUs that the load engine may run on; None when unknown.
        drivers: Names of the machines that drove the load together, as in the column `driver`; empty where it was one
            engine on the machine that ran Plimsoll.
    """

    plimsoll_version: str | None = None
    engine_version: str | None = None
    python_version: str | None = None
    on_server_host: bool | None = None
    server_place: str | None = None
    limit_tps: float | None = None
    cpus: tuple[int, ...] | None = None
    drivers: tuple[str, ...] = ()


class ExporterFacts(Document):
    """A page of an exporter that telemetry was read from.

    Attributes:
        instance: Of which server.
        url: Of the page, without its query.
        interval_s: Time between two requests, as asked for, seconds.
        resolution_s: Median time from one page with new values to the next, seconds; null for fewer than two.
        answer_ms_median: Time from the request to the end of the answer, milliseconds; null without any.
        page_bytes_max: Length of the longest page; 0 without any.
        pages_count: How many came.
        failures_count: How many requests failed.
        sources: Of its rows in telemetry: `host`, `device`, `server`, `waits`.
        host_name: What the machine of node_exporter calls itself; null where the page does not say.
        unused: Why nothing was asked of it; null where it was used.
    """

    instance: str
    url: str
    interval_s: float
    resolution_s: float | None = None
    answer_ms_median: float | None = None
    page_bytes_max: int = 0
    pages_count: int = 0
    failures_count: int = 0
    sources: tuple[str, ...] = ()
    host_name: str | None = None
    unused: str | None = None


class Environment(Document):
    """`environment.json`: what the number was measured on.

    Attributes:
        exporters: Pages that telemetry was read from, besides what Plimsoll sampled itself.
        reported: What the authors of an import state about its machines and software, as name and text. Nothing of it
            was measured here, nor are the next two.
        reported_options: Server options that they state, by name.
        reported_notes: What else they say about the system, in sentences.
    """

    host: HostFacts = HostFacts()
    instances: tuple[InstanceFacts, ...] = ()
    client: ClientFacts = ClientFacts()
    exporters: tuple[ExporterFacts, ...] = ()
    reported: dict[str, str] = Field(default_factory=dict)
    reported_options: dict[str, str] = Field(default_factory=dict)
    reported_notes: str = ""

    @property
    def reported_factors(self) -> dict[str, str]:
        """What may tell systems apart of what the authors of an import state."""
        return {**self.reported, **self.reported_options}
