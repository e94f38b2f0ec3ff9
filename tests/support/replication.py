"""Real servers that may replicate from each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll.servers.command import find_server
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.servers.replication.links import dialect
from support.initialised_data import created
from support.servers import bare_spec, server_command

StartServers = Callable[..., list[ManagedServer]]


@pytest.fixture
def start_servers(server_base: Path) -> Iterator[StartServers]:
    """A function that starts servers which may replicate; all end with the test."""
    with ExitStack() as stack:

        def start(flavour: str, count: int, *, is_semisync: bool = False) -> list[ManagedServer]:
            speaks = dialect(find_server(server_command(flavour)).flavour)
            servers = []
            for number in range(count):
                spec = bare_spec(flavour, derived=speaks.options(number + 1, is_semisync=is_semisync))
                server = created(name=f"{flavour}/{number}", spec=spec, base_dir=server_base)
                servers.append(stack.enter_context(server))
                server.start()
            return servers

        yield start


def controls(stack: ExitStack, servers: Sequence[ManagedServer]) -> list[ControlConnection]:
    """A connection to each, open until the stack is closed."""
    return [stack.enter_context(connect(server.target)) for server in servers]
