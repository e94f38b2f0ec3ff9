"""The process that is connected to a Ray cluster: it reserves nodes and passes lines between pipes and engines there.

Ray ends a process whose cluster goes away, catches its signals and writes to its standard error. None of that may
happen to Plimsoll, so Ray has a process of its own, as `ssh` is one. It is told over a socket, its standard input,
which engine to start between which pipes, and ends with that socket: engines, reservation and connection then go too.

Started as `python -m plimsoll.drive.ray_cluster.hub` by `cluster`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util import placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from plimsoll import __version__
from plimsoll.drive.executable import NODE_LOST
from plimsoll.drive.ray_cluster.actor import CHUNK_BYTES, THREADS, EngineActor
from plimsoll.drive.ray_cluster.cluster import GCS_METHOD, PACKET_BYTES, refuse_unguarded
from plimsoll.errors import HostError

_PASSING = ("Starting Ray client server failed", "psutil.ZombieProcess")
_NO_RESTARTS = {"max_restarts": 0, "max_task_retries": 0}
_BUNDLE = {"CPU": 1.0}
"""Of each driver: Ray's accounting only, the engine may use all of the machine."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The reserved nodes.

    Attributes:
        bundles: For each driver, its bundle of the placement group, in the order of addresses.
        addresses: For each driver, where it runs.
    """

    group: Any
    bundles: tuple[int, ...]
    addresses: tuple[str, ...]


@contextlib.contextmanager
def reserved(address: str, count: int, wait_s: float) -> Iterator[Nodes]:
    """Connects and reserves as many nodes as there are drivers; all of it is given back at the end.

    Raises:
        HostError: The cluster cannot be reached, may not be used, or has too few nodes.
    """
    _connect(address)
    group = None
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        _judge(address, nodes)
        group = placement_group([_BUNDLE] * count, strategy="STRICT_SPREAD")
        if not group.wait(wait_s):
            busy = ", too few of them with a free CPU" if len(nodes) >= count else ""
            raise HostError(
                f"Ray: {count} drivers need {count} nodes with a free CPU each, and the cluster has {len(nodes)}"
                f" node{'s' * (len(nodes) != 1)}{busy}; add nodes, end what runs there, or use fewer drivers"
            )
        yield _placed(group, nodes)
    finally:
        if group is not None:
            remove_placement_group(group)
        ray.shutdown()


def _connect(address: str) -> None:
    """Connects, a second time where the client server could not start its process for us.

    With Ray 2.60 on a busy machine it gave up on that after 30 s in 3 of about 25 connections, and once it looked at a
    process that had just ended. Nothing is reserved yet.
    """
    for is_last in (False, True):
        try:
            ray.init(address, namespace="plimsoll", log_to_driver=False, logging_level=logging.ERROR)
            return
        except Exception as error:
            ray.shutdown()
            if is_last or not any(fault in str(error) for fault in _PASSING):
                raise HostError(
                    f"Ray: the cluster at {address} cannot be reached: {_first_line(error)}; check that it is up, that"
                    " Python and Ray have the same versions there, and that the token is the same where it asks for one"
                ) from None


def _judge(address: str, nodes: Sequence[dict[str, Any]]) -> None:
    """Refuses nodes that everybody may reach: the plan with its passwords goes to them."""
    state = ray.get_runtime_context().gcs_address
    if "://" not in address:
        refuse_unguarded(state, GCS_METHOD, [node["NodeManagerAddress"] for node in nodes])
    # What lies behind a client server is reached through it: its own address was judged before.


def _placed(group: Any, nodes: Sequence[dict[str, Any]]) -> Nodes:
    """Drivers in the order of addresses, so that the same nodes get the same names."""
    at = placement_group_table(group)["bundles_to_node_id"]
    address = {node["NodeID"]: node["NodeManagerAddress"] for node in nodes}
    bundles = sorted(at, key=lambda index: (address.get(at[index], ""), at[index]))
    return Nodes(group, tuple(bundles), tuple(address.get(at[index], at[index]) for index in bundles))


class Hub:
    """Starts engines and passes on what they say, until the socket closes."""

    def __init__(self, control: socket.socket, nodes: Nodes) -> None:
        self._control, self._nodes = control, nodes
        self._actors: dict[int, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = asyncio.Event()

    async def serve(self) -> None:
        """Does what it is told, until there is nobody any more who tells it."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._control.fileno(), self._hear)
        await self._is_over.wait()
        loop.remove_reader(self._control.fileno())
        for actor in self._actors.values():
            ray.kill(actor)

    def _hear(self) -> None:
        data, descriptors, _, _ = socket.recv_fds(self._control, PACKET_BYTES, 4)
        if not data:
            self._is_over.set()
            return
        request = json.loads(data)
        if request["do"] == "start":
            task = asyncio.ensure_future(self._drive(request["index"], request["words"], descriptors))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif (actor := self._actors.get(request["index"])) is not None:
            actor.send_signal.remote(request["number"])

    async def _drive(self, index: int, words: Sequence[str], descriptors: Sequence[int]) -> None:
        """One engine from its start to its end. All four descriptors are of pipes or files of this engine alone."""
        input_fd, output_fd, code_fd, errors_fd = descriptors
        code, last_words = NODE_LOST, b""
        try:
            code, last_words = await self._passing_on(index, words, input_fd, output_fd)
        except HostError as error:
            last_words = str(error).encode()
        except Exception as error:  # over a client server also what is none of Ray's own
            last_words = _lost(self._nodes.addresses[index], error).encode()
        finally:
            if (actor := self._actors.pop(index, None)) is not None:
                ray.kill(actor)
            os.write(errors_fd, last_words)
            os.write(code_fd, str(code).encode())
            for descriptor in (errors_fd, code_fd, output_fd):  # the end of what it said is seen last
                os.close(descriptor)

    async def _passing_on(self, index: int, words: Sequence[str], input_fd: int, output_fd: int) -> tuple[int, bytes]:
        loop = asyncio.get_running_loop()
        engine_input = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(engine_input), os.fdopen(input_fd, "rb")
        )
        actor = self._actors[index] = self._actor(index)
        feeding: asyncio.Task[None] | None = None
        try:
            if (fault := await _asked(actor.start.remote(list(words), __version__))) is not None:
                raise HostError(f"Ray: the node {self._nodes.addresses[index]}: {fault}")
            feeding = asyncio.ensure_future(_feed(actor, engine_input))
            while output := await _asked(actor.read.remote()):
                await asyncio.to_thread(_write_all, output_fd, output)
            code, last_words = await _asked(actor.ended.remote())
            return int(code), bytes(last_words)
        finally:
            if feeding is not None:
                feeding.cancel()
            transport.close()

    def _actor(self, index: int) -> Any:
        where = PlacementGroupSchedulingStrategy(self._nodes.group, self._nodes.bundles[index])
        options = {"num_cpus": _BUNDLE["CPU"], "max_concurrency": THREADS, "scheduling_strategy": where}
        return ray.remote(EngineActor).options(**options, **_NO_RESTARTS).remote()


