"""Whatever happens to a compressed file, its content is whole or the damage is said: never a traceback, never less."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.run.logs import DamagedContentError, compression_of, decompressed

WORDS = random.Random(7)
LOG = b"".join(b"# Time: %d\nselect %d;\n" % (one, WORDS.randrange(10**9)) for one in range(800))
HALVES = (LOG[: len(LOG) // 2], LOG[len(LOG) // 2 :])


def zstd(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-qc"], input=content, capture_output=True, check=True).stdout


FORMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": (".gz", gzip.compress),
    "bzip2": (".bz2", bz2.compress),
    "xz": (".xz", lzma.compress),
    "zstd": (".zst", zstd),
}
FEWER = {"zstd": 6}
"""Each of these costs a process, so fewer places are tried."""


def read(path: Path) -> tuple[bytes, str | None]:
    """What came out, and why no more did."""
    form = compression_of(path)
    if form is None:
        return path.read_bytes(), None
    found = bytearray()
    try:
        for chunk in decompressed(path, form):
            found += chunk
    except DamagedContentError as error:
        return bytes(found), str(error)
    return bytes(found), None


def places(form: str, size: int) -> list[int]:
    """All of the first and last bytes, where headers, checksums and indices are, and many between them."""
    spread = range(24, size - 24, max(1, size // 30))
    return [*range(24), *spread, *range(size - 24, size)][:: FEWER.get(form, 1)]


def damaged(form: str, packed: bytes) -> Iterator[tuple[str, bytes]]:
    for at in places(form, len(packed)):
        for bit in (0, 6):
            flipped = bytearray(packed)
            flipped[at] ^= 1 << bit
            yield f"bit {bit} of byte {at}", bytes(flipped)
        yield f"cut at {at}", packed[:at]
        yield f"zeros from {at}", packed[:at] + bytes(min(512, len(packed) - at)) + packed[at + 512 :]


@pytest.mark.parametrize("form", FORMS)
def test_damage_anywhere_is_said_or_harmless(tmp_path: Path, form: str) -> None:
    suffix, compress = FORMS[form]
    path = tmp_path / f"slow.log{suffix}"
    streams = [compress(half) for half in HALVES]
    noticed = 0
    for kind, content in damaged(form, b"".join(streams)):
        path.write_bytes(content)
        found, fault = read(path)
        if kind == f"cut at {len(streams[0])}":
            assert found == HALVES[0], "a cut between two streams is a whole file"
            continue
        assert fault or found == LOG, f"{kind}: {len(found)} of {len(LOG)} bytes, and no word of it"
        noticed += fault is not None
    assert noticed > 40


@pytest.mark.parametrize("form", FORMS)
def test_what_came_before_the_damage_counts(tmp_path: Path, form: str) -> None:
    suffix, compress = FORMS[form]
    noise = random.Random(1).randbytes(2_000_000)
    path = tmp_path / f"slow.log{suffix}"
    path.write_bytes(compress(noise)[:-200_000])
    found, fault = read(path)
    assert noise.startswith(found)
    assert len(found) > 800_000
    assert fault


@pytest.mark.parametrize("form", FORMS)
def test_streams_and_padding_after_each_other_are_one_content(tmp_path: Path, form: str) -> None:
    suffix, compress = FORMS[form]
    path = tmp_path / f"slow.log{suffix}"
    between = bytes(8) if form in ("gzip", "xz") else b""
    path.write_bytes(between.join(map(compress, HALVES)) + between)
    assert read(path) == (LOG, None)


def test_the_content_tells_how_it_is_compressed_and_else_the_name(tmp_path: Path) -> None:
    for name, content, form in (
        ("slow.log", gzip.compress(LOG), "gzip"),
        ("slow.log.gz", bz2.compress(LOG), "bzip2"),
        ("slow.log.XZ", LOG, "xz"),
        ("slow.log.zst", b"", "zstd"),
        ("slow.log", LOG, None),
    ):
        (tmp_path / name).write_bytes(content)
        assert compression_of(tmp_path / name) == form


def test_many_zeros_cost_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "slow.log.xz"
    path.write_bytes(lzma.compress(bytes(20_000_000)))
    assert max(map(len, decompressed(path, "xz"))) <= 1 << 20
