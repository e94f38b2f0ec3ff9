"""Kills at random instants: after the next run no process, mount, control group or folder of a killed run is left.

`PLIMSOLL_TEST_KILLS` says how many; kinds of run take turns, on the same folders.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from plimsoll.servers.freezing import OWN_FOLDER
from plimsoll.servers.managed_server import ManagedServer
from support.command import COMMAND
from support.servers import bare_spec, missing
from support.slow_logs import Client, Ran, in_transaction, mariadb_slow_log
from support.ssh_hosts import DISK, SshHost, ssh_hosts
from support.vanishing import PROC, content, control_groups, link, names_in, processes, words_of
from support.waiting import until

pytestmark = pytest.mark.e2e

KILLS = int(os.environ.get("PLIMSOLL_TEST_KILLS", "8"))
AFTER_S = 4.0 if KILLS <= 8 else 10.0
"""The latest instant after the beginning at which a run is killed, seconds."""
LEARN_S = 2.0
"""The same for one that reads a log: it may be done soon after that."""
LOOK_S = 3.0
"""For so long it is watched how what a run left goes, before another run begins; guardians still end servers then."""

STUDY = """
[study]
name = "killed"
{design}
duration = "60s"
warm_up = "500ms"
settle_limit = "1s"
reset = "never"
[[workload]]
name = "write"
kind = "oltp_write_only"
tables = 1
table_size = 100
"""
SYSTEM = """
[[system]]
name = "{name}"
{host}
server = {{ managed = "mariadb", profile = "bare", buffer_pool = "64M"{more} }}
"""
DUET = 'design = "duet"\nturn = "100ms"\nrounds = 2\nlevels = { connections = [2] }'
TRIALS = 'levels = { connections = [2] }\nclients = { think_time = "20ms" }'
BEGINS = """
import sys
from pathlib import Path
from plimsoll.hosts.ssh import SshHost
from plimsoll.servers.directory import default_base_dir
from plimsoll.servers.directory import sweep
sweep(default_base_dir())
if len(sys.argv) > 1:
    host = SshHost(sys.argv[1], python=sys.executable)
    host.call(sweep, Path(sys.argv[2]))
    host.close()
