"""Encrypted connections, from what a user types to the server and into the recording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import TargetError
from plimsoll.guide.build import analyse_folder
from plimsoll.record.store import read_study
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.servers.managed_server import ManagedServer
from plimsoll.spec.target import Target, parse_target
from support.certificates import Authority, Files
from support.command import assert_one_clear_message, plimsoll
from support.initialised_data import created
from support.servers import bare_spec

pytestmark = pytest.mark.e2e

CIPHER = "TLSv1.3 TLS_"


class Encrypting:
    """A server that encrypts, and the certificates around it."""

    def __init__(self, server: ManagedServer, ours: Authority, theirs: Authority, client: Files) -> None:
        self.server, self.ours, self.theirs, self.client = server, ours, theirs, client

    def url(self, host: str, user: str, **query: object) -> str:
        """A target of it."""
        asked = "&".join(f"{key}={value}" for key, value in query.items())
        return f"mysql://{user}@{host}:{self.server.target.port}/sbtest?{asked}"


@pytest.fixture(scope="module")
def encrypting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypting]:
    """MySQL, which makes certificates for itself; they are replaced by ours, which have a name."""
    folder = tmp_path_factory.mktemp("certificates")
    ours, theirs = Authority(folder, "ours"), Authority(folder, "theirs")
    files = ours.sign("server", "localhost")
    base = Path("/var/tmp/plimsoll-test-encryption")
    with created(name="encryption", spec=bare_spec("mysql"), base_dir=base) as server:
        server.start()
        for source, name in ((ours.ca, "ca"), (files.cert, "server-cert"), (files.key, "server-key")):
            (server.directory.data / f"{name}.pem").write_bytes(source.read_bytes())
        with connect(server.target) as root:
            root.rows("ALTER INSTANCE RELOAD TLS")
            for user, needs in (("bench", ""), ("known", " REQUIRE X509")):
                root.rows(f"CREATE USER {user}@'%' IDENTIFIED BY 'pw'{needs}")
                root.rows(f"GRANT ALL ON sbtest.* TO {user}@'%'")
        yield Encrypting(server, ours, theirs, ours.sign("client"))


def version_of(control: ControlConnection) -> str:
    return str(control.rows("SHOW SESSION STATUS LIKE 'Ssl_version'")[0][1])


def control_target(url: str) -> Target:
    return parse_target(url).with_password("pw")


def test_the_control_connection_has_the_settings_of_the_load(encrypting: Encrypting) -> None:
    ca, cert, key = encrypting.ours.ca, encrypting.client.cert, encrypting.client.key
    server_key = encrypting.server.directory.data / "public_key.pem"
    for user, query, version in (
        ("bench", {"tls": "disabled", "server_public_key_path": server_key}, ""),
        ("bench", {}, "TLSv1.3"),
        ("bench", {"tls": "required"}, "TLSv1.3"),
        ("bench", {"tls": "verify-ca", "ca": ca}, "TLSv1.3"),
        ("known", {"tls": "required", "cert": cert, "key": key}, "TLSv1.3"),
    ):
        with connect(control_target(encrypting.url("127.0.0.1", user, **query))) as control:
            assert version_of(control) == version, query
    with connect(control_target(encrypting.url("localhost", "bench", tls="verify-identity", ca=ca))) as control:
        assert version_of(control) == "TLSv1.3"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"tls": "verify-ca", "ca": "theirs"}, "its certificate is not trusted"),
        ({"tls": "verify-identity", "ca": "ours"}, "connect by a name in the certificate"),
    ],
)
def test_a_server_that_shows_the_wrong_certificate_is_refused(
    encrypting: Encrypting, query: dict[str, str], message: str
) -> None:
    url = encrypting.url("127.0.0.1", "bench", tls=query["tls"], ca=getattr(encrypting, query["ca"]).ca)
    with pytest.raises(TargetError, match=message):
        connect(control_target(url))


def test_a_trial_says_how_it_was_encrypted(encrypting: Encrypting) -> None:
    tables = ["--table-size", "1000", "--password-env", "PW"]
    short = [*tables, "--duration", "1s", "--warm-up", "0s", "--connections", "2", "--workload", "oltp_point_select"]
    verified = ["--target", encrypting.url("localhost", "bench"), "--tls", "verify-identity"]
    ours = [*verified, "--ca", encrypting.ours.ca]
    assert plimsoll("prepare", *ours, *tables, env={"PW": "pw"}).returncode == 0
    ran = plimsoll("trial", *ours, *short, "--json", env={"PW": "pw"})
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["connections"]["encryptions"][0]["agreed"].startswith(CIPHER)
    plain = plimsoll(
        "trial", "--target", encrypting.url("localhost", "bench", tls="disabled"), *short, env={"PW": "pw"}
    )
    assert "encryption        none" in plain.stdout
    theirs = plimsoll("trial", *verified, "--ca", encrypting.theirs.ca, *short, env={"PW": "pw"})
    assert_one_clear_message(theirs, 3, "no authority in the file of ca signed the server's certificate")
    missing_file = plimsoll("trial", *verified, "--ca", "/no/such/file", *short, env={"PW": "pw"})
    assert_one_clear_message(missing_file, 2, "/no/such/file cannot be read")
    pointless = plimsoll("trial", "--target", "managed", "--tls", "required", *short)
    assert_one_clear_message(pointless, 2, "--tls: a managed server is reached on this machine")


def test_without_encryption_a_password_that_is_asked_for_needs_the_key_of_the_server(encrypting: Encrypting) -> None:
    plain = ["--target", encrypting.url("127.0.0.1", "bench"), "--password-env", "PW", "--tls", "disabled"]
    prepare = ["prepare", *plain, "--table-size", "1000"]
    load = ["--workload", "oltp_point_select", "--connections", "2", "--warm-up", "0s", "--duration", "1s"]
    trial = ["trial", *plain, "--table-size", "1000", *load]
    server_key = ["--server-public-key-path", encrypting.server.directory.data / "public_key.pem"]
    for command, key in ((prepare, server_key), (trial, ["--get-server-public-key"])):
        with connect(encrypting.server.socket_target) as control:
            control.rows("FLUSH PRIVILEGES")  # the server forgets who has logged in
        refused = plimsoll(*command, env={"PW": "pw"})
        assert_one_clear_message(refused, 3, "the server asks for the password itself")
        taken = plimsoll(*command, *key, env={"PW": "pw"})
        assert taken.returncode == 0, taken.stderr


STUDY = """
[study]
name = "encrypted"
levels = {{ connections = [2] }}
warm_up = "0s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "2s"
repetitions = 1
reset = "never"
[[workload]]
name = "points"
kind = "oltp_point_select"
table_size = 1000
[[system]]
name = "encrypted"
target = "{url}"
password_env = "PW"
tls = "verify-ca"
ca = "{ca}"
cert = "{cert}"
key = "{key}"
[[system]]
name = "plain"
target = "{plain}"
password_env = "PW"
"""


def test_a_study_records_how_each_system_was_encrypted(encrypting: Encrypting, tmp_path: Path) -> None:
    text = STUDY.format(
        url=encrypting.url("127.0.0.1", "known").rstrip("?"),
        plain=encrypting.url("127.0.0.1", "bench", tls="disabled"),
        ca=encrypting.ours.ca,
        cert=encrypting.client.cert,
        key=encrypting.client.key,
    )
    (tmp_path / "s.toml").write_text(text)
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", tmp_path / "out", env={"PW": "pw"})
    assert ran.returncode == 0, ran.stderr
    recorded = {r.trial.system.name: r.outcome.connections for r in read_study(tmp_path / "out").recordings}
    agreed = {name: one.encryptions[0].agreed if one else "?" for name, one in recorded.items()}
    assert agreed["plain"] is None
    assert (agreed["encrypted"] or "").startswith(CIPHER)
    analysis = analyse_folder(tmp_path / "out")
    assert {system.name: system.factors["tls"] for system in analysis.systems} == {
        "encrypted": "verify-ca",
        "plain": "disabled",
    }
    assert "encryption-differs" not in {warning.code for warning in analysis.warnings}
