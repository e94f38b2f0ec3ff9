"""What was measured of the systems of a matrix, as tables: throughput at each level, or capacities.

Deliberately not here: what follows from them (`effect_table`, `main_effects`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analyse.capacities import capacities_by_repetition
from plimsoll.analyse.capacity_model import SystemCapacity
from plimsoll.analyse.cells import MeasuredCell
from plimsoll.analyse.contrasts import Matrix
from plimsoll.analyse.crossing import LEAST_VARIANCE
from plimsoll.analyse.disturbance import of_trials
from plimsoll.analyse.disturbance_model import Disturbance
from plimsoll.analyse.effect_model import EffectMeasure
from plimsoll.analyse.effect_table import EffectTable, combined
from plimsoll.record.level import Level


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What was measured of a matrix under one workload.

    Attributes:
        levels: In rising order; none for capacities.
        tables: One for each level, or one of capacities.
    """

    workload: str
    measure: EffectMeasure
    levels: tuple[Level, ...]
    tables: tuple[EffectTable, ...]

    @property
    def whole(self) -> EffectTable:
        """The mean over all levels."""
        if len(self.tables) == 1:
            return self.tables[0]
        return combined(self.tables, [1 / len(self.tables)] * len(self.tables))


def of_throughput(matrix: Matrix, cells: Sequence[MeasuredCell], met: Mapping[str, Disturbance]) -> Iterator[Measured]:
    """For each workload the levels in a closed loop at which every system of the matrix completed something.

    Args:
        matrix: The systems.
        cells: Of all workloads.
        met: How slow machines were, by trial.
    """
    for workload in dict.fromkeys(cell.workload for cell in cells):
        own = [cell for cell in cells if cell.workload == workload and not cell.level.kind.is_at_rate]
        by_level: dict[tuple[bool, float], dict[str, MeasuredCell]] = {}
        for cell in sorted(own, key=lambda cell: cell.level.order):
            by_level.setdefault(cell.level.order, {})[cell.system] = cell
        whole = [
            [level[name] for name in matrix.systems]
            for level in by_level.values()
            if all(name in level and min(level[name].throughput.cell.throughputs_tps) > 0 for name in matrix.systems)
        ]
        numbers = sorted({one.trial.repetition for cell in own for one in cell.trials})
        if whole:
            tables = tuple(_table(level, numbers, met) for level in whole)
            levels = tuple(level[0].level for level in whole)
            yield Measured(workload, EffectMeasure.THROUGHPUT, levels, tables)


def _table(cells: Sequence[MeasuredCell], repetitions: Sequence[int], met: Mapping[str, Disturbance]) -> EffectTable:
    """One level.

    Args:
        cells: In the order of the matrix.
        repetitions: The columns.
        met: How slow machines were, by trial.
    """
    column = {number: index for index, number in enumerate(repetitions)}
    logs = np.full((len(cells), len(repetitions)), np.nan)
    for row, cell in enumerate(cells):
        for one, tps in zip(cell.trials, cell.throughput.cell.throughputs_tps, strict=True):
            logs[row, column[one.trial.repetition]] = math.log(tps)
    tables = {id(cell.throughput.table) for cell in cells}
    disturbances = [found for cell in cells if (found := of_trials(cell.trials, met)) is not None]
    return EffectTable(
        logs,
        len(tables) == 1,
        tuple(cell.throughput.cell.inside for cell in cells),
        slownesses=np.log([one.slowness for one in disturbances]) if len(disturbances) == len(cells) else None,
    )


def of_capacity(matrix: Matrix, searched: Sequence[SystemCapacity]) -> Iterator[Measured]:
    """For each workload and objective of which a capacity of every system of the matrix is known."""
    groups: dict[tuple[str, str], dict[str, Mapping[int, float]]] = {}
    for one in searched:
        found = capacities_by_repetition(one)
        if found:
            groups.setdefault((one.workload, one.objective.model_dump_json()), {})[one.system] = found
    for (workload, _), own in groups.items():
        if all(name in own for name in matrix.systems):
            numbers = sorted({number for name in matrix.systems for number in own[name]})
            logs = np.log([[own[name].get(number, math.nan) for number in numbers] for name in matrix.systems])
            table = EffectTable(logs, least_variance=LEAST_VARIANCE)
            yield Measured(workload, EffectMeasure.CAPACITY, (), (table,))
