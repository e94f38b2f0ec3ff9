"""Drivers for tests of several: a load that they share, and engines behind what delays lines or shifts their clock."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO

from plimsoll.drive.engine import LocalDriver
from plimsoll.drive.executable import find_engine
from plimsoll.run.calibrate import fake_server, shapes_of
from plimsoll.run.single import SingleRun
from plimsoll.spec.clients import OpenArrivals, parse_rate
from plimsoll.spec.drivers import DriverSpec
from plimsoll.spec.oltp import WorkloadSpec
from plimsoll.spec.target import Target, Tls
from support.vanishing import PROC, link, processes, stat, words_of

ARRIVALS = OpenArrivals(steps=parse_rate("200"))
WORKLOAD = WorkloadSpec(name="points", kind="oltp_point_select", table_size=1000, prepared=False)


@contextlib.contextmanager
def points_server(*, by_socket: bool = False) -> Iterator[Target]:
    """A fake server that answers that workload."""
    with fake_server(LocalDriver(), shapes_of(WORKLOAD), by_socket=by_socket) as target:
        yield replace(target, tls=Tls(mode="disabled"))


def run_of(target: Target, drivers: int | tuple[DriverSpec, ...], **changes: object) -> SingleRun:
    """Two seconds of it at a rate that is no work for them, by so many drivers here or by the given ones."""
    values = {
        "arrivals": ARRIVALS,
        "connections": 5,
        "warm_up_s": 0.0,
        "duration_s": 2.0,
        "seed": 7,
        "look_first": False,
        **changes,
    }
    used = (DriverSpec(),) * drivers if isinstance(drivers, int) else drivers
    return SingleRun(workload=WORKLOAD, target=target, drivers=used, **values)  # type: ignore[arg-type]


def own_engines() -> set[int]:
    """Engines of trials that this process, or whatever it started, started: here, behind an sshd, on nodes of Ray."""
    found, engine = set(), find_engine().resolve()
    for pid in processes():
        is_of_trial = link(PROC / str(pid) / "exe") == str(engine) and words_of(pid)[1:2] == [b"trial"]
        if is_of_trial and os.getpid() in ancestors(pid):
            found.add(pid)
    return found


def ancestors(pid: int) -> Iterator[int]:
    """What started it, what started that, and so on."""
    while pid > 1 and (fields := stat(PROC / str(pid))):
        pid = int(fields[1])
        yield pid


_BETWEEN = """\
import json, subprocess, sys, threading, time
ahead_ns, late_s, engine = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
process = subprocess.Popen(engine, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def pass_on():
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message["type"] == "start":
            time.sleep(late_s)
            message["at_unix_ns"] -= ahead_ns
        process.stdin.write(json.dumps(message).encode() + b"\\n")
        process.stdin.flush()
    process.stdin.close()
threading.Thread(target=pass_on, daemon=True).start()
for line in process.stdout:
    message = json.loads(line)
    for key in ("unix_ns", "started_unix_ns"):
        if key in message:
            message[key] += ahead_ns
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\\n")
    sys.stdout.buffer.flush()
sys.exit(process.wait())
"""


class OddLauncher:
    """Starts a real engine here whose clock is ahead, or to which the start comes late.

    Attributes:
        started: What was started, in order.
    """

    is_here = True
    machine = None

    def __init__(self, ahead_s: float = 0.0, late_s: float = 0.0) -> None:
        self._words = [sys.executable, "-c", _BETWEEN, str(round(ahead_s * 1e9)), str(late_s)]
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts one, see `Launcher`."""
        self.started.append(
            subprocess.Popen(
                [*self._words, str(find_engine()), *words[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        )
        return self.started[-1]


class ScriptLauncher:
    """Starts a made-up engine: the body of a script in which `say` and `hear` talk."""

    is_here = False
    machine = None

    def __init__(self, body: str) -> None:
        self._body = body

    def start(self, words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts one, see `Launcher`."""
        del words
        return subprocess.Popen(
            [sys.executable, "-IS", "-c", self._body], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
