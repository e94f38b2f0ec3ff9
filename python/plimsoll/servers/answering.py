"""Whether a managed server that was started answers, and whether it is ours.

Deliberately not here: starting and ending it (`managed`).
"""

from __future__ import annotations

from pathlib import Path

from plimsoll.errors import TargetError
from plimsoll.servers.control import connect
from plimsoll.servers.login_methods import UNKNOWN_METHOD
from plimsoll.spec.target import Target

_NOT_YET = frozenset({2002, 2003, 2006, 2013})
"""Client errors that a starting server may give."""

_NO_ACCOUNT = frozenset({1045, UNKNOWN_METHOD})
"""For an account that it does not have MySQL makes up a method, so that nobody learns which accounts there are."""


def answers(target: Target, data_dir: Path) -> bool:
    """Whether a starting server answers by now.

    Args:
        target: The account that Plimsoll made on it.
        data_dir: The data directory on which it must run.

    Raises:
        TargetError: It runs on another data directory, or refuses to answer.
    """
    try:
        with connect(target, connect_limit_s=2, read_limit_s=2) as control:
            said = str(control.value("SELECT @@datadir"))
    except TargetError as error:
        if error.code in _NO_ACCOUNT:
            raise _astray(data_dir, "does not know the account that Plimsoll made") from None
        if error.code not in _NOT_YET:
            raise
        return False
    if Path(said) != data_dir:
        raise _astray(data_dir, f"uses the data directory {said}")
    return True


def _astray(data_dir: Path, evidence: str) -> TargetError:
    return TargetError(
        f"server command: the server that it started {evidence}, so it does not run on {data_dir}. It was stopped, and"
        " its accounts were not changed. The command must pass on its arguments, unchanged and last"
    )
