"""Somebody answers a control connection in the server's place and asks for the password under a key of their own."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import SecretStr

from plimsoll.errors import SpecError, TargetError
from plimsoll.servers.control import connect
from plimsoll.spec.target import Target, Tls
from unit.servers.test_control import GREETING, packet

PASSWORD = "top-secret"
NONCE = b"a" * 8 + b"b" * 12
OAEP = padding.OAEP(mgf=padding.MGF1(algorithm=SHA1()), algorithm=SHA1(), label=None)


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def greeting(plugin: bytes) -> bytes:
    plain = bytearray(GREETING.replace(b"mysql_native_password", plugin))
    plain[1 + len(b"9.9.9\0") + 4 + 9 + 1] &= ~0x08  # the bit that offers TLS
    return packet(bytes(plain))


def learned(cipher: bytes, key: rsa.RSAPrivateKey) -> str | None:
    try:
        masked = key.decrypt(cipher, OAEP)
    except ValueError:
        return None
    return bytes(byte ^ NONCE[place % len(NONCE)] for place, byte in enumerate(masked)).rstrip(b"\0").decode()


def meet(tls: Tls, play: Callable[[socket.socket], str | None]) -> tuple[str, str | None]:
    """What the client said in the end, and the password if it was learned."""
    stolen: list[str | None] = []

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            stolen.append(play(peer))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        target = Target(
            user="me",
            database="d",
            host="127.0.0.1",
            port=listener.getsockname()[1],
            password=SecretStr(PASSWORD),
            tls=tls,
        )
        with pytest.raises(TargetError) as caught:
            connect(target, connect_limit_s=120, read_limit_s=120)  # a busy machine takes long to make a key
        thread.join(120)
    return str(caught.value), stolen[0]


def caching_sha2(peer: socket.socket) -> str | None:
    key = new_key()
    peer.sendall(greeting(b"caching_sha2_password"))
    peer.recv(65536)
    peer.sendall(packet(b"\x01\x04", 2))
    answer = peer.recv(65536)[4:]
    if answer == b"\x02":
        peer.sendall(packet(b"\x01" + pem(key), 4))
        answer = peer.recv(65536)[4:]
    return learned(answer, key) if answer else None


def sha256(peer: socket.socket) -> str | None:
    key = new_key()
    peer.sendall(greeting(b"sha256_password"))
    peer.recv(65536)
    peer.sendall(packet(b"\x01" + pem(key), 2))
    answer = peer.recv(65536)[4:]
    return learned(answer, key) if answer else None


def test_nobody_gets_the_password_under_a_key_of_their_own() -> None:
    error, stolen = meet(Tls(), caching_sha2)
    assert stolen is None
    for part in (
        "asks for the password itself",
        "tls=required",
        "server_public_key_path=FILE",
        "get_server_public_key",
    ):
        assert part in error


def test_under_the_key_of_the_server_the_password_is_of_no_use_to_others(tmp_path: Path) -> None:
    path = tmp_path / "public_key.pem"
    path.write_bytes(pem(new_key()))
    _, stolen = meet(Tls(server_public_key_path=path), caching_sha2)
    assert stolen is None


def test_who_takes_any_key_that_comes_tells_the_password() -> None:
    _, stolen = meet(Tls(get_server_public_key=True), caching_sha2)
    assert stolen == PASSWORD, "this test would not notice a thief"


def test_a_method_that_the_load_engine_does_not_know_is_told_nothing() -> None:
    for tls in (Tls(), Tls(get_server_public_key=True)):
        _, stolen = meet(tls, sha256)
        assert stolen is None


def test_a_pipe_in_the_place_of_the_key_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    os.mkfifo(path)
    target = Target(user="me", database="d", host="127.0.0.1", port=1, tls=Tls(server_public_key_path=path))
    with pytest.raises(SpecError, match=r"key\.pem cannot be read: is a pipe and not a file"):
        connect(target)


def test_a_file_without_a_key_is_named(tmp_path: Path) -> None:
    missing, nonsense = tmp_path / "missing.pem", tmp_path / "nonsense.pem"
    nonsense.write_text("no key")
    for path, fault in ((missing, "cannot be read: No such file"), (nonsense, "holds no public key in PEM format")):
        target = Target(user="me", database="d", host="127.0.0.1", port=1, tls=Tls(server_public_key_path=path))
        with pytest.raises(SpecError, match=f"server_public_key_path: {path} {fault}"):
            connect(target)
