"""The files of a learned load: what `plimsoll learn` writes into a folder, how it is read back, and a `demand.json`.

Deliberately not here: what is concluded from it (`plimsoll.learn`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from plimsoll.errors import SpecError
from plimsoll.learn.demand import Demand, parse_demand
from plimsoll.learn.fidelity import ComparedLoad, run_statements
from plimsoll.learn.fidelity_model import Fidelity
from plimsoll.learn.profile_model import Profile
from plimsoll.learn.report_model import LogReport
from plimsoll.learn.workload_text import period_of, with_learned
from plimsoll.record.document import Document
from plimsoll.regular_file import read_regular, text_regular
from plimsoll.spec.workloads import FILE_BYTES_MAX, StatementsSpec

if TYPE_CHECKING:
    from plimsoll.learn.learned_load import LearnedLoad

WORKLOAD = "workload.toml"
_BYTES_MAX = 64_000_000
_CURE = "name a folder that plimsoll learn wrote"

_Read = TypeVar("_Read", bound=Document)


def files_of(learned: LearnedLoad) -> dict[str, str]:
    """Names and texts of the files of a learned load; the report has its own.

    Raises:
        SpecError: No transaction of the log can be run.
    """
    if learned.workload is None:
        raise SpecError("no transaction of the log can be run: its statements name no table that is known")
    demand = "" if learned.demand is None else learned.demand.model_dump_json(indent=1) + "\n"
    texts = {
        WORKLOAD: with_learned(learned.workload, period_of(learned.profile, learned.report, learned.demand)),
        "profile.json": learned.profile.model_dump_json(indent=1) + "\n",
        "schema.sql": learned.schema,
        "demand.json": demand,
    }
    return {name: text for name, text in texts.items() if text}


@dataclass(frozen=True, slots=True)
class LearnedFolder:
    """A learned load, read back.

    Attributes:
        workload: As it is to be run.
        load: What a run is compared with.
        demand: None where the log had no times.
    """

    workload: StatementsSpec
    load: ComparedLoad
    demand: Demand | None


def read_learned(folder: Path) -> LearnedFolder:
    """Reads and checks a folder of a learned load.

    Raises:
        SpecError: A file is missing, or is not what `plimsoll learn` writes; all faults of the workload at once.
    """
    path = folder / WORKLOAD
    spec = StatementsSpec(name=folder.resolve().name, file=WORKLOAD, text=_text(path))
    try:
        statements = run_statements(spec.definition)
    except SpecError as error:
        raise SpecError(*(f"{path}: {fault}" for fault in error.faults)) from None
    profile, report = _document(folder / "profile.json", Profile), _document(folder / "report.json", LogReport)
    demand = read_demand(folder / "demand.json") if (folder / "demand.json").exists() else None
    load = ComparedLoad(
        statements=statements, report=report, profile=profile, period=period_of(profile, report, demand)
    )
    return LearnedFolder(spec, load, demand)


def _document(path: Path, kind: type[_Read]) -> _Read:
    try:
        return kind.model_validate_json(read_regular(path, _BYTES_MAX))
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}; {_CURE}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise SpecError(f"{path}: {where}: {first['msg']}; write it with plimsoll learn of this version") from None


def checked_workload(folder: Path, fidelity: Fidelity) -> str:
    """The text of the folder's workload file as it is now, with what a check of it showed.

    Raises:
        SpecError: It cannot be read.
    """
    return with_learned(_text(folder / WORKLOAD), fidelity.log, fidelity)


def _text(path: Path) -> str:
    try:
        return text_regular(path, FILE_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}; {_CURE}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is no UTF-8 text") from None


DEMAND_BYTES_MAX = 8_000_000
"""A demand of as many types and steps as there may be takes less than a quarter of it."""


def read_demand(path: Path) -> Demand:
    """Reads and checks a demand.

    Raises:
        SpecError: The file cannot be read, or is no demand; the message names it.
    """
    try:
        content = read_regular(path, DEMAND_BYTES_MAX)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}") from None
    try:
        return parse_demand(content)
    except SpecError as error:
        first, *more = error.faults
        raise SpecError(f"{path}: {first}", *more) from None
