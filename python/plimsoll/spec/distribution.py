"""How rows are chosen, as users write it: a name, or a table with the parameters of that distribution.

Deliberately not here: drawing (the load engine does it), and what follows for the server (`analyse.working_set`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from plimsoll.spec.fields import Extended

DistributionKind = Literal["uniform", "gaussian", "special-0.4", "special-1.0", "pareto", "zipfian", "hot"]

DISTRIBUTIONS: tuple[str, ...] = get_args(DistributionKind)

PARAMETERS: dict[str, dict[str, Any]] = {
    "uniform": {},
    "gaussian": {"draws": 12},
    "special-0.4": {"hot_rows_percent": 1, "hot_accesses_percent": 75, "draws": 12},
    "special-1.0": {"hot_rows_percent": 1, "hot_accesses_percent": 75, "draws": 12},
    "pareto": {"h": 0.2},
    "zipfian": {"exponent": 0.8},
    "hot": {"shares": [], "exponent": 0.0, "scattered": True},
}
"""The parameters of each distribution with sysbench's defaults; `hot` is not one of sysbench's."""

OF_TABLES = tuple(kind for kind in DISTRIBUTIONS if kind != "hot")
"""Those by which the rows of OLTP tables are chosen."""

_SHARES_MAX = 1_000
_ROUNDING = 1e-6


class DistributionSpec(Extended):
    """How rows are chosen out of 1..=n.

    Attributes:
        draws: gaussian and special: how many uniform numbers are averaged for the bell (sysbench: rand-spec-iter).
        hot_rows_percent: special: share of the rows that is hot (sysbench: rand-spec-pct).
        hot_accesses_percent: special: share of the accesses meant for them (sysbench: rand-spec-res).
        h: pareto: the share 1 - h of the accesses goes to the share h of the rows (sysbench: rand-pareto-h).
        exponent: zipfian: row r is chosen in proportion to 1 / r^exponent (sysbench: rand-zipfian-exp); hot: the ranks
            behind those with shares are.
        shares: hot: the share of the accesses that rank 1, 2, … has.
        scattered: hot: neighbouring ranks are far apart; otherwise the first rows are the most frequent.
    """

    LATER: ClassVar = frozenset({"shares", "scattered"})

    kind: DistributionKind = "uniform"
    draws: Annotated[int, Field(ge=1, le=1000)] | None = None
    hot_rows_percent: Annotated[int, Field(ge=1, le=100)] | None = None
    hot_accesses_percent: Annotated[int, Field(ge=0, le=99)] | None = None
    h: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = None
    exponent: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] | None = None
    shares: list[Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]] | None = None
    scattered: bool | None = None

    @model_validator(mode="after")
    def _own_parameters_only(self) -> Self:
        own = PARAMETERS[self.kind]
        for name in type(self).model_fields:
            if name != "kind" and name not in own and getattr(self, name) is not None:
                known = f"its parameters are {', '.join(own)}" if own else "it has no parameters"
                raise ValueError(f"{self.kind} has no {name}; {known}")
        for fault in self._share_faults():
            raise ValueError(fault)
        return self

    def _share_faults(self) -> Iterator[str]:
        shares = self.shares or []
        if len(shares) > _SHARES_MAX:
            yield f"shares must be at most {_SHARES_MAX}, are {len(shares)}"
        if shares != sorted(shares, reverse=True):
            yield "shares must fall or be equal: the first is that of the most frequent"
        if sum(shares) > 1 + _ROUNDING:
            yield f"shares must have a sum of at most 1, have {sum(shares):g}"

    def parameters(self) -> dict[str, Any]:
        """The parameters that are in force, defaults included."""
        written = {name: getattr(self, name) for name in PARAMETERS[self.kind]}
        return {name: PARAMETERS[self.kind][name] if value is None else value for name, value in written.items()}

    def line(self) -> dict[str, Any]:
        """As the load engine reads it."""
        return {"kind": self.kind, **self.parameters()}

    def plain(self) -> str | dict[str, Any]:
        """As recordings keep it: the name alone where there are no parameters."""
        return self.line() if PARAMETERS[self.kind] else self.kind


def _named(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


WrittenDistribution = Annotated[DistributionSpec, BeforeValidator(_named)]
"""Written as "zipfian" or as { kind = "zipfian", exponent = 0.9 }."""


def _of_tables(value: DistributionSpec) -> DistributionSpec:
    if value.kind not in OF_TABLES:
        raise ValueError(f"{value.kind!r} belongs to workload files; here are {', '.join(OF_TABLES)}")
    return value


TableDistribution = Annotated[WrittenDistribution, AfterValidator(_of_tables)]
"""How rows of OLTP tables are chosen."""
