"""Other hosts for tests: network namespaces with a host name and an sshd of their own, reached by real OpenSSH.

Each has its own network, processes, and disk: the folder `DISK` and the file `LOCK` are others on each. All other files
are this machine's.
They need root.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.servers import missing, needs_own_mounts
from support.waiting import until

SSHD = "/usr/sbin/sshd"

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Of the hosts: the engine of this machine is not on it."""

DISK = Path("/var/tmp/plimsoll-test-disk")
"""Empty on this machine; on each host its own disk."""

LOCK = Path(f"/var/tmp/plimsoll-host-{os.geteuid()}.lock")
"""By which a study holds a host; each host has its own, so that other tests may run beside."""


COPIES = Path("/var/tmp")
"""Where engines that are copied to hosts lie: hosts have the files of this machine."""

_NUMBERS = itertools.count()
"""Of the hosts of this process, so that tests may have some within others."""


@dataclass(frozen=True)
class SshHost:
    """A host.

    Attributes:
        name: As ssh finds it, with `PATH` as in `environment`.
        address: Of its end of the link to us.
        namespace: For `ip netns exec`.
        disk: What the host has at `DISK`, as this machine sees it.
        programs: A folder, empty at first, that comes first on the PATH there.
    """

    name: str
    address: str
    namespace: str
    disk: Path
    programs: Path

    @property
    def ours(self) -> str:
        """The address of our end of the link."""
        return f"{self.address.rpartition('.')[0]}.1"

    def pids(self) -> list[int]:
        """Processes that run there, as this machine numbers them."""
        found = subprocess.run(["ip", "netns", "pids", self.namespace], capture_output=True, text=True, check=True)
        return [int(pid) for pid in found.stdout.split()]

    def cut(self) -> None:
        """Pulls the cable out."""
        _run("ip", "netns", "exec", self.namespace, "ip", "link", "set", "eth0", "down")

    def mend(self) -> None:
        """Puts it in again."""
        _run("ip", "netns", "exec", self.namespace, "ip", "link", "set", "eth0", "up")


def copies_of_engines() -> list[Path]:
    """Engines that were copied to hosts of any test."""
    return list(COPIES.glob("plimsoll-driver-*"))


@contextmanager
def alone_with_copies() -> Iterator[None]:
    """Waits until no other process has engines copied in its tests: whoever counts copies would see those, too."""
    with (COPIES / "plimsoll-test-copies.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def ssh_hosts(folder: Path, *names: str, disk: Path | None = None) -> Iterator[list[SshHost]]:
    """Hosts that `ssh NAME` reaches while the context lasts: `PATH` begins with a folder that has such an ssh.

    With `disk`, that folder is the disk of all; without it each has a new one, on this machine's file system.

    Skips, or fails in CI, where namespaces or OpenSSH's server cannot be had.
    """
    if os.geteuid() != 0 or shutil.which("ip") is None:
        missing("hosts as network namespaces need root and iproute2")
    needs_own_mounts()
    if not Path(SSHD).exists():
        missing("sshd is not here: tools/install-test-tools installs it")
    for key in ("host_key", "client_key"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))
    shutil.copy(folder / "client_key.pub", folder / "authorized_keys")
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    before = os.environ["PATH"]
    with ExitStack() as stack:
        hosts = [stack.enter_context(_host(folder, name, disk)) for name in names]
        _write_client(folder, hosts)
        os.environ["PATH"] = f"{folder / 'bin'}:{before}"
        stack.callback(os.environ.__setitem__, "PATH", before)
        yield hosts


def _write_client(folder: Path, hosts: list[SshHost]) -> None:
    """An `ssh` that reads a configuration of its own: the real one takes the home folder of the password file."""
    key = (folder / "host_key.pub").read_text().split()[:2]
    (folder / "known_hosts").write_text("".join(f"{host.address} {' '.join(key)}\n" for host in hosts))
    lines = [
        f"Host {host.name}\n HostName {host.address}\n User root\n IdentityFile {folder}/client_key\n"
        f" IdentitiesOnly yes\n UserKnownHostsFile {folder}/known_hosts\n"
        for host in hosts
    ]
    (folder / "config").write_text("".join(lines))
    (folder / "bin").mkdir(exist_ok=True)
    wrapper = folder / "bin/ssh"
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/config "$@"\n')
    wrapper.chmod(0o755)


@contextmanager
def _host(folder: Path, name: str, given: Path | None) -> Iterator[SshHost]:
    number = next(_NUMBERS)
    unique = f"plimsoll{os.getpid() % 10000}{number}"
    net = f"10.{200 + number}.{os.getpid() % 250}"
    namespace, link = f"{unique}n", f"{unique}v"
    with ExitStack() as stack:
        try:
            _run("ip", "netns", "add", namespace)
        except subprocess.CalledProcessError as error:
            missing(f"no network namespace can be made here: {error.stderr}")
        stack.callback(subprocess.run, ["ip", "netns", "del", namespace], check=False)
        _run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        stack.callback(subprocess.run, ["ip", "link", "del", link], check=False, stderr=subprocess.DEVNULL)
        _run("ip", "addr", "add", f"{net}.1/30", "dev", link)
        _run("ip", "link", "set", link, "up")
        inside = ["ip", "netns", "exec", namespace]
        _run(*inside, "ip", "addr", "add", f"{net}.2/30", "dev", "eth0")
        for device in ("eth0", "lo"):
            _run(*inside, "ip", "link", "set", device, "up")
        config, programs = folder / f"sshd-{name}", folder / f"programs-{name}"
        programs.mkdir()
        config.write_text(
            f"ListenAddress {net}.2\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\n"
            f"PidFile {folder}/sshd-{name}.pid\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n"
            f"MaxSessions 50\nMaxStartups 50\nSetEnv PATH={programs}:{SYSTEM_PATH}\n"
        )
        disk = given or Path(f"{DISK}-{unique}")
        for one in (DISK, disk):
            one.mkdir(mode=0o700, exist_ok=True)
        for lock in (LOCK, folder / f"lock-{name}"):
            lock.touch(mode=0o600)
        if given is None:
            stack.callback(shutil.rmtree, disk)
        own = f"mount --bind {disk} {DISK} && mount --bind {folder}/lock-{name} {LOCK}"
        command = f"{own} && hostname {name} && exec {SSHD} -D -e -f {config}"
        apart = ["unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", command]
        with (folder / f"sshd-{name}.log").open("wb") as log:
            daemon = subprocess.Popen([*inside, *apart], stderr=log)
        stack.callback(_end, daemon)
        if not until((folder / f"sshd-{name}.pid").exists):
            missing(f"sshd does not start here: {(folder / f'sshd-{name}.log').read_text()}")
        yield SshHost(name, f"{net}.2", namespace, disk, programs)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    """Ends the first process of the host, and so all of them."""
    daemon.kill()
    daemon.wait()


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
