"""What network interfaces carried, and how much of their links that is: from made-up folders."""

from __future__ import annotations

from pathlib import Path

from plimsoll.telemetry.host import NetworkSampler


def write(root: Path, **received_and_sent: tuple[int, int]) -> None:
    (root / "net").mkdir(exist_ok=True)
    lines = [f"  {name}: {one} 1 0 0 0 0 0 0 {two} 1 0 0 0 0 0 0" for name, (one, two) in received_and_sent.items()]
    (root / "net/dev").write_text("\n".join(["Inter-|   Receive", " face |bytes", *lines, ""]))


def interface(root: Path, name: str, speed: str | None, *, is_card: bool = True) -> None:
    (root / name / ("device" if is_card else "queues")).mkdir(parents=True)
    if speed is not None:
        (root / name / "speed").write_text(speed)


def test_a_link_is_as_used_as_its_busier_direction(tmp_path: Path) -> None:
    interfaces = tmp_path / "class"
    interface(interfaces, "eth0", "1000\n")
    interface(interfaces, "virtio0", "-1\n")
    interface(interfaces, "down0", None)
    interface(interfaces, "veth0", "10000\n", is_card=False)
    still = {"virtio0": (9, 9), "down0": (9, 9), "veth0": (9, 9), "lo": (9, 9)}
    write(tmp_path, eth0=(1000, 1000), **still)
    sampler = NetworkSampler(tmp_path, interfaces)
    assert sampler.sample(1.0) == []
    write(tmp_path, eth0=(1000 + 20_000_000, 1000 + 50_000_000), **still)
    seen = {one.metric: one.value for one in sampler.sample(3.0)}
    assert seen["network_eth0_sent_bytes_per_s"] == 25_000_000
    assert {name: value for name, value in seen.items() if name.endswith("_ratio")} == {"network_eth0_used_ratio": 0.2}
    assert seen["network_veth0_sent_bytes_per_s"] == 0


def test_a_link_is_never_used_by_more_than_all(tmp_path: Path) -> None:
    interface(tmp_path / "class", "eth0", "10\n")
    write(tmp_path, eth0=(1, 1))
    sampler = NetworkSampler(tmp_path, tmp_path / "class")
    sampler.sample(1.0)
    write(tmp_path, eth0=(1, 10_000_000))
    assert {one.metric: one.value for one in sampler.sample(2.0)}["network_eth0_used_ratio"] == 1.0
