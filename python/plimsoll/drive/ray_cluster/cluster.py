"""A Ray cluster as machines on which engines are started, and whether it may be connected to.

Nodes are reserved once and stay the same for all trials; they are given back by `close`, or when this process ends in
any way. Where one was lost, the next trial reserves nodes again.

Whoever reaches a Ray cluster runs programs on it. Only Ray's token authentication keeps others out, and it is off by
default in most versions. So addresses that everybody may reach are refused without it. Deliberately not here: Ray and
the connection itself (`hub`).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from plimsoll.drive.executable import NODE_LOST
from plimsoll.errors import HostError
from plimsoll.spec.addresses import in_url

READY_WAIT_S = 20.0
"""For nodes to be free, or to be there."""

CONNECT_WAIT_S = 90.0
"""For the connection; Ray itself gives up before."""

END_WAIT_S = 10.0
PACKET_BYTES = 64 * 1024
_RAY_OLDEST = (2, 52)
"""The first that can ask for a token."""

_INSTALL_CURE = "pip install 'plimsoll[ray]'"


class RayCluster:
    """Nodes of a cluster, one for each driver."""

    def __init__(self, address: str, count: int, wait_s: float = READY_WAIT_S) -> None:
        """Takes where the cluster is; nothing is connected before `open`.

        Args:
            address: "auto", or `ray://host:port`.
            count: How many nodes are needed.
            wait_s: How long to wait for them.
        """
        self._address, self._count, self._wait_s = address, count, wait_s
        self._hub: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log: IO[bytes] | None = None
        self._running: set[int] = set()
        self._is_broken = False
        self.addresses: tuple[str, ...] = ()

    def open(self) -> None:
        """Reserves the nodes, unless they are reserved already.

        Raises:
            HostError: Ray is not installed, or the cluster may not be used, cannot be reached, or has too few nodes.
        """
        if self._hub is not None and self._hub.poll() is None and not self._is_broken:
            return
        self.close()
        _refuse_missing()
        address = _allowed(self._address)
        self._begin()
        try:
            self.addresses = self._reserved(address)
        except BaseException:
            self.close()
            raise

    def start(self, index: int, words: Sequence[str], errors: IO[bytes]) -> RayProcess:
        """Starts an engine on a node. Raises as `open`."""
        if not self._running:
            self.open()
        if self._control is None:
            raise HostError("Ray: the connection to the cluster was lost; run the same command again")
        process = RayProcess(self, index)
        packet = json.dumps({"do": "start", "index": index, "words": list(words)}).encode()
        try:
            socket.send_fds(self._control, [packet], [*process.far_ends, errors.fileno()])
        except OSError:
            process.close()
            raise HostError("Ray: the connection to the cluster was lost; run the same command again") from None
        process.close_far_ends()
        self._running.add(index)
        return process

    def signal(self, index: int, number: int) -> None:
        """Sends a signal to an engine; one that is to be killed is not waited for any longer."""
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.send(json.dumps({"do": "signal", "index": index, "number": number}).encode())
        if number == signal.SIGKILL:
            self.ended(index, NODE_LOST)

    def ended(self, index: int, code: int) -> None:
        """An engine ended; after a loss the nodes are reserved again for the next trial."""
        self._running.discard(index)
        self._is_broken |= code == NODE_LOST

    def close(self) -> None:
        """Gives the nodes back."""
        if self._control is not None:
            self._control.close()
        if self._hub is not None:
            try:
                self._hub.wait(timeout=END_WAIT_S)
            except subprocess.TimeoutExpired:
                self._hub.kill()
                self._hub.wait()
        if self._log is not None:
            self._log.close()
        self._control = self._hub = self._log = None
        self._running, self._is_broken = set(), False

    @property
    def pid(self) -> int:
        """The process that is connected to the cluster."""
        return 0 if self._hub is None else self._hub.pid

    def _begin(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        with theirs:
            self._hub = subprocess.Popen(
                [sys.executable, "-P", "-m", "plimsoll.drive.ray_cluster.hub"],
                stdin=theirs.fileno(),
                stdout=self._log,
                stderr=self._log,
                process_group=0,  # Ctrl-C reaches this process only, which then ends the load in good order
                env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"},
            )

    def _reserved(self, address: str) -> tuple[str, ...]:
        """What the hub answers: the addresses of the nodes."""
        assert self._control is not None, "the hub was just started"
        self._control.send(json.dumps({"address": address, "count": self._count, "wait_s": self._wait_s}).encode())
        limit_s = CONNECT_WAIT_S + self._wait_s
        if not _is_readable(self._control.fileno(), limit_s):
            raise HostError(f"Ray: the cluster at {address} did not answer within {limit_s:.0f} s; is it up?")
        data = self._control.recv(PACKET_BYTES)
        if not data:
            raise HostError(f"Ray: connecting to the cluster at {address} failed: {self._last_words()}")
        answer: dict[str, Any] = json.loads(data)
        if "refused" in answer:
            raise HostError(str(answer["refused"]))
        return tuple(str(node_address) for node_address in answer["addresses"])

    def _last_words(self) -> str:
        assert self._log is not None, "the hub was started"
        self._log.seek(0)
        lines = self._log.read()[-2000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


class RayProcess:
    """An engine on a node, with pipes as a process here has them. Each method is as in `subprocess.Popen`."""

    def __init__(self, cluster: RayCluster, index: int) -> None:
        self._cluster, self._index = cluster, index
        engine_stdin, tell = os.pipe()
        hear, engine_stdout = os.pipe()
        self._code_fd, code = os.pipe()
        self.stdin, self.stdout = os.fdopen(tell, "wb"), os.fdopen(hear, "rb")
        self.far_ends: tuple[int, ...] = (engine_stdin, engine_stdout, code)
        self.returncode: int | None = None

    @property
    def pid(self) -> int:
        """Of what leads to it."""
        return self._cluster.pid

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, as `subprocess.Popen.wait` gives it."""
        if self.returncode is None:
            if not _is_readable(self._code_fd, timeout):
                raise subprocess.TimeoutExpired("plimsoll-engine", timeout or 0.0)
            text = os.read(self._code_fd, 16)  # empty where the hub itself is gone
            self.returncode = int(text) if text else NODE_LOST
            os.close(self._code_fd)
            self._cluster.ended(self._index, self.returncode)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends it a signal."""
        self._cluster.signal(self._index, number)

    def close_far_ends(self) -> None:
        """Closes what was handed on."""
        for far_end in self.far_ends:
            os.close(far_end)
        self.far_ends = ()

    def close(self) -> None:
        """Closes all pipes of one that was not started."""
        self.close_far_ends()
        self.stdin.close()
        self.stdout.close()
        os.close(self._code_fd)


class RayLauncher:
    """Starts engines on one node of a Ray cluster."""

    is_here = False

    def __init__(self, cluster: RayCluster, index: int) -> None:
        self._cluster, self._index = cluster, index

    @property
    def machine(self) -> str | None:
        """The address of its node, once it is reserved."""
        addresses = self._cluster.addresses
        return addresses[self._index] if addresses else None

    def start(self, words: Sequence[str], errors: IO[bytes]) -> RayProcess:
        """Starts one, see `Launcher`."""
        return self._cluster.start(self._index, words, errors)


def _is_readable(descriptor: int, limit_s: float | None) -> bool:
    """Waits for something to read, or the end. `select.select` knows only the first 1,024 descriptors."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if limit_s is None else limit_s * 1000))