"""
"""What every run with servers does first."""


@dataclass(frozen=True)
class Place:
    """Where all runs of the test are, and what they work with.

    Attributes:
        root: Everything that they may leave on this machine is below it. Their HOME is, too, by which their processes
            are known: guardians hand it on.
        server: That `prepare` loads into.
        host: For studies over SSH.
        idle: Processes of the host before any study.
    """

    root: Path
    server: ManagedServer
    host: SshHost | None
    idle: frozenset[int]

    @property
    def env(self) -> dict[str, str]:
        own = {"HOME": self.root / "home", "TMPDIR": self.root / "tmp", "PLIMSOLL_DATA_DIR": self.root / "data"}
        password = self.server.target.password.get_secret_value()
        own_text = {name: str(path) for name, path in own.items()}
        return {**os.environ, **own_text, "PYTHONPATH": os.pathsep.join(sys.path), "PW": password}

    def processes(self) -> list[int]:
        """Those of runs, on this machine and on the host."""
        token, found = os.fsencode(self.root), []
        for pid in processes():
            known = content(PROC / str(pid) / "environ") + content(PROC / str(pid) / "cmdline")
            if token in known and pid != os.getpid():
                found.append(pid)
        return found + [pid for pid in (self.host.pids() if self.host else []) if pid not in self.idle]

    def left(self) -> list[str]:
        """What is left, in words for people: of a report of a bug what it reports."""
        folders = [self.root / "data", self.root / "tmp", *([self.host.disk] if self.host else [])]
        found = [str(folder / name) for folder in folders for name in names_in(folder)]
        found += [content(Path(path)).decode() for path in found if Path(path).name.startswith("plimsoll-bug-")]
        found += [f"{pid}: {b' '.join(words_of(pid))[:200]!r}" for pid in self.processes()]
        found += [line for line in Path("/proc/mounts").read_text().splitlines() if str(self.root) in line]
        return found + [str(group) for group in unguarded_groups()]


def unguarded_groups() -> list[Path]:
    """Control groups of servers with processes whose guardian is gone: here, or in the namespace of a host."""
    names = re.compile(r".*\.(\d+-\d+)")
    groups = [(group, owner[1]) for group in control_groups(OWN_FOLDER) if (owner := names.fullmatch(group.name))]
    used = [(group, owner) for group, owner in groups if content(group / "cgroup.procs")]
    guardians = {owner_of_groups(pid) for pid in processes()}  # after the groups, so that none begins meanwhile
    return [group for group, owner in used if owner not in guardians]


def owner_of_groups(pid: int) -> str:
    """A process as the names of its groups say it, see `placing.owner_here`; empty once it is gone."""
    namespace = link(PROC / str(pid) / "ns" / "pid").partition("[")[2].rstrip("]")
    number = re.search(rb"^NSpid:.*?(\d+)$", content(PROC / str(pid) / "status"), re.MULTILINE)
    return f"{namespace}-{number[1].decode()}" if namespace and number else ""


def study(place: Place, design: str, *systems: str) -> list[str]:
    file = place.root / "study.toml"
    file.write_text(STUDY.format(design=design) + "".join(systems))
    shutil.rmtree(place.root / "out", ignore_errors=True)
    return ["study", "run", str(file), "--to", str(place.root / "out")]


def duet(place: Place) -> list[str]:
    systems = [SYSTEM.format(name=name, host="", more="") for name in ("one", "two")]
    return study(place, DUET, *systems)


def replicas(place: Place) -> list[str]:
    return study(place, TRIALS, SYSTEM.format(name="pair", host="", more=", replicas = 1"))


def over_ssh(place: Place) -> list[str]:
    assert place.host is not None
    host = f'host = {{ ssh = "{place.host.name}", python = "{sys.executable}" }}'
    return study(place, TRIALS, SYSTEM.format(name="there", host=host, more=f', data_dir = "{DISK}"'))


def capacity(_place: Place) -> list[str]:
    data = ["--workload", "oltp_read_only", "--tables", "1", "--table-size", "100"]
    return ["capacity", "--target", "managed", *data, "--response-p99", "50ms", "--duration", "10s"]


def failover(_place: Place) -> list[str]:
    return ["failover", "--target", "managed", "--replicas", "1", "--load", "60s"]


def durability(_place: Place) -> list[str]:
    return ["durability", "--target", "managed", "--fault", "power-loss", "--load", "3s", "--faults", "20"]


def learn(place: Place) -> list[str]:
    log = place.root / "home" / "slow.log"
    if not log.exists():
        reads = [in_transaction(Ran(f"SELECT * FROM t WHERE id = {number}"), end="COMMIT") for number in range(20_000)]
        log.write_text(mariadb_slow_log(reads, Client()))
    return ["learn", "report", str(log), "-o", str(place.root / "report")]


def prepare(place: Place) -> list[str]:
    target = ["--target", str(place.server.target), "--password-env", "PW"]
    return ["prepare", *target, "--workload", "oltp_read_write", "--table-size", "10000000", "--tables", "1"]


KINDS: tuple[Callable[[Place], list[str]], ...] = (
    duet, capacity, replicas, failover, durability, learn, prepare, over_ssh,
)  # fmt: skip
WAYS = ("SIGKILL", "SIGHUP", "SIGTERM twice", "SIGKILL, guardians too")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    root = Path(f"/var/tmp/plimsoll-test-kills-{os.getpid()}")
    for folder in (root, root / "data", root / "tmp", root / "home"):
        folder.mkdir(mode=0o700)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, root)
        spec = bare_spec("mariadb")
        server = stack.enter_context(ManagedServer.create(name="kills", spec=spec, base_dir=other_base(stack)))
        server.start()
        host = None
        if os.geteuid() == 0:
            (host,) = stack.enter_context(ssh_hosts(tmp_path, "db2"))
        yield Place(root, server, host, frozenset(host.pids() if host else ()))


def other_base(stack: ExitStack) -> Path:
    """A folder on a disk for the server that outlives the runs."""
    base = Path(f"/var/tmp/plimsoll-test-kills-server-{os.getpid()}")
    base.mkdir(mode=0o700)
    stack.callback(base.rmdir)
    return base


@contextmanager
def running(place: Place, words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with (place.root / "home" / "said").open("wb") as said:
        process = subprocess.Popen(
            [str(COMMAND), *words], stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=place.env, cwd=place.root
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def end(process: subprocess.Popen[bytes], way: str, place: Place, pause_s: float) -> None:
    """Ends a run in one of the ways. A signal that it can handle lets it end by itself."""
    if way.startswith("SIGKILL"):
        process.kill()
        process.wait()
        if "guardians" in way:
            for pid in place.processes():
                if b"guardian.py" in content(PROC / str(pid) / "cmdline"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        return
    process.send_signal(signal.SIGHUP if way == "SIGHUP" else signal.SIGTERM)
    if way == "SIGTERM twice":
        time.sleep(pause_s)
        process.send_signal(signal.SIGTERM)
    process.wait(600)


@pytest.mark.timeout(60 * KILLS)
def test_nothing_is_left_after_the_next_run(place: Place) -> None:
    seed = int(os.environ.get("PLIMSOLL_TEST_SEED", "0")) or random.SystemRandom().randrange(10**6)
    instants = random.Random(seed)
    kinds = [kind for kind in KINDS if can_run(kind, place)]
    for number in range(KILLS):
        kind, way = kinds[number % len(kinds)], instants.choice(WAYS)
        after_s, pause_s = instants.uniform(0.2, LEARN_S if kind is learn else AFTER_S), instants.uniform(0.0, 0.5)
        what = f"seed {seed}, kill {number}: {kind.__name__} by {way} after {after_s:.2f} s"
        print(what, flush=True)
        with running(place, kind(place)) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(after_s)
                assert kind is learn, f"{what}: it ended by itself: {(place.root / 'home' / 'said').read_text()}"
            end(process, way, place, pause_s)
        assert until(partial(is_clean, place, kind)), f"{what}: left: {place.left()}"


def can_run(kind: Callable[[Place], list[str]], place: Place) -> bool:
    if kind is durability and not (os.geteuid() == 0 and Path("/dev/fuse").exists()):
        return False
    if kind is over_ssh and place.host is None:
        return bool(missing("studies over SSH to namespaces of this machine need root"))
    return True


def is_clean(place: Place, kind: Callable[[Place], list[str]]) -> bool:
    """Whether nothing is left soon after the next run of that kind has begun."""
    host = [place.host.name, str(DISK)] if kind is over_ssh and place.host is not None else []
    words = [sys.executable, "-c", BEGINS, *host]
    begun = subprocess.run(words, env=place.env, cwd=place.root, stderr=subprocess.PIPE, text=True, check=False)
    if "another study uses this host" in begun.stderr:
        return False  # the agent there still ends the servers of the killed one
    assert begun.returncode == 0, begun.stderr
    return until(lambda: not place.left(), LOOK_S, step_s=0.3)
