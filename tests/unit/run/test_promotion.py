"""Who is promoted: the replica that has received most, or the one that a hook names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from plimsoll.errors import HookError
from plimsoll.run.failover import Links, chosen
from plimsoll.servers.replication.model import ReplicaStatus
from plimsoll.spec.hooks import HookSpec

FIRST = ReplicaStatus(
    source_host="127.0.0.1", source_port=3306, source_id="1", receiver="Connecting", applier="Yes", uses_gtids=True,
    received=(7,),
)  # fmt: skip
STATUSES = {
    "failover/1": FIRST,
    "failover/2": replace(FIRST, received=(9,)),
    "failover/3": replace(FIRST, received=(9,)),
}


def links() -> Links:
    target = SimpleNamespace(host="127.0.0.1", port=3307, password="hush")
    fake = SimpleNamespace(statuses=lambda: STATUSES, server=lambda _: SimpleNamespace(target=target))
    return cast(Links, fake)


def hook(command: str) -> HookSpec:
    return HookSpec.model_validate({"command": ["sh", "-c", command], "limit": "30s"})


def test_the_first_of_the_most_advanced_is_chosen() -> None:
    assert chosen(links(), None, "failover/0") == ("failover/2", ())


def test_a_hook_may_choose_another_one_and_what_is_ahead_is_known() -> None:
    assert chosen(links(), hook("echo thinking; echo failover/1"), "failover/0") == (
        "failover/1",
        ("failover/2", "failover/3"),
    )


def test_a_hook_is_told_of_the_replicas_and_of_no_password(tmp_path: Path) -> None:
    told = tmp_path / "told"
    line = (
        f'printf "%s\\n" "$PLIMSOLL_SOURCE" "$PLIMSOLL_REPLICAS" "$PLIMSOLL_REPLICA_STATUS" > {told}; echo failover/3'
    )
    assert chosen(links(), hook(line), "failover/0")[0] == "failover/3"
    source, replicas, status = told.read_text().splitlines()
    assert (source, replicas) == ("failover/0", "failover/1 failover/2 failover/3")
    assert json.loads(status)["failover/2"]["received"] == [9]
    assert json.loads(status)["failover/2"]["port"] == 3307
    assert "hush" not in status


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo no idea >&2; exit 3", r"failed with exit code 3 .*no idea\. No replica was promoted"),
        ("true", "wrote nothing; its last line must be one of failover/1, failover/2, failover/3"),
        ("echo failover/0", "must be one of failover/1, failover/2, failover/3, is 'failover/0'"),
    ],
)
def test_a_hook_that_chooses_nothing_promotes_nothing(command: str, said: str) -> None:
    with pytest.raises(HookError, match=said):
        chosen(links(), hook(command), "failover/0")
