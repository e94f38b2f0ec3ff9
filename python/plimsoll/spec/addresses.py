"""Hosts as people and programs write them: in URLs, in the `Host` of a request, as names and as numbers.

Deliberately not here: looking names up, and targets (`target`).
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address


def address_in(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a text is; None for names."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a name or an address is that of whoever uses it.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("db1")
    (True, True, True, False)
    """
    address = address_in(host)
    return host == "localhost" if address is None else address.is_loopback


def in_url(host: str) -> str:
    """A name or an address as it stands in a URL, before a port.

    >>> in_url("db1"), in_url("::1")
    ('db1', '[::1]')
    """
    return f"[{host}]" if ":" in host else host


def host_asked_for(header: str) -> str:
    """The name or the address in the `Host` of a request, which may have a port.

    >>> host_asked_for("127.0.0.1:5665"), host_asked_for("[::1]:80"), host_asked_for("[::1]"), host_asked_for("db1")
    ('127.0.0.1', '::1', '::1', 'db1')
    """
    name, _, port = header.rpartition(":")
    return (name if port.isdigit() else header).removeprefix("[").removesuffix("]")
