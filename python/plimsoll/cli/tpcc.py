"""The TPC-C-derived workload from options of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from plimsoll.cli.options import as_option, key_and_value

if TYPE_CHECKING:
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
        raise SpecError(*(as_option(fault) for fault in faults_of(error))) from None
