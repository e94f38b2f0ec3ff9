"""Encryption of control connections: what is asked of the server, and what it learns when it refuses."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.errors import SpecError, TargetError
from plimsoll.servers.control import connect, connect_arguments
from plimsoll.spec.target import Target, Tls, TlsMode
from support.certificates import Authority
from unit.servers.test_control import GREETING, packet


def target(tls: Tls, port: int = 1) -> Target:
    return Target(user="me", database="d", host="127.0.0.1", port=port, password=SecretStr("top-secret"), tls=tls)


def test_a_unix_socket_is_encrypted_only_when_asked_for() -> None:
    def arguments(mode: TlsMode) -> dict[str, object]:
        return connect_arguments(Target(user="u", database="d", socket=Path("/s"), tls=Tls(mode=mode)))

    assert arguments("preferred") == arguments("disabled") == {"ssl_disabled": True}
    assert isinstance(arguments("required")["ssl"], ssl.SSLContext)


@pytest.mark.parametrize(
    ("mode", "verified", "named"),
    [("required", False, False), ("verify-ca", True, False), ("verify-identity", True, True)],
)
def test_each_mode_checks_what_it_says(tmp_path: Path, mode: TlsMode, verified: bool, named: bool) -> None:
    ca = Authority(tmp_path).ca if verified else None
    context = connect_arguments(target(Tls(mode=mode, ca=ca)))["ssl"]
    assert (context.verify_mode == ssl.CERT_REQUIRED, context.check_hostname) == (verified, named)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nothing")
    files = Authority(tmp_path).sign("client")
    missing = tmp_path / "missing.pem"
    for tls, fault in (
        (Tls(mode="verify-ca", ca=missing), f"ca: {missing} cannot be read: No such file"),
        (Tls(mode="verify-ca", ca=nonsense), f"ca: {nonsense} cannot be used: "),
        (Tls(mode="required", cert=missing, key=files.key), f"cert: {missing} cannot be read: "),
        (Tls(mode="required", cert=files.cert, key=missing), f"key: {missing} cannot be read: "),
        (Tls(mode="required", cert=files.cert, key=nonsense), f"cert: {files.cert} cannot be used: "),
    ):
        with pytest.raises(SpecError) as caught:
            connect(target(tls))
        assert str(caught.value).startswith(fault)


def test_a_server_that_hides_that_it_can_encrypt_learns_nothing() -> None:
    seen = []
    plain = bytearray(GREETING)
    plain[1 + len(b"9.9.9\0") + 4 + 9 + 1] &= ~0x08  # the bit that offers TLS

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.sendall(packet(bytes(plain)))
            while chunk := peer.recv(65536):
                seen.append(chunk)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with pytest.raises(TargetError, match=r"offers no encryption .* tls=required requires it"):
            connect(target(Tls(mode="required"), listener.getsockname()[1]), connect_limit_s=60, read_limit_s=60)
        thread.join(60)
    assert seen == []
