"""The process that draws for forked commands: as their own would, whoever else broke off, and gone with its parent."""

from __future__ import annotations

import json
import subprocess
import sys

import vl_convert

VERSION = "6.1"
POINT = {"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a", "type": "quantitative"}}}
ASKS = """
import json, socket, sys
sys.path[:0] = json.loads(sys.argv[1])
from plimsoll.guide import drawer
from support.shared_drawer import start_shared_drawer, use_shared_drawer
listener = start_shared_drawer()
use_shared_drawer(listener)
for sent in (b"", b'{"spec": '):
    with socket.socket(socket.AF_UNIX) as breaks_off:
        breaks_off.connect(listener.getsockname())
        breaks_off.sendall(sent)
said = []
for spec in json.loads(sys.argv[2]):
    try:
        said.append(drawer.drawn(spec, "6.1").result())
    except RuntimeError as error:
        said.append(str(error))
print(json.dumps(said))
"""


def test_charts_are_drawn_as_by_a_process_of_their_own() -> None:
    """Its output ends when both processes have ended."""
    specs = [POINT, {"mark": 7}, {**POINT, "width": 50}]
    words = [sys.executable, "-c", ASKS, json.dumps(sys.path), json.dumps(specs)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    first, fault, last = json.loads(ran.stdout)
    assert [first, last] == [vl_convert.vegalite_to_svg(specs[at], vl_version=VERSION) for at in (0, 2)]
    assert "conversion failed" in fault