def _allowed(address: str) -> str:
    """The address to connect to. That of "auto" is judged where it is known: when this node's cluster answered."""
    named = os.environ.get("RAY_ADDRESS", "")
    if address == AUTO and not named.startswith("ray://"):
        return AUTO
    return refuse_unguarded(named if address == AUTO else address, CLIENT_METHOD)


def _refuse_missing() -> None:
    try:
        installed = version("ray")
    except PackageNotFoundError:
        raise HostError(f"Ray is not installed here: {_INSTALL_CURE}") from None
    if tuple(int(part) for part in installed.split(".")[:2]) < _RAY_OLDEST:
        raise HostError(f"Ray {installed} is too old, {_RAY_OLDEST[0]}.{_RAY_OLDEST[1]} is needed: {_INSTALL_CURE}")
    if find_spec("grpc") is None:
        raise HostError(f"Ray's client is not installed here: {_INSTALL_CURE}")


AUTO = "auto"
"""The cluster that this machine is a node of."""

CLIENT_PORT = 10001
"""Where Ray's client server listens when nobody says otherwise."""

CLIENT_METHOD = "/ray.rpc.RayletDriver/ClusterInfo"
GCS_METHOD = "/ray.rpc.NodeInfoGcsService/CheckAlive"
"""Calls that change nothing: of the client server, and of the process that keeps the cluster's state."""

