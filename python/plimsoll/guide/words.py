"""Sentences of a guide that follow from single values of an analysis, and text from files of others made harmless.

A finding comes with what its sentence may look up in the analysis. Deliberately not here: the answer and limitations
(`answer`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from plimsoll.analyse.findings.doubts import Evidence, PlacedWarning
from plimsoll.analyse.findings.finding_model import Finding
from plimsoll.analyse.model import Analysis, Difference, SystemSummary, Unknown, WorkloadSummary
from plimsoll.analyse.study.curve_model import Curve
from plimsoll.analyse.study.ratio_model import Ratio
from plimsoll.analyse.study.throughput import REPETITIONS_NEEDED
from plimsoll.guide.tables import NOT_KNOWN
from plimsoll.prose.phrases import factor_name, factor_value, levels_words
from plimsoll.prose.ratios import effect, verdict_words
from plimsoll.record.document import Document
from plimsoll.wording import capitalised


@dataclass(frozen=True, slots=True)
class FindingContext:
    """A finding with what its sentence may look up."""

    finding: Finding
    analysis: Analysis

    @property
    def figures(self) -> Mapping[str, Any]:
        """The figures, by name."""
        return self.finding.known

    @property
    def unit(self) -> str:
        """In which throughput is shown."""
        known = {workload.name: workload.rate_unit for workload in self.analysis.workloads}
        return known.get(self.finding.workload or "", "tps")

    def curve(self, system: str, workload: str | None) -> Curve:
        """The curve of a system where clients go at their own pace."""
        return next(
            curve
            for curve in self.analysis.curves
            if (curve.system, curve.workload) == (system, workload) and not curve.kind.is_at_rate
        )


WHOLE_STUDY = "whole study"

_LEVELS_NAMED_MAX = 4
"""A warning that is about more levels counts them."""

_OWN_WORDS = ("name", "reason", "roles")
"""Figures of evidence that hold words of ours, not names that somebody gave."""

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
DocumentT = TypeVar("DocumentT", bound=Document)

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean(text: str) -> str:
    """Text that cannot steer a terminal or turn the direction of what follows: names come from files of others.

    Control characters become U+FFFD, except line feed and tab.
    """
    if text.isprintable():
        return text  # nearly always: it would be false of every character that steers
    return "".join("\ufffd" if _steers(character) else character for character in text)


def cleaned(analysis: Analysis) -> Analysis:
    """The same analysis with all its texts cleaned. Series, its largest part, hold numbers and words of our own."""
    named = ("trial_id", "system", "workload")
    trials = tuple(_with(trial, {name: _cleaned(getattr(trial, name)) for name in named}) for trial in analysis.trials)
    others = [name for name in Analysis.model_fields if name != "trials"]
    return _with(analysis, {**{name: _cleaned(getattr(analysis, name)) for name in others}, "trials": trials})


def _cleaned(value: Any) -> Any:
    """A value with its texts cleaned; itself where nothing changes, which is nearly always."""
    if isinstance(value, str):
        text = value if isinstance(value, Enum) else clean(value)
        return value if text == value else text
    if isinstance(value, Document):
        return _with(value, {name: _cleaned(getattr(value, name)) for name in type(value).model_fields})
    if isinstance(value, dict):
        items = {_cleaned(key): _cleaned(item) for key, item in value.items()}
        same = all(key in value and items[key] is value[key] for key in items)
        return value if same else items
    if isinstance(value, tuple):
        parts = tuple(map(_cleaned, value))
        return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    return value


def _with(document: DocumentT, values: Mapping[str, Any]) -> DocumentT:
    changed = {name: value for name, value in values.items() if value is not getattr(document, name)}
    return document.model_copy(update=changed) if changed else document


def difference_verdict(difference: Difference) -> str:
    """What a comparison of two systems shows, for a table; rounds of a duet and blocks of environments are repeated."""
    return _verdict(difference, difference, f"{difference.system} is ")


def response_verdict(difference: Difference) -> str:
    """The same of their response times; in its row the systems are named before."""
    return NOT_KNOWN if difference.response is None else _verdict(difference, difference.response, "")


def _verdict(difference: Difference, ratio: Ratio, begin: str) -> str:
    untestable = "no confidence interval" if difference.blocks is None else "an environment was measured only once"
    unit = "block" if difference.blocks is not None else "repetition" if difference.duet is None else "round"
    return verdict_words(ratio, f"{begin}faster", f"{begin}slower", untestable=untestable, unit=unit)


def effect_words(ratio: Ratio) -> str:
    """The minimum detectable effect."""
    return NOT_KNOWN if ratio.smallest_effect is None else effect(ratio.smallest_effect)


def other_factor_words(difference: Difference) -> str:
    """What else differs between the two, and what may, as name and both values."""
    factors = (*difference.other_factors, *difference.one_sided_factors)
    return "; ".join(
        f"{factor_name(name)}: {_stated(name, base)} → {_stated(name, system)}" for name, base, system in factors
    )


def _stated(name: str, value: str | None) -> str:
    return "not known" if value is None else factor_value(name, value)


def place_words(placed: PlacedWarning, analysis: Analysis) -> str:
    """What a warning is about; what holds for all systems, workloads or levels does not list them."""
    parts = [
        _some(placed.systems, {system.name for system in analysis.systems}, "all systems"),
        _some(placed.workloads, {workload.name for workload in analysis.workloads}, "all workloads"),
    ]
    for at_rate, every in ((False, "all levels"), (True, "all target rates")):
        measured = {cell.level.order for curve in analysis.curves for cell in curve.cells}
        measured = {order for order in measured if order[0] is at_rate}
        levels = [level for level in placed.levels if level.kind.is_at_rate is at_rate]
        is_every = len(measured) > 1 and measured <= {level.order for level in levels}
        few = (
            levels_words(levels) if len(levels) <= _LEVELS_NAMED_MAX else f"{len(levels)} {every.removeprefix('all ')}"
        )
        parts.append(every if is_every else few)
    return " · ".join(part for part in parts if part) or WHOLE_STUDY


def evidence_sentence(placed: PlacedWarning, systems: Iterable[str] = ()) -> str:
    """The strongest evidence, and of how many findings it is that.

    Args:
        placed: The warning.
        systems: Names of the study's systems, which stay as they are where the evidence begins with one.
    """
    texts = list(dict.fromkeys(evidence.text for evidence in placed.evidence))
    rest = f" (and {len(texts) - 1} more, of other {_elsewhere(placed)})" if len(texts) > 1 else ""
    return sentence(f"{texts[0].rstrip('.')}{rest}", (*systems, *placed.systems, *_names(placed.evidence[0])))


def _elsewhere(placed: PlacedWarning) -> str:
    """Where evidence with other words or figures is from."""
    places = {"systems": placed.systems, "workloads": placed.workloads, "levels": placed.levels}
    *others, last = (*(name for name, several in places.items() if len(several) > 1), "trials")
    return f"{', '.join(others)} or {last}" if others else last


def _names(evidence: Evidence) -> Iterator[str]:
    """Whatever the figures of some evidence name; a reason, and what drifts, are words of ours."""
    return (value for key, value in evidence.figures.items() if isinstance(value, str) and key not in _OWN_WORDS)


def advice_of(placed: PlacedWarning) -> str:
    """What to do about a warning."""
    return sentence(placed.advice)


def sentence(text: str, names: Iterable[str] = ()) -> str:
    """A remark as a sentence: with a capital, unless it begins with a name, and with an end.

    Args:
        text: The remark.
        names: With which it may begin, where these can be ordinary words.

    >>> sentence("there is one trial"), sentence("innodb_io_capacity differs.")
    ('There is one trial.', 'innodb_io_capacity differs.')
    """
    text = text.strip()
    first = text.split(" ", 1)[0]
    if first.isalpha() and first.islower():
        text = capitalised(text, names)
    return text if not text or text[-1] in ".!?…" else f"{text}."


def workload_words(workload: WorkloadSummary) -> str:
    """What clients did; empty when the source does not say."""
    options = ", ".join(f"{name} {_option(value)}" for name, value in workload.options.items())
    parts = (workload.kind, options, _types_words(workload.types), _working_set_words(workload.working_set))
    known = "; ".join(part for part in parts if part)
    stated = f"Stated by the authors: {workload.reported}" if workload.reported else ""
    return ". ".join(part for part in (known, stated) if part)


def _option(value: str) -> str:
    """A value as people read it: whole numbers with separators."""
    return f"{int(value):,}" if value.isdecimal() else value


def _types_words(types: Mapping[str, float]) -> str:
    """Which transactions completed, the most frequent first; nothing where there is one type only.

    >>> _types_words({"look": 0.9, "transfer": 0.1})
    'of the transactions 90.0 % were look, 10.0 % transfer'
    """
    shares = [f"{share:.1%}".replace("%", " %") for share in types.values()]
    listed = ", ".join(
        f"{share} {'were ' if index == 0 else ''}{name}"
        for index, (share, name) in enumerate(zip(shares, types, strict=True))
    )
    return f"of the transactions {listed}" if listed else ""


def _working_set_words(working_set: Mapping[str, int]) -> str:
    """How the accesses spread over the rows; nothing where each row is as likely as any other.

    >>> _working_set_words({"50": 4_900, "90": 220_000, "99": 360_000})
    'half of the accesses go to 4,900 rows, 90 % to 220,000 rows, 99 % to 360,000 rows'
    """
    half, most = working_set.get("50"), working_set.get("99")
    if half is None or most is None or half * 99 > most * 45:
        return ""
    shares = {"50": "half of the accesses go to", "90": "90 % to", "99": "99 % to"}
    return ", ".join(f"{shares[share]} {count:,} rows" for share, count in working_set.items() if share in shares)


_UNKNOWN = {
    Unknown.RESPONSE_P99: "response times at the 99th percentile",
    Unknown.PROCESSORS: "processor utilisation",
    Unknown.INTERVALS_OF_SINGLE_FIGURES: "confidence intervals, because there is one figure for each level",
    Unknown.INTERVALS_OF_FEW_REPETITIONS: (
        f"confidence intervals, because there are fewer than {REPETITIONS_NEEDED} repetitions"
    ),
    Unknown.INTERVALS: "some confidence intervals",
    Unknown.CORES: "number of processor cores",
    Unknown.SETTINGS: "effective server settings",
}


def unknown_words(system: SystemSummary) -> str:
    """What the recordings of a system do not say."""
    return "; ".join(_UNKNOWN[fact] for fact in system.unknown)


def unknown_sentences(systems: Iterable[SystemSummary]) -> tuple[str, ...]:
    """What the recordings of some systems do not say, one sentence for all systems that lack the same."""
    everyone = list(systems)
    groups = grouped([system for system in everyone if system.unknown], unknown_words)
    return tuple(f"Not known for {_name_systems(group, len(everyone))}: {unknown}." for unknown, group in groups)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> list[tuple[Key, list[Item]]]:
    """Items with the same key together, in the order in which keys first occur."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())


def _name_systems(systems: Sequence[SystemSummary], total: int) -> str:
    if len(systems) == total and total > 1:
        return "any system"
    return "; ".join(system.name for system in systems)


def _some(names: Sequence[str], every: set[str], all_of_them: str) -> str:
    return all_of_them if len(every) > 1 and every <= set(names) else "; ".join(names)


def _steers(character: str) -> bool:
    if character in "\n\t":
        return False
    return character in _BIDI or unicodedata.category(character) in ("Cc", "Cs")


_SPECIAL = re.compile(r"([\\`*\[\]|~]|(?<!\w)_|_(?!\w)|^[#+=-]+(?=\s|$)|^\d+(?=[.)](?:\s|$)))")


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is, in one line.

    >>> escape_markdown("a|b <c> innodb_flush *d*")
    'a\\|b &lt;c&gt; innodb_flush \\*d\\*'
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)
