"""Which Ray clusters may be connected to."""

from __future__ import annotations

import pytest

from plimsoll.drive.ray_cluster import cluster
from plimsoll.drive.ray_cluster.cluster import CLIENT_METHOD, RayCluster, is_own, refuse_unguarded
from plimsoll.errors import HostError


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "127.8.8.8", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.1.1", "::1", "fd00::1",
                "fe80::1%eth0", "::ffff:10.0.0.1"],
)  # fmt: skip
def test_loopback_and_private(address: str) -> None:
    assert is_own(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "172.32.0.1", "100.64.0.1", "192.0.2.1", "198.18.0.1", "240.0.0.1", "0.0.0.0",
                "2001:4860::1", "2001::1", "2001:db8::1", "64:ff9b::a00:1", "::ffff:8.8.8.8", "::"],
)  # fmt: skip
def test_neither(address: str) -> None:
    """Also what `ipaddress` calls private without it being so, and what holds an address of IPv4."""
    assert not is_own(address)


def no_call(_place: str, _method: str) -> bool:
    raise AssertionError("nobody is to be asked")


def test_a_private_address_needs_no_token_and_is_connected_to_as_judged() -> None:
    assert refuse_unguarded("ray://localhost:7", CLIENT_METHOD, asks_token=no_call) in (
        "ray://127.0.0.1:7",
        "ray://[::1]:7",
    )
    assert refuse_unguarded("ray://10.0.0.5", CLIENT_METHOD, asks_token=no_call) == "ray://10.0.0.5:10001"
    assert refuse_unguarded("10.0.0.5:6379", CLIENT_METHOD, ["10.0.0.6"], no_call) == "10.0.0.5:6379"


@pytest.mark.parametrize(("address", "nodes"), [("ray://203.0.113.5:10001", ()), ("10.0.0.5:6379", ("203.0.113.5",))])
def test_a_public_address_needs_a_token(address: str, nodes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HostError, match=r"203\.0\.113\.5.* is neither .*, and Ray's token authentication is off;"):
        refuse_unguarded(address, CLIENT_METHOD, nodes, no_call)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with pytest.raises(HostError, match="asks for no token, so everybody who reaches it can run programs on it"):
        refuse_unguarded(address, CLIENT_METHOD, nodes, lambda *_: False)
    assert refuse_unguarded(address, CLIENT_METHOD, nodes, lambda *_: True) == address


def test_a_name_that_leads_nowhere() -> None:
    with pytest.raises(HostError, match=r"the host 'no\.such\.host\.invalid' cannot be resolved"):
        refuse_unguarded("ray://no.such.host.invalid", CLIENT_METHOD)


def test_a_public_address_is_refused_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "version", lambda _: "2.60.0")
    monkeypatch.setattr(cluster, "find_spec", lambda _: object())
    monkeypatch.setattr("subprocess.Popen", None)
    with pytest.raises(HostError, match="neither loopback nor private"):
        RayCluster("ray://203.0.113.5:10001", 2).open()
    monkeypatch.setenv("RAY_ADDRESS", "ray://203.0.113.6")
    with pytest.raises(HostError, match=r"203\.0\.113\.6"):
        RayCluster("auto", 2).open()


def test_what_is_not_installed_is_named_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> str:
        raise cluster.PackageNotFoundError

    monkeypatch.setattr(cluster, "version", missing)
    with pytest.raises(HostError, match=r"^Ray is not installed here: pip install 'plimsoll\[ray\]'$"):
        RayCluster("auto", 2).open()
    monkeypatch.setattr(cluster, "version", lambda _: "2.51.2")
    with pytest.raises(HostError, match=r"^Ray 2\.51\.2 is too old, 2\.52 is needed: pip install"):
        RayCluster("auto", 2).open()
    monkeypatch.setattr(cluster, "version", lambda _: "3.0.0.dev0")
    monkeypatch.setattr(cluster, "find_spec", lambda _: None)
    with pytest.raises(HostError, match=r"^Ray's client is not installed here: pip install"):
        RayCluster("auto", 2).open()
