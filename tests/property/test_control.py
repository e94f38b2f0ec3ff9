"""Whatever a server answers, the control connection gives rows or an error of the target: nothing else comes out."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from plimsoll.errors import TargetError
from plimsoll.servers.control import connect
from plimsoll.spec.target import Target, Tls
from support.rogue import LOGIN_DONE, greeting, packet

END = b"\xfe\0\0\2\0"


def text(value: bytes) -> bytes:
    return bytes([len(value)]) + value


def column(name: bytes) -> bytes:
    return text(b"def") + text(b"") * 3 + text(name) * 2 + b"\x0c\x21\0\xff\0\0\0\xfd\0\0\0\0\0"


HONEST = (
    (greeting(b"mysql_native_password"),),
    (LOGIN_DONE,),
    (LOGIN_DONE,),
    (b"\x02", column(b"Variable_name"), column(b"Value"), END, text(b"version") + text(b"8"), END),
)
"""What a server sends at each turn: greeting, login, a setting, and the rows of a statement."""


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """An honest conversation with some bytes changed, cut off or put in."""
    turns = [list(turn) for turn in HONEST]
    for _ in range(draw(st.integers(0, 4))):
        turn = draw(st.sampled_from(turns))
        place = draw(st.integers(0, len(turn) - 1))
        begin = draw(st.integers(0, len(turn[place])))
        end = draw(st.integers(begin, min(begin + 4, len(turn[place]))))
        turn[place] = turn[place][:begin] + draw(st.binary(max_size=4)) + turn[place][end:]
    return numbered(turns)


def numbered(turns: Sequence[Sequence[bytes]]) -> list[bytes]:
    """Packets with their numbers: a greeting begins, the client's login comes before the second turn."""
    return [
        b"".join(packet(one, first + number) for number, one in enumerate(turn))
        for first, turn in zip((0, 2, 1, 1), turns, strict=True)
    ]


@contextlib.contextmanager
def saying(turns: list[bytes]) -> Iterator[int]:
    """Sends its turns to one client, and hangs up."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            peer, _ = listener.accept()
            with peer:
                peer.settimeout(60)
                for turn in turns:
                    peer.sendall(turn)
                    if not peer.recv(65536):
                        return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def asked(turns: list[bytes], read_limit_s: float = 1) -> dict[str, str]:
    with saying(turns) as port:
        target = Target(
            user="u", database="d", host="127.0.0.1", port=port, password=SecretStr("p"), tls=Tls(mode="disabled")
        )
        with connect(target, connect_limit_s=60, read_limit_s=read_limit_s) as control:
            return control.variables()


@settings(max_examples=100)
@given(conversations())
def test_nothing_but_rows_or_an_error_of_the_target(turns: list[bytes]) -> None:
    with contextlib.suppress(TargetError):
        asked(turns)


def test_the_honest_conversation_is_understood() -> None:
    assert asked(numbered(HONEST), read_limit_s=60) == {"version": "8"}
