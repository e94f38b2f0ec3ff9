"""The guide on paper: prints `guide.html` to PDF with a Chromium that is there; Plimsoll brings none.

Deliberately not here: how the page looks on paper, which its style sheet says for every browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from plimsoll.errors import HostError
from plimsoll.private_folder import PrivateFolder

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
"""Commands that print alike, in the order in which they are tried."""

LIMIT_S = 120.0
"""A guide of 500 recordings takes a few seconds; a browser that hangs must not hang the command."""

_CURE = "Open guide.html in a browser and print it to a file."


def print_pdf(page: Path, to: Path, *, limit_s: float = LIMIT_S) -> Path:
    """Prints a page that lies on this machine; the PDF stands there whole or not at all.

    The browser gets a profile of its own, which is removed, and goes nowhere: guides fetch nothing.

    Args:
        page: An HTML file.
        to: Where the PDF goes.
        limit_s: After so many seconds the browser is ended.

    Returns:
        `to`.

    Raises:
        HostError: There is no browser, it failed, it took too long, or the file cannot be written.
    """
    command = _browser()
    with PrivateFolder("print") as profile:
        printed = profile / "guide.pdf"
        words = [command, *_flags(profile), f"--print-to-pdf={printed}", page.resolve().as_uri()]
        _run(words, limit_s)
        if not printed.exists() or not printed.read_bytes().startswith(b"%PDF"):
            raise HostError(f"{command} made no PDF of {page}. {_CURE}")
        try:
            partial = to.with_name(f".{to.name}-partial")
            shutil.copyfile(printed, partial)
            partial.replace(to)
        except OSError as error:
            raise HostError(f"{to}: cannot be written: {error.strerror}; choose another folder with --to") from error
    return to


def _browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise HostError(
            "a PDF needs Chromium or Chrome, and none is installed here (looked for "
            f"{', '.join(BROWSERS)}). Install one (apt install chromium), or: {_CURE}"
        )
    return found


def _flags(profile: Path) -> list[str]:
    flags = ["--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-pdf-header-footer"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium has no sandbox for root; the page is our own and runs no other script
    return [*flags, f"--user-data-dir={profile}"]


def _run(words: list[str], limit_s: float) -> None:
    """Runs a browser to its end, in a process group of its own: at the limit its children end with it."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        code = process.wait(limit_s)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{words[0]} did not print within {limit_s:.0f} s and was ended. {_CURE}") from error
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()
    if code != 0:
        raise HostError(f"{words[0]} failed to print (exit code {code}). {_CURE}")
