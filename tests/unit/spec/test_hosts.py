"""Other hosts in study files: what can be written, and what is refused."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = {{ connections = [1] }}
{study}
[[workload]]
name = "rw"
kind = "oltp_read_write"
[[system]]
name = "there"
host = {host}
server = {{ managed = "mariadb"{server} }}
"""


def written(host: str, study: str = "", server: str = "") -> str:
    return STUDY.format(host=host, study=study, server=server)


@pytest.mark.parametrize("ssh", ["db2", "root@db2.example", "ssh://db2:2222", "admin@[fe80::1%eth0]"])
def test_a_host_as_ssh_takes_it(ssh: str) -> None:
    host = parse_study(written(f'{{ ssh = "{ssh}" }}')).system[0].host
    assert host is not None
    assert (host.ssh, host.python, host.address) == (ssh, "python3", None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            written('{ ssh = "-oProxyCommand=evil" }'),
            r"system\[0\]\.host\.ssh: must be a host such as",
        ),
        (written('{ ssh = "db2; reboot" }'), r"system\[0\]\.host\.ssh: must be a host such as"),
        (written("{ }"), r"system\[0\]\.host\.ssh: is missing"),
        (written('{ ssh = "db2", address = "db2" }'), r"system\[0\]\.host\.address: must be an IP address"),
        (
            written('{ ssh = "db2" }', server=', keep_data = "/x"'),
            r"system\[0\]\.server\.keep_data: data is kept on this",
        ),
        (written('{ ssh = "db2" }', study='design = "duet"'), r"system\[0\]\.host: systems of a duet run on this"),
    ],
)
def test_what_is_refused(text: str, fault: str) -> None:
    with pytest.raises(SpecError, match=fault):
        parse_study(text)
