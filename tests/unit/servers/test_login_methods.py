"""The control connection tells a rogue server no password, whatever it asks for, in plain and behind TLS."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from plimsoll.errors import TargetError
from plimsoll.servers.control import connect
from plimsoll.spec.target import Target
from support.certificates import Authority
from support.rogue import LOGIN_DONE, QUESTIONS, Rogue, switch_to

PASSWORD = "Pf9-unmistakable-Kw3"


def refusal(rogue: Rogue) -> str:
    target = Target(user="bench", database="d", host="127.0.0.1", port=rogue.port, password=SecretStr(PASSWORD))
    with pytest.raises(TargetError) as caught, connect(target, connect_limit_s=5, read_limit_s=5) as control:
        control.rows("SELECT 1")
    assert PASSWORD not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_for_the_password_is_left_unanswered(question: str, encrypted: bool, tmp_path: Path) -> None:
    certificate = Authority(tmp_path).sign("rogue", "localhost") if encrypted else None
    with Rogue(QUESTIONS[question], certificate=certificate).listening() as rogue:
        said = refusal(rogue)
    assert rogue.asked == 1
    assert len(rogue.heard) == (2 if encrypted else 1), "the login and nothing after it"
    assert PASSWORD.encode() not in b"".join(rogue.heard)
    assert " " in question or f"authenticate bench by {question}, which is not supported" in said


@pytest.mark.parametrize("method", ["sha256_password", "mysql_clear_password", "dialog", "client_ed25519", "x"])
def test_a_greeting_by_another_method_is_answered_by_our_own(method: str, tmp_path: Path) -> None:
    """PyMySQL would send the password at once when the greeting names `sha256_password` and offers TLS."""
    certificate = Authority(tmp_path).sign("rogue", "localhost")
    denied = b"\xff\x15\x04#28000no"
    with Rogue(denied, greets=method.encode(), certificate=certificate).listening() as rogue:
        assert "1045" in refusal(rogue)
    assert PASSWORD.encode() not in b"".join(rogue.heard)
    assert b"mysql_native_password" in rogue.heard[-1]


@pytest.mark.parametrize(
    ("method", "bytes_count"), [("mysql_native_password", 20), ("caching_sha2_password", 32), ("client_ed25519", 64)]
)
def test_our_own_methods_are_answered(method: str, bytes_count: int) -> None:
    """So that the others are not refused only because every switch is."""
    with Rogue(switch_to(method.encode(), b"n" * 20 + b"\0")).listening() as rogue:
        refusal(rogue)
    assert [len(heard) for heard in rogue.heard[1:2]] == [bytes_count]


def test_a_file_of_this_machine_is_not_sent() -> None:
    with Rogue(LOGIN_DONE, then=b"\xfb/etc/hostname").listening() as rogue:
        assert "a request for a local file" in refusal(rogue)
    assert Path("/etc/hostname").read_bytes().strip() not in b"".join(rogue.heard[1:])
