"""Running servers that replicate, as users write them: `targets` of a system.

Deliberately not here: whether they really replicate (`run.role_targets`), which only they know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from plimsoll.errors import SpecError
from plimsoll.spec.fields import Written
from plimsoll.spec.replicas import REPLICAS_MAX
from plimsoll.spec.target import Target, parse_target


class RoleTargetSpec(Written):
    """One of `targets`.

    Attributes:
        role: `source` takes writes; a `replica` follows it.
        url: URL of the running server, without password, such as "mysql://bench@db2/sbtest".
    """

    role: Literal["source", "replica"]
    url: str

    def parsed(self) -> Target:
        """The target, without a password. Raises SpecError where the URL is wrong."""
        return parse_target(self.url)


def role_target_faults(place: str, targets: Sequence[RoleTargetSpec]) -> Iterator[str]:
    """What is wrong with them, one line each, which begins with its place.

    Args:
        place: Of the system in the study file.
        targets: As written.
    """
    count = sum(one.role == "source" for one in targets)
    if count != 1:
        yield f"{place}.targets: must have exactly one with role source, has {count}"
    replicas = len(targets) - count
    if not replicas:
        yield f"{place}.targets: has no replica; add one, or give the source as target"
    if replicas > REPLICAS_MAX:
        yield f"{place}.targets: has {replicas} replicas, at most {REPLICAS_MAX} are supported"
    seen: dict[str, int] = {}
    for index, one in enumerate(targets):
        try:
            target = one.parsed()
        except SpecError as error:
            yield from (f"{place}.targets[{index}].url: {fault.removeprefix('target: ')}" for fault in error.faults)
            continue
        if target.password.get_secret_value():
            yield (
                f"{place}.targets[{index}].url: holds a password, and study files are kept; use password_env or"
                " defaults_file"
            )
        if (first := seen.setdefault(target.endpoint, index)) != index:
            yield f"{place}.targets[{index}].url: is the server of targets[{first}]; name each server once"
