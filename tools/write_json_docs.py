"""Writes a page and a schema for what each command prints with `--json`: every field, from the models.

`plimsoll guide --json` has a page of its own (`write_guide_docs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from write_guide_docs import documents, schema_text, section

from plimsoll.analyse.answers.answer import AbAnswer
from plimsoll.analyse.answers.compare_model import CompareAnswer
from plimsoll.analyse.answers.size_model import SizeAnswer
from plimsoll.analyse.answers.trend_model import TrendAnswer
from plimsoll.analyse.answers.trial_result import TrialResult
from plimsoll.analyse.study.capacity_model import CapacityAnswer
from plimsoll.learn.fidelity_model import Fidelity
from plimsoll.learn.report_model import DigestReport, LogReport
from plimsoll.plan.model import Plan
from plimsoll.record.document import Document
from plimsoll.record.fault_tests import DurabilityRecord, FailoverRecord
from plimsoll.record.storage import StorageRecord
from plimsoll.run.checkup import Check
from plimsoll.run.status import StudyStatus
from plimsoll.run.survey import ClientLimit


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command prints.

    Attributes:
        roots: One object of this kind; with `is_list` a list of objects of one of these kinds.
        about: What the page says before its fields.
        example: A command of which the fields are.
    """

    roots: tuple[type[Document], ...]
    about: str
    example: str
    is_list: bool = False

    @property
    def kinds(self) -> list[type[Document]]:
        """All documents in it, each once."""
        return list(dict.fromkeys(kind for root in self.roots for kind in documents(root)))

    @property
    def schema(self) -> dict[str, Any]:
        """Its schema."""
        if not self.is_list:
            return self.roots[0].model_json_schema()
        first, *others = (list[root] for root in self.roots)  # type: ignore[valid-type]  # known when this runs
        kind: Any = first
        for other in others:
            kind |= other
        return TypeAdapter(kind).json_schema()


PRINTED = {
    "ab": Printed(
        (AbAnswer,),
        "one JSON object, an [AbAnswer](#abanswer)",
        "plimsoll ab --set sync_binlog=0 --set sync_binlog=1 --json | jq '.comparisons[0].ratio'",
    ),
    "capacity": Printed(
        (CapacityAnswer,),
        "one JSON object, a [CapacityAnswer](#capacityanswer)",
        "plimsoll capacity --target managed --response-p99 20ms --json | jq '.capacity_tps, .low, .high'",
    ),
    "compare": Printed(
        (CompareAnswer,),
        "one JSON object, a [CompareAnswer](#compareanswer)",
        "plimsoll compare before after --json | jq '.verdict, .ratio, .gates'",
    ),
    "doctor": Printed(
        (Check, ClientLimit),
        "a list of [Check](#check), in the order in which it looked; with `--client` a list of"
        " [ClientLimit](#clientlimit), one for each number of connections over TCP and then over a socket",
        "plimsoll doctor --json | jq '.[].findings[] | select(.severity == \"grave\")'",
        is_list=True,
    ),
    "durability": Printed(
        (DurabilityRecord,),
        "one JSON object, a [DurabilityRecord](#durabilityrecord), which it also keeps in its folder",
        "plimsoll durability --server mariadb --json | jq '.settings[].is_kept'",
    ),
    "failover": Printed(
        (FailoverRecord,),
        "one JSON object, a [FailoverRecord](#failoverrecord), which it also keeps in its folder",
        "plimsoll failover --server mariadb --json | jq '.faults, .faults_with_loss'",
    ),
    "learn check": Printed(
        (Fidelity,),
        "one JSON object, a [Fidelity](#fidelity), which it also writes as `fidelity.json`",
        "plimsoll learn check prod --json | jq '.figures[] | select(.is_met == false)'",
    ),
    "learn digests": Printed(
        (DigestReport,),
        "one JSON object, a [DigestReport](#digestreport); it holds no name unless `--keep-names` is given",
        "plimsoll learn digests --target mysql://monitor@db1/information_schema --since before.json --json",
    ),
    "learn report": Printed(
        (LogReport,),
        "one JSON object, a [LogReport](#logreport); it holds no name unless `--keep-names` is given",
        "plimsoll learn report slow.log --json | jq '.arrivals'",
    ),
    "size": Printed(
        (SizeAnswer,),
        "one JSON object, a [SizeAnswer](#sizeanswer)",
        "plimsoll size my-study --tps 1200 --response-p99 20ms --json | jq '.fits, .grade, .tightest'",
    ),
    "storage": Printed(
        (StorageRecord,),
        "one JSON object, a [StorageRecord](#storagerecord)",
        "plimsoll storage /var/lib/mysql --json | jq '.measurements[]'",
    ),
    "study plan": Printed(
        (Plan,),
        "one JSON object, a [Plan](#plan), as `plan.json` in the folder of a study",
        "plimsoll study plan study.toml --json | jq '.estimates'",
    ),
    "study status": Printed(
        (StudyStatus,),
        "one JSON object, a [StudyStatus](#studystatus)",
        "plimsoll study status my-study --json | jq '.state, .trials'",
    ),
    "trend": Printed(
        (TrendAnswer,),
        "one JSON object, a [TrendAnswer](#trendanswer)",
        "plimsoll trend nights/2026-* --json | jq '.text, .places[].shifts'",
    ),
    "trial": Printed(
        (TrialResult,),
        "one JSON object, a [TrialResult](#trialresult); of the measured window unless it says otherwise",
        "plimsoll trial --target managed --workload oltp_read_write --json | jq '.throughput_tps, .response_ms.p99'",
    ),
}
"""By command."""

_PAGE = """\
# What {command} --json prints

Generated by `make docs` from the models in {modules}.

`plimsoll {command} --json` prints {about}. The text without `--json` is made from the same.
[{name}.schema.json]({name}.schema.json) says this as a JSON Schema. Fields keep their names, units and meanings;
there may be more of them at any time. Names end in their unit; null stands for what is not known, and never for zero.

```console
$ {example}
```
"""


def file_name(command: str) -> str:
    """Of its page and its schema, without what ends them."""
    return command.replace(" ", "-")


def _page(command: str) -> str:
    one = PRINTED[command]
    modules = dict.fromkeys(f"`python/{root.__module__.replace('.', '/')}.py`" for root in one.roots)
    text = _PAGE.format(
        command=command, name=file_name(command), modules=" and ".join(modules), about=one.about, example=one.example
    )
    return "\n".join([text, *map(section, one.kinds)])


def _schema(command: str) -> str:
    return schema_text(PRINTED[command].schema)


def _later(text_of: Callable[[str], str], command: str) -> Callable[[], str]:
    return lambda: text_of(command)


JSON_PAGES: dict[str, Callable[[], str]] = {
    **{f"docs/{file_name(command)}-json.md": _later(_page, command) for command in PRINTED},
    **{f"docs/{file_name(command)}.schema.json": _later(_schema, command) for command in PRINTED},
}
"""Every file with what makes its text."""
