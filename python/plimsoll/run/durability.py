"""Tests what a managed server loses: transactions are written, a fault comes, and they are looked for afterwards.

The server's data lies in a directory of Plimsoll's own. For a power loss it is started through `plimsoll-engine
forgetful`, which keeps in its memory what was not flushed and is killed together with the server. The ledger of what
was acknowledged is outside. Deliberately not here: what the settings promise, and comparing (`plimsoll.analyse`).
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from plimsoll.analyse.answers.fault_tests import Ledger, Search, read_ledger, searched, setting_outcome
from plimsoll.drive.executable import find_engine
from plimsoll.errors import SpecError, TargetError
from plimsoll.private_folder import PrivateFolder
from plimsoll.record.fault_tests import DurabilityRecord, FaultOutcome, SettingOutcome
from plimsoll.run.ledger_load import LedgerLoad, read_ledger_tables
from plimsoll.servers.control import connect
from plimsoll.servers.directory import default_base_dir, make_base_dir, sweep
from plimsoll.servers.managed_server import ManagedServer, ManagedSpec
from plimsoll.spec.fault_tests import DurabilitySetting, DurabilitySpec, FaultKind
from plimsoll.units import printable

SURVIVAL_RATIOS = (0.0, 0.5)
"""Of blocks that were not flushed, so many reach the device by themselves; one fault after the other takes the next."""

_RECOVERY_LIMIT_S = 120.0
"""A server that takes longer to come back does not come back."""

_LINE_MAX = 300
"""Characters that are kept of each line of why a server did not come back: some print whole pages."""

_LEAD_S, _PAUSE_S = 0.5, 6.0
"""Load before the earliest fault; about what stopping, starting and searching take for each fault, for the forecast."""

Say = Callable[[str], None]
Keep = Callable[[DurabilityRecord], None]


def duration_s(spec: DurabilitySpec) -> float:
    """About how long a test takes, seconds."""
    return len(spec.settings) * (spec.load_s + 2 * _PAUSE_S + spec.faults * (_LEAD_S + spec.load_s + _PAUSE_S))


def device_fault(base_dir: Path) -> str | None:
    """Why power loss cannot be tested on this machine, and what would allow it; None where it can.

    Raises:
        HostError: The folder cannot be made.
    """
    make_base_dir(base_dir)
    with PrivateFolder("device", base_dir) as folder:
        words = [str(find_engine()), "forgetful", str(folder), "true"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode == 0:
        return None
    reason = done.stderr.strip().rpartition(": ")[2] or f"exit code {done.returncode}"
    return (
        f"--fault: power loss needs a file system of Plimsoll's own, and this machine does not allow one ({reason});"
        " run as root on a machine with /dev/fuse (in a container: --device /dev/fuse --cap-add SYS_ADMIN), or choose"
        " --fault kill"
    )


class DurabilityTest:
    """One test of one server. `run` may be interrupted: what is done by then was handed over."""

    def __init__(
        self, spec: DurabilitySpec, *, server: str, data_dir: Path | None, ledger_dir: Path | None, say: Say
    ) -> None:
        """Nothing is started yet.

        Args:
            spec: What is to be tested.
            server: `mariadb`, `mysql`, or a full command.
            data_dir: Below which the server's directory is made; None for the default.
            ledger_dir: Where the ledger is written; None for the system's temporary folder.
            say: Is told of each step.
        """
        self._spec, self._server_name, self._say = spec, server, say
        self._base_dir = data_dir or default_base_dir()
        self._ledger_dir = ledger_dir
        self._random = random.Random(spec.seed)  # noqa: S311  (instants of faults)
        self._loads = 0

    def run(self, keep: Keep) -> DurabilityRecord:
        """Tests each setting.

        Args:
            keep: Is handed what is known after each setting.

        Raises:
            SpecError: This machine cannot do it.
            HostError, TargetError: The server cannot be had, or the ledger cannot be written.
        """
        if self._spec.fault.needs_device and (fault := device_fault(self._base_dir)):
            raise SpecError(fault)
        if self._ledger_dir is not None and not self._ledger_dir.is_dir():
            raise SpecError(f"--ledger-dir: {self._ledger_dir} is not a folder; create it, or correct the path")
        sweep(self._base_dir)
        with (
            PrivateFolder("ledger", self._ledger_dir) as folder,
            self._made() as made,
        ):
            self._folder = folder
            record = DurabilityRecord(
                fault=self._spec.fault,
                server=made.command.version_text,
                storage=made.storage,
                connections=self._spec.connections,
                seed=self._spec.seed,
                is_complete=False,
            )
            for setting in self._spec.settings:
                outcome = self._test(made, setting)
                settings = (*record.settings, outcome)
                is_complete = len(settings) == len(self._spec.settings)
                record = record.model_copy(update={"settings": settings, "is_complete": is_complete})
                keep(record)
        return record

    @contextmanager
    def _made(self) -> Iterator[ManagedServer]:
        """A server whose data is saved as it is before any load."""
        self._say("creating a server")
        spec = ManagedSpec(server=self._server_name, profile="server-defaults", data_dir=self._base_dir)
        with ManagedServer.create(name="durability", spec=spec) as server:
            server.start()
            server.stop()
            server.save_data()
            yield server

    def _test(self, server: ManagedServer, setting: DurabilitySetting) -> SettingOutcome:
        program = server.command.program
        server.spec = replace(server.spec, options=setting.options)
        try:
            server.restore_data()
            server.start()
            throughput_tps = self._speed(server)
            server.kill()  # the data is put back: nothing need be written
            self._say(f"{setting.label}: {throughput_tps:.0f} transactions/s without faults")
            each = [self._befall(server, program, setting, index) for index in range(self._spec.faults)]
        finally:
            server.command = replace(server.command, program=program)
            server.stop(grace_s=5)
        return setting_outcome(setting, self._spec.fault, throughput_tps, each)

    def _speed(self, server: ManagedServer) -> float:
        """Transactions in each second, straight on the storage."""
        with self._load(server) as load:
            load.start()
            load.run_for(self._spec.load_s)
            return load.finish()

    def _befall(
        self, server: ManagedServer, program: tuple[str, ...], setting: DurabilitySetting, index: int
    ) -> FaultOutcome:
        """One fault, from data as it was before any, to the search for what was acknowledged."""
        ratio = SURVIVAL_RATIOS[index % len(SURVIVAL_RATIOS)] if self._spec.fault is FaultKind.POWER_LOSS else 0.0
        server.restore_data()
        server.command = replace(server.command, program=(*self._device_words(server, ratio, index), *program))
        server.start()
        with self._load(server) as load:
            load.start()
            load.run_for(_LEAD_S + self._random.uniform(0.5, 1.0) * self._spec.load_s)
            fault_ns = time.monotonic_ns()
            server.kill()
            load.cut_off()
            ledger = read_ledger(load.read())
        acknowledged = ledger.acknowledged
        if not acknowledged:
            raise TargetError(
                f"{setting.label}: no transaction was acknowledged before the fault; take a longer --load"
            )
        fault_ns = max(fault_ns, *acknowledged.values())
        server.command = replace(server.command, program=program)
        fixed = {
            "survival_ratio": ratio if self._spec.fault.needs_device else None,
            "load_s": (fault_ns - min(acknowledged.values())) / 1e9,
            "acknowledged": len(acknowledged),
        }
        outcome = self._recovered(server, ledger, fault_ns, load.seed, fixed)
        lost = f"{outcome.lost} of {outcome.acknowledged} acknowledged transactions lost"
        self._say(f"{setting.label}: fault {index + 1} of {self._spec.faults}: {lost}" + _worse(outcome))
        return outcome

    def _recovered(
        self, server: ManagedServer, ledger: Ledger, fault_ns: int, seed: int, fixed: Mapping[str, object]
    ) -> FaultOutcome:
        """Starts the server on what is left, and looks for each transaction."""
        begin_s, recovery_s, failure = time.monotonic(), None, None
        acknowledged = ledger.acknowledged
        all_ms = (fault_ns - min(acknowledged.values())) / 1e6
        search = Search(lost=len(acknowledged), lost_ms=all_ms, torn=0, foreign=0)
        try:
            server.start(limit_s=_RECOVERY_LIMIT_S)
            recovery_s = time.monotonic() - begin_s
            with connect(server.socket_target) as control:
                tables, counters = read_ledger_tables(control)
            search = searched(ledger, tables, counters, seed=seed, fault_ns=fault_ns)
        except TargetError as error:
            failure = "\n".join(printable(line)[:_LINE_MAX] for line in str(error).splitlines())
        server.kill()
        return FaultOutcome.model_validate({**fixed, **asdict(search), "recovery_s": recovery_s, "failure": failure})

    def _device_words(self, server: ManagedServer, ratio: float, index: int) -> tuple[str, ...]:
        """What the server is started through: nothing where it alone is killed."""
        if not self._spec.fault.needs_device:
            return ()
        lies = ("--lies",) if self._spec.fault is FaultKind.LYING_DEVICE else ()
        options = (*lies, f"--survival-ratio={ratio}", f"--seed={self._spec.seed + index}")
        return (str(find_engine()), "forgetful", *options, str(server.data_dir))

    def _load(self, server: ManagedServer) -> LedgerLoad:
        self._loads += 1
        return LedgerLoad(
            server.target,
            self._folder / f"ledger-{self._loads}",
            connections=self._spec.connections,
            seed=self._spec.seed + self._loads,
        )


def _worse(outcome: FaultOutcome) -> str:
    if outcome.failure is not None:
        return f"; the server did not come back: {outcome.failure.splitlines()[0]}"
    if outcome.is_corrupt:
        return f"; {outcome.torn} torn, {outcome.foreign} rows that nobody sent"
    return ""
