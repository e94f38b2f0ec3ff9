"""Another machine on which a system's servers run, as users write it down.

Deliberately not here: reaching it (package `hosts`).
"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated

from pydantic import AfterValidator

from plimsoll.spec.fields import Place, Written

_SSH_DESTINATION = re.compile(r"(ssh://)?[A-Za-z0-9_\[][A-Za-z0-9_.@:%\[\]+-]{0,250}")


def _checked_destination(value: str) -> str:
    if not _SSH_DESTINATION.fullmatch(value):
        raise ValueError(f'must be a host such as "db2.example" or "user@db2", as ssh takes it, is {value[:60]!r}')
    return value


SshDestination = Annotated[str, AfterValidator(_checked_destination)]
"""What `ssh` takes: a name from the user's configuration, a host name, or `user@host`; never an option of ssh."""


def _address(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        raise ValueError(f'must be an IP address such as "10.0.0.2", is {value[:60]!r}') from None


class HostSpec(Written):
    """Another machine, reached with the user's own OpenSSH.

    Attributes:
        ssh: The host as ssh takes it: a name from the user's ssh configuration, a host name, or `user@host`.
        python: Its Python interpreter, of the version that Plimsoll runs on.
        address: IP address on which servers there listen, and which the load generator connects to; the address that
            the SSH connection leads to when not given.
    """

    ssh: SshDestination
    python: Place = "python3"
    address: Annotated[str, AfterValidator(_address)] | None = None
