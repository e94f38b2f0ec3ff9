"""A headless Chromium, spoken to through its debugging pipe (Chrome DevTools Protocol): no port, no other library.

Deliberately not here: what is looked for in a page.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.waiting import until

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
PATIENCE_S = 300.0

LAUNCHER = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(reads, 3)
os.dup2(writes, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Puts the pipe where the browser looks for it: it reads from descriptor 3 and writes to 4."""


def chromium_command() -> str:
    """The browser's command; the test is skipped where there is none, and fails in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("chromium is not installed; CI must look at the guide in a browser")
    if found is None:
        pytest.skip("SKIPPED LOUDLY: chromium is not installed, so nobody looked at the guide in a browser")
    return found


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A running browser with a profile of its own; both are gone afterwards."""
    command = chromium_command()
    with tempfile.TemporaryDirectory(prefix="plimsoll-browser-", ignore_cleanup_errors=True) as profile:
        to_read, to_write = os.pipe(), os.pipe()
        flags = [*FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(to_read[0]), str(to_write[1]), command, *flags],
            pass_fds=(to_read[0], to_write[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read[0])
        os.close(to_write[1])
        try:
            yield Browser(to_write[0], to_read[1])
        finally:
            process.terminate()
            process.wait(timeout=300)
            os.close(to_read[1])
            os.close(to_write[0])


class MovedOnError(Exception):
    """The page gave way to the next one while it was asked."""


MOVED_ON = "Inspected target navigated or closed", "Execution context was destroyed"
"""What the browser says then; a later version may say why."""


class Browser:
    """Sends commands, keeps events."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._rest = b""
        self._last_id = 0
        self.events: list[dict[str, Any]] = []

    def page(self, *, width: int, height: int = 900, dark: bool = False, scripts: bool = True) -> Page:
        """A new page of a given size."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.send(f"{domain}.enable")
        page.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        page.media("screen", dark=dark)
        page.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        return page

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Sends one command and waits for its answer.

        Raises:
            MovedOnError: There is none, since the page is another one now.
        """
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last_id:
                if answer.get("error", {}).get("message", "").startswith(MOVED_ON):
                    raise MovedOnError(f"{method}: {answer['error']}")
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._reads], [], [], PATIENCE_S)
            assert ready, f"the browser said nothing for {PATIENCE_S} s"
            received = os.read(self._reads, 1 << 20)
            assert received, "the browser has ended"
            self._rest += received
        line, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(line))


class Page:
    """One page of a browser."""

    def __init__(self, of: Browser, session: str) -> None:
        self._browser, self._session = of, session

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a command about this page."""
        return self._browser.send(method, self._session, **params)

    def open(self, path: Path) -> None:
        """Opens a file and waits until it is loaded and, where scripts run, its charts are drawn."""
        self.send("Page.navigate", url=path.as_uri())
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")

    def visit(self, url: str) -> None:
        """Opens an address and waits until its page is loaded."""
        self.send("Page.navigate", url=url)
        self.wait_for(f"document.readyState === 'complete' && location.href === {json.dumps(url)}")

    def press(self, key: str, code: int) -> None:
        """Presses a key and lets it go."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def media(self, kind: str, *, dark: bool = False) -> None:
        """Shows the page as on a screen or on paper, light or dark."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def value(self, expression: str) -> Any:
        """What an expression is in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Waits until an expression is true; of a page that gives way meanwhile it is not."""

        def is_true() -> bool:
            with contextlib.suppress(MovedOnError):
                return bool(self.value(expression))
            return False

        assert until(is_true, PATIENCE_S, step_s=0.05), f"waited {PATIENCE_S} s for {expression}"

    def screenshot(self, path: Path) -> None:
        """All of the page as a PNG file."""
        picture = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def said(self, *methods: str) -> list[dict[str, Any]]:
        """What this page reported, such as requests and errors."""
        events = self._browser.events
        return [
            event["params"]
            for event in events
            if event.get("sessionId") == self._session and event["method"] in methods
        ]
