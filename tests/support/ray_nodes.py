"""A Ray cluster of several nodes on the loopback address, for tests and benchmarks. Run as a program.

`ray_nodes.py COUNT` prints where the cluster is, and which processes each node has, as one line of JSON; it ends the
cluster with its standard input. Deliberately not `ray start`: it always listens on an address of the network.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

from ray.cluster_utils import Cluster

NODE: dict[str, Any] = {
    "num_cpus": 1,
    "num_gpus": 0,
    "object_store_memory": 80 * 2**20,
    "include_dashboard": False,
    "include_log_monitor": False,
    "node_ip_address": "127.0.0.1",
}


def main() -> None:
    """Runs it until the end of standard input."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client_port = listening.getsockname()[1]
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "ray_client_server_port": client_port})
    try:
        others = [cluster.add_node(wait=False, **NODE) for _ in range(int(sys.argv[1]) - 1)]
        cluster.wait_for_nodes()
        pids = [
            [info.process.pid for infos in node.all_processes.values() for info in infos]
            for node in (cluster.head_node, *others)
        ]
        print(json.dumps({"address": cluster.address, "client_port": client_port, "pids": pids}), flush=True)
        sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
