"""Whether a study's highest level fits what servers let in, before anything starts.

The engine looks too, before each trial, and at this machine as well; a study may meet its highest level hours later.
"""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.analyse.readiness.limits import OWN_CONNECTIONS
from plimsoll.errors import TargetError
from plimsoll.run.keeper import ANSWER_LIMIT_S
from plimsoll.servers.control import connect
from plimsoll.servers.option_file import PROFILE_CONNECTIONS, SERVER_CONNECTIONS, Profile
from plimsoll.spec.server_options import bare_name
from plimsoll.spec.study import StudySpec
from plimsoll.spec.system import ServerSpec
from plimsoll.spec.target import Target
from plimsoll.units import parse_whole


def crowded_managed(spec: StudySpec) -> Iterable[str]:
    """A line for each managed server that would not let its share of them in."""
    for index, system in enumerate(spec.system):
        if system.server is None:
            continue
        limit, level = _limit(system.server), -(-spec.sessions_max // system.server.instances)
        if limit is not None and level + OWN_CONNECTIONS > limit:
            yield (
                f"system[{index}].server.options: max_connections is {limit}, too few for the level of {level:,} and"
                f" Plimsoll's own connections; set options = {{ max_connections = {level + OWN_CONNECTIONS} }}"
            )


def unready_targets(level: int, targets: Iterable[Target]) -> Iterable[str]:
    """A line for each running server that does not answer, does not let us in, or not as many as a level has."""
    for target in targets:
        try:
            with connect(target, read_limit_s=ANSWER_LIMIT_S) as control:
                of_server = control.count("SELECT @@max_connections")
                of_account = control.count("SELECT @@max_user_connections")
        except TargetError as error:
            yield str(error)
            continue
        for name, limit in (("max_connections", of_server), ("max_user_connections of the account", of_account)):
            if limit and level + OWN_CONNECTIONS > limit:
                yield (
                    f"{target}: {name} is {limit}, too few for the level of {level:,} and Plimsoll's own connections;"
                    f" set it to {level + OWN_CONNECTIONS}, or use lower levels"
                )


def _limit(server: ServerSpec) -> int | None:
    """How many connections it will let in; None when the option is nothing that could be compared."""
    written = [
        value for name, value in server.options.items() if bare_name(name.replace("-", "_")) == "max_connections"
    ]
    if not written:
        return SERVER_CONNECTIONS if Profile(server.profile) is Profile.SERVER_DEFAULTS else PROFILE_CONNECTIONS
    return parse_whole(str(written[-1]))
