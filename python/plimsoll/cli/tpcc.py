"""The TPC-C-derived workload from options of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from plimsoll.cli.option_values import as_option, duration_s, key_and_value

if TYPE_CHECKING:
    from plimsoll.spec.clients import Clients
    from plimsoll.spec.statements import Workload
    from plimsoll.spec.tpcc import TpccSpec


def tpcc_of(written: Iterable[str], given: Mapping[str, object]) -> TpccSpec:
    """The workload.

    Args:
        written: Keys as KEY=VALUE.
        given: Those that have an option of their own.

    Raises:
        SpecError: An option's value is wrong; all faults at once.
    """
    from pydantic import ValidationError

    from plimsoll.errors import SpecError
    from plimsoll.spec.fields import faults_of
    from plimsoll.spec.tpcc import TpccSpec

    keys = dict(key_and_value(one, taken=given) for one in written)
    try:
        return TpccSpec.model_validate({**given, **keys})
    except ValidationError as error:
        raise SpecError(*(as_option(fault, keys) for fault in faults_of(error))) from None


def warm_up_of(workload: Workload, written: str | None, connections: int, clients: Clients, *, is_open: bool) -> float:
    """How long load runs before it counts, seconds, after a check that the pace of any workload fits the level.

    Args:
        workload: Any.
        written: As typed; None for a second, or until all terminals have begun.
        connections: Of the level.
        clients: Whether they think.
        is_open: The level is a rate.

    Raises:
        SpecError: They do not go together; all faults at once. Or it is no duration.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.pace import pace_faults
    from plimsoll.spec.terminals import ramp_up_s

    has_think_time = clients.think_time is not None
    faults = pace_faults(workload, connections, is_open=is_open, has_think_time=has_think_time)
    option = "--workload" if workload.kind == "statements" else "--option"
    if told := [f"{option} {fault}" for fault in faults]:
        raise SpecError(*told)
    return max(1.0, ramp_up_s(workload)) if written is None else duration_s(written, "--warm-up")
