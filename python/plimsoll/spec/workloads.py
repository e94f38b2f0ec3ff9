"""The `[[workload]]`s of a study file that name workload files: read, checked, and held against each other."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Discriminator, Tag

from plimsoll.errors import SpecError
from plimsoll.regular_file import read_regular
from plimsoll.spec.fields import Written
from plimsoll.spec.statements import ReadFile, StatementsSpec, Workload
from plimsoll.spec.tpcc import TPCC, TpccSpec
from plimsoll.spec.workload import WorkloadSpec

WORKLOADS_FILE = "workload-files.json"
"""The workload files of a study, within its folder."""


def _keys(written: object) -> Collection[str]:
    return written if isinstance(written, dict) else type(written).model_fields if isinstance(written, Written) else ()


def _tag(written: object) -> str:
    if "file" in _keys(written):
        return "(file)"
    kind = written.get("kind") if isinstance(written, dict) else getattr(written, "kind", None)
    return "(tpcc)" if kind == TPCC else "(built in)"


WrittenWorkload = Annotated[
    Annotated[WorkloadSpec, Tag("(built in)")]
    | Annotated[StatementsSpec, Tag("(file)")]
    | Annotated[TpccSpec, Tag("(tpcc)")],
    Discriminator(_tag),
]
"""One `[[workload]]`: from a file if it names one."""


def kept_files(folder: Path) -> dict[str, str]:
    """Texts of the workload files that a study's folder keeps, by the name that its study file uses.

    Raises:
        SpecError: They are damaged.
    """
    path = folder / WORKLOADS_FILE
    try:
        kept = json.loads(read_regular(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        raise SpecError(f"{path}: cannot be read; run the study from its own file, not from its folder") from None
    return {str(name): str(text) for name, text in kept.items()} if isinstance(kept, dict) else {}


def read_workloads(written: dict[str, Any], read_file: ReadFile) -> Iterator[str]:
    """Puts the text of each workload file beside its name; tells which cannot be read."""
    listed = written.get("workload")
    for index, workload in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(workload, dict) or not isinstance(workload.get("file"), str):
            continue
        if "text" in workload:
            yield f"workload[{index}].text: is not a known key"
        if "kind" in workload:
            yield f"workload[{index}].kind: does not go with file; leave one of them out"
            del workload["kind"]
        try:
            workload["text"] = read_file(workload["file"])
        except SpecError as error:
            workload["text"] = ""
            yield f"workload[{index}].file: {error}"


def definition_faults(path: str, workload: StatementsSpec) -> Iterator[str]:
    """What is wrong in a workload file; nothing about one that could not be read."""
    if not workload.text:
        return
    try:
        _ = workload.definition
    except SpecError as error:
        yield from (f"{path}.file: {workload.file}: {fault}" for fault in error.faults)


def different_rows(workloads: Iterable[Workload]) -> Iterator[str]:
    """The OLTP workloads of a study have the same rows."""
    built_in = [(index, one.data_line()) for index, one in enumerate(workloads) if isinstance(one, WorkloadSpec)]
    for index, line in built_in[1:]:
        base, wanted = built_in[0]
        for key, value in line.items():
            if value != wanted[key]:
                written = _ROW_KEYS.get(key, key)
                yield (
                    f"workload[{index}].{written}: is {_told(key, value)}, but {_told(key, wanted[key])} in"
                    f" workload[{base}]; the workloads of a study share their tables, so make them equal or write two"
                    " studies"
                )


_ROW_KEYS = {"layout": "kind", "empty": "kind", "distribution": "k_distribution"}
"""What users write, by the name that it has where rows are made."""


def _told(key: str, value: object) -> str:
    """What rows are made by, as people read it."""
    if key == "empty":
        return "for tables without rows" if value else "for tables with rows"
    return f"for tables of {value}" if key == "layout" else str(value)


def shared_table_faults(workloads: Iterable[Workload]) -> Iterator[str]:
    """Tables of one name must be described alike by all workloads that have them."""
    seen: dict[str, tuple[int, object]] = {}
    for index, workload in enumerate(workloads):
        if not is_sound(workload):
            continue
        for name, shape in _tables(workload):
            first, known = seen.setdefault(name.lower(), (index, shape))
            if known != shape:
                yield (
                    f"workload[{index}]: describes the table {name!r} otherwise than workload[{first}] does; the"
                    " workloads of a study share their tables, so make them equal, or give the table another name"
                )


def is_sound(workload: Workload) -> bool:
    """Whether it can be asked what it does; a file that is wrong cannot."""
    return not isinstance(workload, StatementsSpec) or (workload.text != "" and not [*definition_faults("", workload)])


def _tables(workload: Workload) -> Iterator[tuple[str, object]]:
    if isinstance(workload, StatementsSpec):
        yield from ((table["name"], table) for table in workload.data_line()["tables"])
    elif isinstance(workload, TpccSpec):
        yield from ((name, workload.tables_line()) for name in workload.table_names)
    else:
        yield from ((name, "of OLTP workloads") for name in workload.table_names)
