"""A port on which a managed server can listen."""

from __future__ import annotations

import socket


def free_port(address: str = "127.0.0.1") -> int:
    """A TCP port of an address of this machine that was free a moment ago."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port
