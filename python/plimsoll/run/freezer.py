"""The servers of a system, frozen at times: nobody asks them anything then, nor freezes them while somebody asks.

A question to a frozen server would wait until it is thawed and look like an outage. Deliberately not here: how a
process is frozen (`servers.guardian`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol


class Freezable(Protocol):
    """Something that can be stopped where it is."""

    def freeze(self) -> None:
        """Stops it."""

    def thaw(self) -> None:
        """Lets it go on."""


class Freezer:
    """Freezes and thaws the servers of one system."""

    def __init__(self, servers: Sequence[Freezable]) -> None:
        self._servers = servers
        self._asked = threading.Lock()
        self._is_frozen = False

    def freeze(self) -> None:
        """Stops the servers; waits for who is asking them something.

        Raises:
            HostError: One has ended, or could not be stopped.
        """
        with self._asked:
            self._is_frozen = True
            for server in self._servers:
                server.freeze()

    def thaw(self) -> None:
        """Lets the servers go on, whether or not they were frozen. Raises as `freeze`."""
        with self._asked:
            for server in self._servers:
                server.thaw()
            self._is_frozen = False

    @contextmanager
    def asking(self) -> Iterator[bool]:
        """For the time of a question: whether the servers run. Until it is over they are not frozen."""
        with self._asked:
            yield not self._is_frozen
