"""Ends a server when Plimsoll is gone, whatever it died of, and removes the server's directory.

A process of its own, started as `python -I -S guardian.py DIRECTORY LOCK_FD`: it uses the standard library only, lives
in a session of its own so that Ctrl-C does not reach it, and starts the server as its child. Three things can happen:

* Plimsoll asks over stdin, one JSON object a line: `{"do": "start", "argv": [...], "log": PATH}`,
  `{"do": "stop", "grace_s": 60}`, `{"do": "kill"}`, `{"do": "freeze"}` and `{"do": "thaw"}`; a start may have a
  placement. Answers on stdout: `{"event": "started", "pid": 1}`, `{"event": "refused", "reason": "..."}`,
  `{"event": "frozen"}`, `{"event": "thawed"}`, `{"event": "exited", "code": 0}` (negative: ended by that signal).
* stdin ends, since Plimsoll is gone, by SIGKILL even: the server gets SIGTERM, after 5 s SIGKILL, and the directory is
  removed if its marker says that it is throwaway.
* The guardian itself is killed: the kernel then kills the server (PR_SET_PDEATHSIG). A later sweep ends what the kernel
  does not, such as what a shell started, and removes the directory, since the lock that the guardian held is free.

Deliberately not here: waiting until a server answers (`managed`), and the choice of what to remove later (`directory`).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # isolated: where the package lies is not on the path
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from plimsoll.servers import freezing, placing
from plimsoll.servers.marked_directory import SERVER_NOTE, environment_of, read_marker, remove_directory
from plimsoll.servers.placing import die_with_parent, place_here, raise_file_limit, remove_groups, unified_group

ORPHAN_GRACE_S, FREEZE_LIMIT_S = 5.0, 20.0


class Guardian:
    """One directory, at most one child at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._child: subprocess.Popen[bytes] | None = None
        self._child_fd = -1
        self._kill_at_s: float | None = None
        self._freezer: freezing.ServerFreezer | None = None
        self._unread = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ)
        self._terminated_fd, self._terminate_fd = os.pipe()
        self._selector.register(self._terminated_fd, selectors.EVENT_READ)

    def terminate(self) -> None:
        """Ends `serve` at its next turn, never in the middle of a start: that would leave a child that nobody knows."""
        os.write(self._terminate_fd, b"x")

    def serve(self) -> None:
        """Obeys until stdin ends, or until it is terminated."""
        while True:
            timeout = None if self._kill_at_s is None else max(self._kill_at_s - time.monotonic(), 0)
            ready = [key.fd for key, _ in self._selector.select(timeout)]
            if self._terminated_fd in ready:
                return
            if self._child_fd in ready:
                self._child_exited()
            elif self._kill_at_s is not None and time.monotonic() >= self._kill_at_s:
                self._kill_at_s = None
                self._signal_child(signal.SIGKILL)
            if 0 in ready and not self._read_requests():
                return

    def end_child(self, grace_s: float) -> None:
        """Ends the child: SIGTERM, and SIGKILL when it is still there after the grace."""
        if self._child is None:
            return
        self._terminate_child()
        if not select.select([self._child_fd], [], [], grace_s)[0]:
            self._signal_child(signal.SIGKILL)
        self._child_exited()

    def _read_requests(self) -> bool:
        """Reads what is there; False when stdin ended."""
        received = os.read(0, 65536)
        *lines, self._unread = (self._unread + received).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))
        return bool(received)

    def _obey(self, request: dict[str, Any]) -> None:
        if request["do"] == "start":
            self._start(request["argv"], request["log"], request.get("placement") or {})
        elif request["do"] == "stop" and self._child is not None and self._kill_at_s is None:
            self._kill_at_s = time.monotonic() + request["grace_s"]
            self._terminate_child()
        elif request["do"] == "kill" and self._child is not None:
            self._signal_child(signal.SIGKILL)
        elif request["do"] == "freeze" and self._freezer is not None:
            self._freeze(self._freezer)
        elif request["do"] == "thaw" and self._freezer is not None:
            self._thaw(self._freezer)

    def _freeze(self, freezer: freezing.ServerFreezer) -> None:
        """Freezes the child and says so. Where the child ends instead, that is said as always."""
        try:
            is_frozen = freezer.freeze(FREEZE_LIMIT_S)
        except OSError as error:
            with contextlib.suppress(OSError):
                freezer.thaw()
            _say(event="refused", reason=f"{error.filename}: {error.strerror}")
            return
        if is_frozen:
            _say(event="frozen")
        elif is_frozen is False:
            _say(event="refused", reason=f"it did not stop within {FREEZE_LIMIT_S:.0f} s; its storage may hang")

    def _thaw(self, freezer: freezing.ServerFreezer) -> None:
        """Lets the child go on and says so; where it has ended, that is said as always."""
        try:
            if freezer.thaw():
                _say(event="thawed")
        except OSError as error:
            _say(event="refused", reason=f"{error.filename}: {error.strerror}")

    def _terminate_child(self) -> None:
        """Asks the child to end; a frozen one would not hear it."""
        assert self._freezer is not None
        self._signal_child(signal.SIGTERM)
        with contextlib.suppress(OSError):  # it is killed after the grace
            self._freezer.thaw()

    def _start(self, argv: list[str], log: str, placement: dict[str, Any]) -> None:
        assert self._child is None, "one child at a time"
        guardian_pid = os.getpid()
        group = freezing.make_group(self._directory.name, below=unified_group(placement))
        note = json.dumps({"group": str(group or "")})
        (self._directory / SERVER_NOTE).write_text(note, encoding="utf-8")
        faults_fd, fault_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

        def in_child() -> None:
            die_with_parent(guardian_pid)
            raise_file_limit()
            try:
                place_here(placement)
            except OSError as error:
                os.write(fault_fd, str(error.strerror).encode()[:1000])
                raise
            freezing.join_group(group)

        try:
            with Path(log).open("ab") as output:
                self._child = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd=self._directory,
                    env=environment_of(self._directory),
                    process_group=0,
                    preexec_fn=in_child,  # noqa: PLW1509  (this process has one thread)
                )
        except (OSError, subprocess.SubprocessError) as error:
            reason = str(error)
            with contextlib.suppress(BlockingIOError):  # nothing is in it: it was not about the placement
                reason = os.read(faults_fd, 1000).decode()
            if group is not None:
                freezing.remove_group(group)
            _say(event="refused", reason=reason)
            return
        finally:
            os.close(faults_fd)
            os.close(fault_fd)
        pid = self._child.pid
        self._freezer = freezing.ServerFreezer(pid, group)
        self._child_fd = os.pidfd_open(pid)
        self._selector.register(self._child_fd, selectors.EVENT_READ)
        _say(event="started", pid=pid)

    def _signal_child(self, number: signal.Signals) -> None:
        """Signals the child's process group. The child is not reaped yet, so its number cannot be anybody else's."""
        assert self._child is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)

    def _child_exited(self) -> None:
        assert self._child is not None
        assert self._freezer is not None
        self._signal_child(signal.SIGKILL)  # whatever the child left in its group
        code = self._child.wait()
        placing.await_group(self._child.pid, ORPHAN_GRACE_S)
        self._freezer.close()
        self._selector.unregister(self._child_fd)
        os.close(self._child_fd)
        self._child, self._child_fd, self._kill_at_s, self._freezer = None, -1, None, None
        (self._directory / SERVER_NOTE).unlink(missing_ok=True)
        _say(event="exited", code=code)


def _say(**event: Any) -> None:
    """Writes an event. When nobody reads, stdin has ended too, which is what counts."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(event).encode() + b"\n")


def main(arguments: list[str]) -> None:
    """Guards the directory of the first argument; the second is its lock, inherited and held to the end."""
    directory, lock_fd = Path(arguments[0]), int(arguments[1])
    os.fstat(lock_fd)
    os.set_inheritable(lock_fd, False)
    os.umask(0o077)
    placing.adopt_orphans()
    guardian = Guardian(directory)
    signal.signal(signal.SIGTERM, lambda *_: guardian.terminate())
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # a handler, since being ignored would be inherited by the server
    _say(event="ready")
    guardian.serve()
    guardian.end_child(ORPHAN_GRACE_S)
    remove_groups(directory)
    if (marker := read_marker(directory)) is not None and marker.get("throwaway"):
        remove_directory(directory)


if __name__ == "__main__":
    main(sys.argv[1:])
