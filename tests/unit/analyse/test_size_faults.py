"""A sizing question with faults in it: it is refused, and each fault is told."""

from __future__ import annotations

import pytest

from plimsoll.analyse.answers.size import size
from plimsoll.analyse.model import Analysis
from plimsoll.errors import SpecError


def test_all_faults_of_a_question_are_told_at_once() -> None:
    study = Analysis(plimsoll_version="0", study="made", answer=(), limits=(), systems=(), workloads=(), curves=())
    with pytest.raises(SpecError) as caught:
        size(study, tps=-1, connections=0, headroom=2)
    assert len(caught.value.faults) == 3
