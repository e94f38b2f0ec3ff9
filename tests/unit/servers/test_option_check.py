"""Servers are asked about options before they are started with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.servers import FLAVOURS, server_command

from plimsoll.servers.command import option_faults


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_each_option_that_a_server_does_not_take_is_told(flavour: str) -> None:
    command = server_command(flavour)
    taken = {"innodb_flush_log_at_trx_commit": 2, "skip_name_resolve": True, "sort_buffer_size": "1M"}
    assert option_faults(command, taken) == ()
    first, second = option_faults(command, {**taken, "innodb_no_such": 1, "max_connections": "abc"})
    assert "innodb_no_such" in first
    assert "'abc'" in second


def test_servers_that_cannot_be_asked_are_asked_nothing(tmp_path: Path) -> None:
    old = tmp_path / "mysqld"
    old.write_text("#!/bin/sh\ncase $* in *--version*) echo 'mysqld  Ver 5.7.44 for Linux';; *) exit 1;; esac\n")
    old.chmod(0o755)
    assert option_faults(str(old), {"innodb_no_such": 1}) == ()
