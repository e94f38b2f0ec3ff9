"""A load that is ended by a signal: what follows on the command line is not interrupted."""

from __future__ import annotations

import signal
from typing import Any, cast

import pytest

from plimsoll.interruption import SIGNALS, interrupt_once
from plimsoll.run.single import ending


class Engine:
    def __init__(self) -> None:
        self.stops = 0

    def stop(self) -> None:
        self.stops += 1


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_the_first_stops_the_load_and_storing_it_is_not_interrupted(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    interrupt_once()
    engine = Engine()
    with ending(cast(Any, engine)) as asked:
        signal.raise_signal(number)
        assert asked.is_asked
        assert "stopping the load; waits until it has ended" in capfd.readouterr().err
    signal.raise_signal(number)
    assert engine.stops == 1


def test_the_second_ends_everything() -> None:
    interrupt_once()
    with ending(cast(Any, Engine())):
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)


def test_a_load_that_ends_by_itself_leaves_signals_as_they_were() -> None:
    interrupt_once()
    with ending(cast(Any, Engine())):
        pass
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGHUP)


def test_elsewhere_than_on_the_command_line_the_next_one_interrupts_again() -> None:
    with ending(cast(Any, Engine())):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
