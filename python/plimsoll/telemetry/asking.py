"""How samplers ask a server: impatiently, and what a refusal means.

Deliberately not here: what is asked.
"""

from __future__ import annotations

from plimsoll.errors import TargetError
from plimsoll.servers.control import ControlConnection, connect
from plimsoll.spec.target import Target

_NOT_NOW = frozenset({1040, 1053, 1129, 1158, 1159, 1160, 1161, 1203, 2002, 2003, 2006, 2013, None})
"""Codes of errors that say nothing about the statement: no connection could be opened, or it was lost."""


CONNECT_LIMIT_S, READ_LIMIT_S = 2, 5
"""With thousands of busy threads on a few processors, a status query took 0.6 s (4,096 connections on 2 CPUs)."""


def is_lost(error: TargetError) -> bool:
    """Whether the connection is lost, or none could be had; otherwise the server refused the statement."""
    return error.code in _NOT_NOW


def open_impatiently(target: Target) -> ControlConnection:
    """Opens a control connection that gives up within a few seconds. Raises as `connect`."""
    return connect(target, connect_limit_s=CONNECT_LIMIT_S, read_limit_s=READ_LIMIT_S)
