"""The steps of examples/ci on this machine: a duet of two configurations of a real server, and its gate."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from plimsoll.record.store import read_study
from support.command import COMMAND
from support.repository import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.endure]


def test_the_job_measures_and_gates(tmp_path: Path) -> None:
    """Whatever the machine makes of it: the exit code is that of a gate, and the files say the same."""
    text = (ROOT / "examples" / "ci" / "gate.toml").read_text()
    for old, new in (("10s", "3s"), ("5s", "1s"), ("250ms", "100ms"), ('"auto"', "2"), ("10_000", "1_000")):
        assert old in text
        text = text.replace(old, new)
    file, folder = tmp_path / "gate.toml", tmp_path / "gate"
    file.write_text(re.sub(r"^budget.*\n", "", text, flags=re.MULTILINE))
    env = {
        **os.environ,
        "PATH": f"{COMMAND.parent}:{os.environ['PATH']}",
        "COMMIT": "3f2a91c",
        "LIMIT": "50%",
        "PLIMSOLL_DATA_DIR": f"/var/tmp/plimsoll-test-ci-{os.getpid()}",
    }
    words = [str(ROOT / "examples" / "ci" / "gate.sh"), str(file), str(folder)]
    ran = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    assert ran.returncode in (0, 1, 7), ran.stderr
    suites = ElementTree.parse(folder / "junit.xml").getroot()
    counts = {name: int(suites.attrib[name]) for name in ("tests", "failures", "errors")}
    assert counts["tests"] >= 1
    assert (counts["failures"] > 0) is (ran.returncode == 1)
    assert (counts["errors"] > 0) is (ran.returncode == 7)
    assert {recording.trial.labels["commit"] for recording in read_study(folder).recordings} == {"3f2a91c"}
    assert (folder / "guide.html").is_file()
    assert (folder / "bencher.json").is_file()
