"""The process that draws charts: in order, with faults where they belong, gone with the process that asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import vl_convert

from plimsoll.guide.drawer import _Drawer, _drawer, drawn, start_drawing
from support.processes import exists
from support.waiting import until

VERSION = "6.1"
POINT = {"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a", "type": "quantitative"}}}


def test_drawings_are_those_of_the_library_in_the_order_of_the_charts() -> None:
    specs = [{**POINT, "width": width} for width in (50, 60, 70, 80)]
    drawings = [drawn(spec, VERSION) for spec in specs]
    expected = [vl_convert.vegalite_to_svg(spec, vl_version=VERSION) for spec in specs]
    assert [drawing.result() for drawing in drawings] == expected


def test_a_chart_that_cannot_be_drawn_leaves_the_others() -> None:
    wrong, right = drawn({"mark": 7}, VERSION), drawn(POINT, VERSION)
    with pytest.raises(RuntimeError, match="conversion failed"):
        wrong.result()
    assert right.result().startswith("<svg")


def test_nobody_waits_for_a_process_that_has_ended() -> None:
    start_drawing()
    drawer = _drawer(os.getpid())
    assert drawn(POINT, VERSION).result().startswith("<svg")
    drawer._process.kill()
    drawer._reader.join()
    drawer._process.wait()
    with pytest.raises(RuntimeError, match="has ended"):
        drawn(POINT, VERSION).result()
    _drawer.cache_clear()
    assert drawn(POINT, VERSION).result().startswith("<svg")


def test_nobody_waits_for_an_answer_that_was_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen
    breaks_off = ["sh", "-c", 'read line; printf \'{"svg": "<s\'']
    monkeypatch.setattr(subprocess, "Popen", lambda _command, **pipes: real(breaks_off, **pipes))
    drawer = _Drawer()
    with pytest.raises(RuntimeError, match="has ended"):
        drawer.draw({"spec": POINT, "vega_lite": VERSION}).result(timeout=300)


def test_it_is_gone_with_whoever_was_killed() -> None:
    code = (
        "import os, signal; from plimsoll.guide import drawer; drawer.start_drawing();"
        " print(drawer._drawer(os.getpid())._process.pid, flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        drawing = int(asking.stdout.readline())
        assert exists(drawing)
        asking.send_signal(signal.SIGKILL)
    assert until(lambda: not exists(drawing))
