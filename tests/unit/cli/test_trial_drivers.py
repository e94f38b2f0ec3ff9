"""What `plimsoll trial` says of the drivers that shared its load."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analyse.answers.trial_result import trial_result
from plimsoll.analyse.trial.trial_summary import summarise
from plimsoll.cli.options import drivers_of
from plimsoll.cli.trial_result import result_text
from plimsoll.errors import SpecError
from plimsoll.record.model import ConnectionsRecord
from plimsoll.spec.drivers import ONE_HERE, DriverSpec
from unit.analyse.test_drivers import Driver, made

MADE = ConnectionsRecord(wanted_count=4, opened_count=4, connect_s=0.1, failures=(), encryptions=())


def test_each_driver_has_a_line() -> None:
    shared = made(Driver(tps=600), Driver(tps=400))
    outcome = shared.outcome.model_copy(update={"connections": MADE})
    summary = summarise(replace(shared, outcome=outcome))
    assert summary is not None
    result = trial_result(summary)
    assert [driver.name for driver in result.drivers] == ["load0", "load1"]
    lines = [line for line in result_text(result).splitlines() if line.startswith("driver ")]
    assert lines == [
        "driver            load0: 600 tps, 60.0 % (share 50.0 %), dispatch delay p99 0.01 ms",
        "driver            load1: 400 tps, 40.0 % (share 50.0 %), dispatch delay p99 0.01 ms",
    ]


def test_drivers_as_an_option() -> None:
    assert drivers_of(None, 1) == ONE_HERE
    assert drivers_of("local,load1", 2) == (DriverSpec(), DriverSpec(ssh="load1"))
    with pytest.raises(SpecError, match=r"--drivers: .*must be a host"):
        drivers_of("local,,load1", 9)
    assert len(drivers_of("local,local", 2, is_managed=True)) == 2
    with pytest.raises(SpecError, match=r"--drivers: a server that Plimsoll starts here .* load1 cannot reach it"):
        drivers_of("local,load1", 2, is_managed=True)
    with pytest.raises(SpecError, match="--connections: must be at least 2, one for each driver, is 1"):
        drivers_of("local,load1", 1)
