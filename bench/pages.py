"""What pages of a running trial cost in throughput: servers of pages that somebody looks at, against none that run.

Each server is a process of its own, as `--web` starts it, with one page open. Between the blocks in which they serve
they are stopped (SIGSTOP), so what a server costs that nobody looks at is in too. They are begun before the load.
"""

from __future__ import annotations

import selectors
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from bench.ground import Ground
from bench.metrics import CASES, a_second
from bench.options import Options, say
from bench.rows import Section
from bench.switched import compared
from plimsoll.record.partial import PartialRecording
from plimsoll.run.live import LiveFeed, LiveInterval
from plimsoll.serve.process import beside

PAGES = 10
"""Servers, each with an open page: the loss is divided by so many."""


def compare_pages(ground: Ground, options: Options) -> Section:
    """Throughput while pages are open against the same load without."""
    interval = a_second(ground)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-bench-pages-")))
        feed = LiveFeed(PartialRecording.begin(folder, "t").path)
        say(f"{PAGES} servers of pages begin")
        addresses: list[str] = []
        for _ in range(PAGES):
            stack.enter_context(beside(folder, lambda line: addresses.append(line.removeprefix("page: "))))
        servers = [child for child in psutil.Process().children() if "plimsoll.serve.process" in child.cmdline()]
        assert len(servers) == PAGES, "each has begun"
        stack.callback(_send, servers, signal.SIGCONT)
        _send(servers, signal.SIGSTOP)

        @contextmanager
        def looking(_engine_pid: int, doses: list[int]) -> Iterator[None]:
            _send(servers, signal.SIGCONT)
            began_s, ended = time.monotonic(), threading.Event()
            watcher = threading.Thread(target=_watch, args=(addresses, feed, interval, ended), daemon=True)
            watcher.start()
            yield
            ended.set()
            watcher.join()
            doses.append(round(PAGES * (time.monotonic() - began_s)))
            _send(servers, signal.SIGSTOP)

        rows = [compared(ground, options, case, looking, what="pages", dose="page-seconds") for case in CASES]
    return Section(title="Pages of a running trial, open against not there", rows=tuple(rows))


def _send(servers: Sequence[psutil.Process], number: signal.Signals) -> None:
    for server in servers:
        server.send_signal(number)


def _watch(addresses: Sequence[str], feed: LiveFeed, interval: LiveInterval, ended: threading.Event) -> None:
    """Opens a page of each server, tells the trial's next second, and reads what comes, as browsers do."""
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for address in addresses:
            parts = urlsplit(address)
            browser = stack.enter_context(socket.create_connection((parts.hostname, parts.port)))
            request = f"GET {parts.path}live HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"
            browser.sendall(request.encode())
            selector.register(browser, selectors.EVENT_READ)
        due_s = time.monotonic()
        while not ended.is_set():
            if time.monotonic() >= due_s:
                index = round(time.time())
                feed.tell(interval.model_copy(update={"index": index, "unix_s": float(index)}))
                due_s += 1.0
            for key, _ in selector.select(timeout=0.1):
                assert isinstance(key.fileobj, socket.socket)
                key.fileobj.recv(65_536)