_OWN = tuple(
    ip_network(network)
    for network in (
        "127.0.0.0/8",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "::1/128",
        "fc00::/7",
        "fe80::/10",
    )
)
"""Loopback, RFC 1918, RFC 4193 and link-local. `ip_address.is_private` also has ranges that are none of these."""

_CURE = (
    "start the cluster with RAY_AUTH_MODE=token and set it here too, with the token in ~/.ray/auth_token, or use a"
    " private address (docs/drivers.md)"
)


def host_and_port(address: str, port: int = CLIENT_PORT) -> tuple[str, int]:
    """Of `ray://host:port`, or of `host:port`.

    >>> host_and_port("ray://head.example"), host_and_port("[fd00::1]:6379")
    (('head.example', 10001), ('fd00::1', 6379))
    """
    split = urlsplit(address if "://" in address else f"ray://{address}")
    return split.hostname or "", split.port or port


def is_own(address: str) -> bool:
    """Whether an IP address is loopback or private.

    >>> is_own("10.0.0.5"), is_own("8.8.8.8"), is_own("::ffff:8.8.8.8")
    (True, False, False)
    """
    ip: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return any(ip in network for network in _OWN if network.version == ip.version)


def refuse_unguarded(
    address: str, method: str, others: Iterable[str] = (), asks_token: Callable[[str, str], bool] | None = None
) -> str:
    """Refuses a cluster that everybody may reach and that asks nobody for a token.

    Args:
        address: `ray://host:port`, or the `host:port` of the cluster's state.
        method: A call that it answers to whoever may connect.
        others: IP addresses of its nodes.
        asks_token: Finds out whether it refuses that call without a token.

    Returns:
        The address to connect to: without names where no token is needed, so that it is the one that was judged.

    Raises:
        HostError: It may not be connected to, or its name leads nowhere.
    """
    host, port = host_and_port(address)
    addresses = [*_addresses(host), *others]
    public = next((ip for ip in addresses if not is_own(ip)), None)
    scheme = "ray://" if "://" in address else ""
    if public is None:
        return f"{scheme}{in_url(addresses[0])}:{port}"
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        raise HostError(
            f"Ray: {_shown(address, public)} is neither loopback nor private, and Ray's token authentication is off;"
            f" {_CURE}"
        )
    if not (asks_token or asks_for_token)(f"{in_url(host)}:{port}", method):
        raise HostError(
            f"Ray: {_shown(address, public)} is neither loopback nor private, and the cluster asks for no token, so"
            f" everybody who reaches it can run programs on it; {_CURE}"
        )
    return address


def asks_for_token(place: str, method: str, limit_s: float = 10.0) -> bool:
    """Whether a call without a token is refused for that reason.

    Args:
        place: `host:port`.
        method: Of the call.
        limit_s: For its answer.

    Raises:
        HostError: Nobody answers there.
    """
    import grpc

    with _channel(place) as channel:
        call = channel.unary_unary(method, request_serializer=None, response_deserializer=None)
        try:
            call(b"", timeout=limit_s)
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise HostError(f"Ray: {place} does not answer: {error.details()}; is the cluster up?") from None
            return bool(error.code() == grpc.StatusCode.UNAUTHENTICATED)
    return False


def _channel(place: str) -> Any:
    """A connection with Ray's own certificates where it is told to use them, and never with its token."""
    import grpc

    if os.environ.get("RAY_USE_TLS", "0").lower() not in ("1", "true"):
        return grpc.insecure_channel(place)
    names = ("RAY_TLS_CA_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_SERVER_CERT")
    try:
        texts = [Path(os.environ[name]).read_bytes() for name in names]
    except (KeyError, OSError) as error:
        raise HostError(f"Ray: RAY_USE_TLS is on, and a certificate cannot be read: {error}") from None
    return grpc.secure_channel(place, grpc.ssl_channel_credentials(*texts))


def _addresses(host: str) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise HostError(f"Ray: the host {host!r} cannot be resolved: {error}; check the address") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def _shown(address: str, public: str) -> str:
    return address if public in address else f"{address} ({public})"
