"""What the authors of published results say besides their table: a TOML file beside it, and `document.toml` of a study.

Statements about systems and workloads become part of the recordings, as stated and not measured. The document and the
claims are no condition of anything, so the study's folder keeps them in a file that may be changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator

from plimsoll.errors import Fault, SpecError, within
from plimsoll.spec.claims import ClaimSpec, form_faults
from plimsoll.spec.cover import CoverSpec, Line
from plimsoll.spec.fields import Name, PlainValue, ValueName, Written, a_list, faults_of, read_toml
from plimsoll.spec.new_study import toml_lines
from plimsoll.spec.server_options import value_text

DOCUMENT_FILE = "document.toml"
"""In the folder of an import: a study that was measured has its `[document]` and its claims in the study file."""

_BYTES_MAX = 1_000_000

Prose = Annotated[str, Field(max_length=2000)]


class StatedSystem(Written):
    """One `[[system]]` beside a table: what its authors state of a system. Nothing of it is measured.

    Attributes:
        name: Name of the system, as the import reports it. Default: all systems of the table.
        environment: Facts about machines and software, such as `"Operating system" = "Solaris 10"`.
        options: Server options, such as `{ innodb_flush_log_at_trx_commit = 1 }`.
        notes: Anything else, in sentences.
    """

    name: Name | None = None
    environment: dict[Name, Line] = Field(default_factory=dict, max_length=50)
    options: dict[ValueName, PlainValue] = Field(default_factory=dict, max_length=500)
    notes: Prose = ""

    @property
    def option_texts(self) -> dict[str, str]:
        """The options as an option file has them."""
        return {name: value_text(value) for name, value in self.options.items()}


class StatedWorkload(Written):
    """One `[[workload]]` beside a table: what its authors say that clients did.

    Attributes:
        name: Name of the workload. Default: all workloads of the table.
        notes: What clients did, in sentences.
    """

    name: Name | None = None
    notes: Annotated[str, Field(min_length=1, max_length=2000)]


class PublishedSpec(Written):
    """A file beside a table.

    Attributes:
        document: What the guide's first page says of itself.
        system: What the authors state of systems.
        workload: What they state of workloads.
        claim: What they concluded.
    """

    document: CoverSpec = CoverSpec()
    system: tuple[StatedSystem, ...] = ()
    workload: tuple[StatedWorkload, ...] = ()
    claim: tuple[ClaimSpec, ...] = ()

    _lists = field_validator("system", "workload", "claim", mode="before")(a_list)

    def name_faults(self, systems: Collection[str], workloads: Collection[str]) -> Iterator[Fault]:
        """Statements about what a table does not have, or about one thing twice.

        Args:
            systems: The names of those of the table.
            workloads: Their names.
        """
        yield from _name_faults("system", [system.name for system in self.system], systems)
        yield from _name_faults("workload", [workload.name for workload in self.workload], workloads)

    def of_system(self, name: str) -> StatedSystem:
        """All that is stated of a system; what is stated of it alone goes before what is stated of all."""
        stated = [system for wanted in (None, name) for system in self.system if system.name == wanted]
        return StatedSystem.model_construct(
            environment={key: text for system in stated for key, text in system.environment.items()},
            options={key: value for system in stated for key, value in system.options.items()},
            notes=_joined(system.notes for system in stated),
        )

    def of_workload(self, name: str) -> str:
        """All that is stated of a workload, in sentences."""
        return _joined(
            workload.notes for wanted in (None, name) for workload in self.workload if workload.name == wanted
        )


def _joined(texts: Iterator[str]) -> str:
    return " ".join(" ".join(texts).split())


def _name_faults(kind: str, names: list[str | None], known: Collection[str]) -> Iterator[Fault]:
    for index, name in enumerate(names):
        if name in names[:index]:
            which = f"there is a [[{kind}]] for all" if name is None else f"{kind} {name!r} is in a [[{kind}]]"
            yield Fault((kind, index, "name"), f"{which} already; join the two")
        elif name is not None and name not in known:
            yield Fault((kind, index, "name"), f"there is no {kind} {name!r}; take one of {', '.join(known)}")


def read_published(path: Path) -> PublishedSpec:
    """Reads what is said beside a table; of a study file, or one about something else, only a `[document]`.

    Raises:
        SpecError: It cannot be read or is wrong; all faults at once.
    """
    try:
        published = PublishedSpec.model_validate(_sections(read_toml(path, _BYTES_MAX, "file about a table")))
    except ValidationError as error:
        raise SpecError(*(f"{path}: {fault}" for fault in faults_of(error))) from None
    faults = [
        fault for index, claim in enumerate(published.claim) for fault in within(("claim", index), form_faults(claim))
    ]
    if faults:
        raise SpecError(*(f"{path}: {fault}" for fault in faults))
    return published


def read_kept_document(path: Path) -> PublishedSpec:
    """Reads a study's `document.toml`.

    Raises:
        SpecError: It cannot be read or is wrong; all faults at once.
    """
    published = read_published(path)
    misplaced = [kind for kind in ("system", "workload") if getattr(published, kind)]
    if misplaced:
        cure = "the recordings have that; change the file beside the table, and import into a new study"
        raise SpecError(*(f"{path}: {kind}: does not belong here: {cure}" for kind in misplaced))
    return published


def _sections(written: dict[str, Any]) -> dict[str, Any]:
    known = PublishedSpec.model_fields.keys()
    if "study" in written or not written.keys() & known:
        return {"document": written.get("document", {})}
    return written


def document_text(cover: CoverSpec, claims: Collection[ClaimSpec]) -> str:
    """The text of a study's `document.toml`, which `read_published` reads back."""
    stated = {key: text for key, text in cover.model_dump().items() if text}
    return "\n".join(("[document]", *toml_lines(stated), "", *map(claim_text, claims)))


def claim_text(claim: ClaimSpec) -> str:
    """One `[[claim]]` as it stands in a file."""
    stated = {key: value for key, value in claim.model_dump().items() if value not in (None, "")}
    return "\n".join(("[[claim]]", *toml_lines(stated), ""))
