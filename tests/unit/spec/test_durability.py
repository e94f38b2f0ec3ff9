"""Which settings are tested."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.fault_tests import DurabilitySetting, settings_of


def test_all_combinations_are_tested_once() -> None:
    assert len(settings_of("0,1,2", "0,1", "on,off")) == 12
    assert settings_of("1, 1", "1", "OFF") == (DurabilitySetting(1, 1, doublewrite=False),)


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(SpecError) as error:
        settings_of("3", "2", "maybe")
    assert [fault.partition(":")[0] for fault in error.value.lines] == ["--flush", "--sync-binlog", "--doublewrite"]
