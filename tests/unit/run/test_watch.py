"""Stocks of several servers are judged together, second by second."""

from __future__ import annotations

from plimsoll.run.watch import Watch


def test_stocks_of_instances_add_up_second_by_second() -> None:
    watch = Watch()
    for value in (1.0, 2.0, 3.0):
        watch.stocks["s/0"]["innodb_history_list_length"].append(value)
    for value in (10.0, 20.0):  # its third sample is still to come
        watch.stocks["s/1"]["innodb_history_list_length"].append(value)
    watch.stocks["s/1"]["innodb_checkpoint_age"].append(7.0)
    assert watch.series() == {"innodb_history_list_length": (11.0, 22.0), "innodb_checkpoint_age": (7.0,)}


def test_nothing_seen_is_no_series() -> None:
    assert Watch().series() == {}
