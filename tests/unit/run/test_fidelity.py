"""How the server that runs a learned workload is told to log."""

from __future__ import annotations

import pytest

from plimsoll.run.fidelity import _kind
from plimsoll.servers.capture import CAPTURES


@pytest.mark.parametrize(
    ("flavour", "variables", "kind"),
    [
        ("mysql", {"log_slow_extra": "OFF"}, "mysql"),
        ("mysql", {"log_slow_extra": "OFF", "slow_query_log_use_global_control": ""}, "percona"),
        ("mariadb", {"log_slow_verbosity": ""}, "mariadb"),
    ],
)
def test_percona_server_logs_pages_because_it_is_told_in_its_own_words(
    flavour: str, variables: dict[str, str], kind: str
) -> None:
    assert _kind(flavour, variables) == kind
    assert kind in CAPTURES
