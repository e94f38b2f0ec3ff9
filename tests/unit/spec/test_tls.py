"""What users say about encryption: in a URL, a study file, options."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.study import parse_study
from plimsoll.spec.target import MODES, Tls, parse_target, tls_of
from support.faults import assert_refused


def test_nothing_said_is_preferred() -> None:
    assert parse_target("mysql://u@h/d").tls == Tls(mode="preferred")
    assert tls_of({"tls": None, "ca": ""}) == Tls()


def test_a_url_says_everything() -> None:
    url = "mysql://u@h/d?tls=verify-identity&ca=/c/ca.pem&cert=/c/cert%20.pem&key=~/key.pem"
    assert parse_target(url).tls == Tls(
        mode="verify-identity", ca=Path("/c/ca.pem"), cert=Path("/c/cert .pem"), key=Path("~/key.pem").expanduser()
    )


def test_a_key_protects_the_password_where_a_connection_is_not_encrypted() -> None:
    assert parse_target("mysql://u@h/d?get_server_public_key=true").tls == Tls(get_server_public_key=True)
    assert parse_target("mysql://u@h/d?get_server_public_key=false").tls == Tls()
    tls = parse_target("mysql://u@h/d?tls=disabled&server_public_key_path=/k.pem").tls
    assert tls == Tls(mode="disabled", server_public_key_path=Path("/k.pem"))
    spec = parse_study(
        STUDY.format(
            system='target = "mysql://u@h/d"\nserver_public_key_path = "/k.pem"\nget_server_public_key = false'
        )
    )
    assert spec.system[0].parsed_target().tls == Tls(server_public_key_path=Path("/k.pem"))


def test_files_are_found_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert tls_of({"tls": "verify-ca", "ca": "ca.pem"}).ca == tmp_path / "ca.pem"


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (
            {"tls": "always"},
            "tls: must be one of disabled, preferred, required, verify-ca, verify-identity, is 'always'",
        ),
        ({"tls": "verify-ca"}, "ca: verify-ca needs the file"),
        ({"tls": "verify-identity", "cert": "c", "key": "k"}, "ca: verify-identity needs the file"),
        ({"tls": "required", "ca": "c"}, "ca: nothing is verified with tls=required"),
        ({"ca": "c"}, "ca: nothing is verified with tls=preferred"),
        ({"tls": "required", "cert": "c"}, "key: is missing"),
        ({"tls": "required", "key": "k"}, "cert: is missing"),
        ({"tls": "preferred", "cert": "c", "key": "k"}, "cert: is not shown with tls=preferred"),
        ({"tls": "disabled", "cert": "c", "key": "k"}, "cert: is not shown with tls=disabled"),
        ({"tls": "required", "server_public_key_path": "k"}, "server_public_key_path: is not used with tls=required"),
        ({"tls": "required", "get_server_public_key": "true"}, "get_server_public_key: is not used with tls=required"),
        ({"get_server_public_key": "yes"}, "get_server_public_key: must be true or false, is 'yes'"),
        (
            {"get_server_public_key": "true", "server_public_key_path": "k"},
            "get_server_public_key: any key that comes would be as good as that of server_public_key_path",
        ),
    ],
)
def test_what_would_only_look_safe_is_refused(said: dict[str, str], fault: str) -> None:
    assert_refused(fault, tls_of, said)
    query = "&".join(f"{key}={value}" for key, value in said.items())
    assert_refused(f"target: {fault}", parse_target, f"mysql://u@h/d?{query}")


def test_options_and_the_url_do_not_mix() -> None:
    target = parse_target("mysql://u@h/d?tls=required")
    assert target.with_tls({"tls": None, "ca": None}) is target
    with pytest.raises(SpecError, match="in one place"):
        target.with_tls({"tls": "disabled"})
    assert parse_target("mysql://u@h/d").with_tls({"tls": "disabled"}).tls.mode == "disabled"


STUDY = """
[study]
name = "s"
levels = {{ connections = [1] }}
reset = "never"
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
{system}
"""


@pytest.mark.parametrize("mode", MODES)
def test_a_study_says_it_with_the_same_keys(mode: str) -> None:
    ca = 'ca = "/c/ca.pem"' if mode.startswith("verify") else ""
    spec = parse_study(STUDY.format(system=f'target = "mysql://u@h/d"\ntls = "{mode}"\n{ca}'))
    tls = spec.system[0].parsed_target().tls
    assert (tls.mode, tls.ca) == (mode, Path("/c/ca.pem") if ca else None)


@pytest.mark.parametrize(
    ("system", "fault"),
    [
        ('target = "mysql://u@h/d"\ntls = "verify-ca"', "system[0].ca: verify-ca needs the file"),
        ('target = "mysql://u@h/d?tls=required"\ntls = "disabled"', "system[0].tls: is in the URL and in an option"),
        ('target = "mysql://u@h/d"\ntls = "on"', "system[0].tls: must be one of"),
        ('server = { managed = "mariadb" }\ntls = "required"', "system[0].tls: belongs to a target"),
    ],
)
def test_a_wrong_study_says_where(system: str, fault: str) -> None:
    assert_refused(fault, parse_study, STUDY.format(system=system))
