"""examples/vm-vs-metal.toml with a real guest: the small version runs whole, and unequal machines are refused.

`PLIMSOLL_TEST_GUEST=kvm` measures a guest as users do. `PLIMSOLL_TEST_GUEST=tcg` emulates its processor, which shows
where KVM runs no guest that the scripts and the study work; figures mean nothing then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import read_study
from support.command import assert_one_clear_message, plimsoll
from support.examples import run_example
from support.guest import KEPT, SCRIPTS, Guest, guest
from support.repository import ROOT

ACCELERATOR = os.environ.get("PLIMSOLL_TEST_GUEST", "")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(not ACCELERATOR, reason="makes and starts a virtual machine: make endure runs it"),
]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    with guest(tmp_path_factory.mktemp("guest"), ACCELERATOR) as one:
        yield one


def small_example(folder: Path) -> Path:
    """The small example with the guest of tests; an emulated guest gets time to complete transactions."""
    text = (ROOT / "examples/small/vm-vs-metal.toml").read_text()
    text = text.replace("/var/tmp/plimsoll-guest", str(KEPT)).replace("../vm/guest", str(SCRIPTS / "guest"))
    if ACCELERATOR == "tcg":
        text = text.replace('warm_up = "1s"', 'warm_up = "5s"').replace('duration = "2s"', 'duration = "10s"')
    (folder / "small.toml").write_text(text)
    return folder / "small.toml"


def test_the_same_server_on_the_machine_and_in_a_guest(tmp_path: Path, stopped: Guest) -> None:
    attempts = 3 if ACCELERATOR == "tcg" else 1  # an emulated guest freezes for seconds on a busy machine
    ran = run_example(small_example(tmp_path), tmp_path / "out", limit_s=2400, attempts=attempts)
    assert stopped.do("running").returncode in (0, 1)
    of = {recording.trial.system.name: recording.environment for recording in ran.recordings}
    assert of["guest"].host.name == "guest"
    assert of["guest"].host.cpu_threads == 1
    assert of["guest"].client.on_server_host is False
    assert of["guest"].instances[0].version.split("-")[:1] == of["metal"].instances[0].version.split("-")[:1]
    (machines,) = [one for one in ran.analysis["equivalence"] if one["aspect"] == "machines"]
    assert (machines["compared_count"], machines["differences"], machines["unknown"]) == (2, [], [])
    (at_level,) = [one for one in ran.analysis["differences"] if one["level"] is not None]
    assert at_level["blocks"]["counts"] == [2, 2]
    assert (at_level["ratio"]["bounds"] is None) == (at_level["verdict"] == "disturbed"), "what the machine was like"
    assert set(ran.verdicts.values()) <= {"shows", "does-not-show", "not-resolved"}


def test_a_guest_with_one_cpu_fewer_and_less_memory_is_refused_before_anything_is_measured(
    tmp_path: Path, stopped: Guest
) -> None:
    file = small_example(tmp_path)
    file.write_text(file.read_text().replace('cpus = "1", memory_limit = "1G"', 'cpus = "0-1", memory_limit = "2G"'))
    ran = plimsoll("study", "run", file, "--to", tmp_path / "out", timeout_s=1500)
    refused = "the machines of the environments are not equal: CPUs is 2 (metal), 1 (guest); memory is 2.00 GiB (metal)"
    assert_one_clear_message(ran, 3, refused)
    assert not [
        recording
        for recording in read_study(tmp_path / "out").recordings
        if recording.outcome.verdict is Verdict.COMPLETE
    ]