async def _asked(reference: Any) -> Any:
    return await reference


async def _feed(actor: Any, stream_reader: asyncio.StreamReader) -> None:
    """Passes on what the engine is told, in order: each call is answered before the next one."""
    with contextlib.suppress(RayError):  # whoever reads learns of it too
        while data := await stream_reader.read(CHUNK_BYTES):
            await actor.write.remote(data)
        await actor.end_input.remote()


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _lost(node: str, error: Exception) -> str:
    """What became of a node, or what it lacks."""
    if "No module named 'plimsoll" in str(error):
        return f"Ray: the node {node} has no plimsoll: pip install plimsoll=={__version__} in the Python that runs Ray"
    return f"Ray: the node {node} was lost: {_first_line(error)}"


def _first_line(error: BaseException) -> str:
    """What it says; of a heading that ends with a colon also what follows it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    text = f"{lines[0]} {lines[-1]}" if lines[0].endswith(":") and len(lines) > 1 else lines[0]
    return text[:300]


def main() -> None:
    """Reserves nodes, says which, and serves until the socket closes."""
    control = socket.socket(fileno=os.dup(0))
    wanted = json.loads(control.recv(PACKET_BYTES))
    try:
        with reserved(wanted["address"], wanted["count"], wanted["wait_s"]) as nodes:
            control.send(json.dumps({"addresses": nodes.addresses}).encode())
            asyncio.run(Hub(control, nodes).serve())
    except HostError as error:
        with contextlib.suppress(OSError):
            control.send(json.dumps({"refused": str(error)}).encode())
        sys.exit(1)


if __name__ == "__main__":
    main()
