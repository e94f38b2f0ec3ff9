"""Whether a Ray cluster may be connected to: by its addresses, and by what it asks of whoever connects.

Whoever reaches a Ray cluster runs programs on it. Only Ray's token authentication keeps others out, and it is off by
default in most versions. So addresses that everybody may reach are refused without it. Deliberately not here: the
connection itself (`hub`).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from plimsoll.errors import HostError

AUTO = "auto"
"""The cluster that this machine is a node of."""

CLIENT_PORT = 10001
"""Where Ray's client server listens when nobody says otherwise."""

CLIENT_METHOD = "/ray.rpc.RayletDriver/ClusterInfo"
GCS_METHOD = "/ray.rpc.NodeInfoGcsService/CheckAlive"
"""Calls that change nothing: of the client server, and of the process that keeps the cluster's state."""

_OWN = tuple(
    ip_network(one)
    for one in (
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
    found = [*_addresses(host), *others]
    public = next((one for one in found if not is_own(one)), None)
    scheme = "ray://" if "://" in address else ""
    if public is None:
        return f"{scheme}{_in_url(found[0])}:{port}"
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        raise HostError(
            f"Ray: {_shown(address, public)} is neither loopback nor private, and Ray's token authentication is off;"
            f" {_CURE}"
        )
    if not (asks_token or asks_for_token)(f"{_in_url(host)}:{port}", method):
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
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise HostError(f"Ray: the host {host!r} cannot be resolved: {error}; check the address") from None
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _shown(address: str, public: str) -> str:
    return address if public in address else f"{address} ({public})"
