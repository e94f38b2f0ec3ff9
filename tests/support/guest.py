"""A virtual machine for tests, made by examples/vm/make-guest; kept, because making it takes minutes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.repository import ROOT
from support.servers import missing

SCRIPTS = ROOT / "examples" / "vm"
KEPT = Path("/var/tmp/plimsoll-test-guest")
PROGRAMS = ("mmdebstrap", "mke2fs", "qemu-system-x86_64", "ssh", "ip")
MAKE_LIMIT_S = 900
SWITCH_LIMIT_S = 720
"""An emulated guest takes minutes to start on a busy machine."""


@dataclass(frozen=True)
class Guest:
    """A guest of one CPU that QEMU runs on CPU 1; `ssh guest` reaches it while it runs."""

    folder: Path

    def set(self, **settings: object) -> None:
        """Changes settings for its next start."""
        file = self.folder / "settings"
        kept = dict(line.split("=", 1) for line in file.read_text().splitlines())
        file.write_text("".join(f"{name}={value}\n" for name, value in {**kept, **settings}.items()))

    def do(self, what: str) -> subprocess.CompletedProcess[str]:
        """Runs `guest FOLDER what`."""
        words = [str(SCRIPTS / "guest"), str(self.folder), what]
        return subprocess.run(words, capture_output=True, text=True, timeout=SWITCH_LIMIT_S, check=False)


@contextmanager
def guest(folder: Path, accelerator: str) -> Iterator[Guest]:
    """A guest that has run and is stopped now; `PATH` begins with a folder whose `ssh` finds it.

    Skips, or fails in CI, where it cannot be had. With `kvm` it is skipped too where KVM is there but runs no guest.

    Args:
        folder: For the test.
        accelerator: `kvm`, or `tcg` for an emulated processor.
    """
    if os.geteuid() != 0:
        missing("a guest needs root")
    if lacking := [name for name in PROGRAMS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]:
        missing(f"a guest needs {', '.join(lacking)}: tools/install-guest-tools installs them")
    if accelerator == "kvm" and not os.access("/dev/kvm", os.W_OK):
        missing("/dev/kvm cannot be used here")
    if not (KEPT / "settings").exists():
        making = [SCRIPTS / "make-guest", KEPT, "CPUS=1", "ON_CPUS=1", "MEMORY=1G"]
        made = subprocess.run(making, capture_output=True, text=True, timeout=MAKE_LIMIT_S, check=False)
        assert made.returncode == 0, made.stderr
    one = Guest(KEPT)
    one.set(CPUS=1, MEMORY="1G", ACCELERATOR=accelerator)
    (folder / "bin").mkdir()
    wrapper = folder / "bin" / "ssh"
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {KEPT}/ssh_config "$@"\n')
    wrapper.chmod(0o755)
    before = os.environ["PATH"]
    try:
        started = one.do("start")
        if started.returncode != 0:
            missing(f"no guest runs here with {accelerator}: {started.stderr.strip()}")
        assert one.do("stop").returncode == 0
        os.environ["PATH"] = f"{folder / 'bin'}:{before}"
        yield one
    finally:
        os.environ["PATH"] = before
        one.do("stop")
