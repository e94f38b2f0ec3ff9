"""What devices are made of, from made-up trees of /sys."""

from __future__ import annotations

from pathlib import Path

from plimsoll.servers.storage import device_layers


def block(sys: Path, name: str, *, below: tuple[str, ...] = (), **files: str) -> None:
    folder = sys / "class/block" / name
    (folder / "slaves").mkdir(parents=True)
    for one in below:
        (folder / "slaves" / one).mkdir()
    for path, text in files.items():
        file = folder / path.replace("__", "/")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text + "\n")


def test_a_plain_disk_is_made_of_nothing(tmp_path: Path) -> None:
    block(tmp_path, "sda")
    assert device_layers("sda", tmp_path) == device_layers(None, tmp_path) == device_layers("sdx", tmp_path) == ()


def test_a_volume_on_an_encrypted_array_with_a_missing_disk(tmp_path: Path) -> None:
    block(tmp_path, "dm-1", below=("dm-0",), dm__uuid="LVM-aBc", dm__name="vg-data")
    block(tmp_path, "dm-0", below=("md0",), dm__uuid="CRYPT-LUKS2-1", dm__name="secret")
    block(tmp_path, "md0", below=("nvme0n1", "nvme1n1"), md__level="raid1", md__degraded="1")
    assert device_layers("dm-1", tmp_path) == (
        "dm-1: lvm vg-data on dm-0",
        "dm-0: encrypted secret on md0",
        "md0: raid1 of nvme0n1, nvme1n1, 1 missing",
    )


def test_a_partition_of_an_array(tmp_path: Path) -> None:
    block(tmp_path, "md0", below=("sda", "sdb"), md__level="raid0", md__degraded="0")
    part = tmp_path / "class/block/md0/md0p1"
    part.mkdir()
    (part / "partition").write_text("1\n")
    (tmp_path / "class/block/md0p1").symlink_to(part)
    assert device_layers("md0p1", tmp_path) == ("md0: raid0 of sda, sdb",)


def test_devices_that_lead_back_to_themselves_end(tmp_path: Path) -> None:
    block(tmp_path, "dm-0", below=("dm-1",), dm__uuid="odd")
    block(tmp_path, "dm-1", below=("dm-0",))
    assert device_layers("dm-0", tmp_path) == ("dm-0: device mapper on dm-1", "dm-1: made of dm-0")
