"""An agent that a signal ends removes its directory on the host, which a second signal does not prevent."""

from __future__ import annotations

import subprocess
import sys
from signal import Signals

import pytest

from plimsoll.interruption import SIGNALS

AGENT = """
import os, sys
from plimsoll.hosts import agent
agent.main()
os.kill(os.getpid(), int(sys.argv[1]))
print("removes its directory", file=sys.stderr)
"""


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_a_signal_ends_an_agent_in_order(number: Signals) -> None:
    words = [sys.executable, "-c", AGENT, str(int(number))]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(b'{"id": 1, "do": "time"}\n')
        agent.stdin.flush()
        agent.stdout.readline()
        agent.send_signal(number)
        _, said = agent.communicate(timeout=300)
    assert said.endswith(b"removes its directory\n")
    assert agent.returncode == 0
