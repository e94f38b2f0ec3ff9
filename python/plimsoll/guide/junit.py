"""What became of the rules of `--fail-if`, as JUnit XML: for pipelines that show test cases.

A suite is a rule, a test case a place: a workload and level. A case says what the exit code says. An established
regression is a failure. What is undecided is an error, because the test came to no end and the command ends with exit
code 7; with `--fail-if undecided` it is a failure, and with `--pass-if undecided` it is skipped. What to know before
relying on a case stands in its text, whatever became of it: how conditions differ, what was disturbed or left out.

The format is what Jenkins reads (its `junit-4` and `junit-10` schemas), Surefire's apart from durations: nothing ran
here, so every `time` is 0. Deliberately not here: the rules (`plimsoll.analyse.answers.compare_verdicts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from plimsoll import __version__
from plimsoll.analyse.answers.compare_model import CompareAnswer, GateResult, Metric
from plimsoll.analyse.answers.trend_model import TrendAnswer
from plimsoll.guide.compare import gate_words, sentences
from plimsoll.guide.trend import sentences as trend_sentences
from plimsoll.guide.trend import trend_gate_words
from plimsoll.units import format_percent

FAILS, PASSES = 1, 0
"""Exit codes of an undecided rule, where the user says what it means."""

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Suites:
    """What a file is made of.

    Attributes:
        command: Which compared.
        gates: What became of each rule.
        words: The same in words.
        known: What to know of all of them: the answer first.
        if_undecided: The exit code where a rule is undecided.
    """

    command: str
    gates: Sequence[GateResult]
    words: Callable[[GateResult], str]
    known: Sequence[str]
    if_undecided: int


def compare_junit(answer: CompareAnswer, if_undecided: int) -> str:
    """The rules of `plimsoll compare` as the text of an XML file.

    Args:
        answer: With its rules.
        if_undecided: The exit code where one of them is undecided.
    """
    return _text(
        _Suites("compare", answer.gates, lambda gate: gate_words(gate, answer), sentences(answer), if_undecided)
    )


def trend_junit(answer: TrendAnswer, if_undecided: int) -> str:
    """The same of `plimsoll trend`."""
    known = trend_sentences(answer)
    return _text(_Suites("trend", answer.gates, trend_gate_words, known, if_undecided))


def _text(suites: _Suites) -> str:
    root = Element("testsuites", name=f"plimsoll {suites.command}")
    for gate in suites.gates:
        root.append(_suite(gate, suites))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", "0")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(gate: GateResult, suites: _Suites) -> Element:
    worse = "higher" if gate.metric is Metric.P99 else "lower"
    suite = Element("testsuite", name=f"{gate.metric.value} at most {format_percent(gate.limit)} {worse}")
    properties = SubElement(suite, "properties")
    for name, value in (("plimsoll", __version__), ("rule", suite.get("name", "")), ("outcome", gate.outcome.value)):
        SubElement(properties, "property", name=name, value=value)
    suite.extend(_cases(gate, suites))
    counts = {
        name: sum(case.find(tag) is not None for case in suite.iter("testcase"))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, count in counts.items():
        suite.set(name, str(count))
    suite.set("time", "0")
    return suite


def _cases(gate: GateResult, suites: _Suites) -> Iterator[Element]:
    open_at: Iterable[Place] = gate.open_at if gate.places_count else [("", "")]
    words = suites.words(gate)
    for place in gate.failed_at:
        yield _case(place, suites, "failure", words, "regression")
    undecided = {FAILS: "failure", PASSES: "skipped"}.get(suites.if_undecided, "error")
    for place in open_at:
        yield _case(place, suites, undecided, "neither a regression nor its absence is established", "undecided")
    for place in gate.passed_at:
        yield _case(place, suites, None, "", "")


def _case(place: Place, suites: _Suites, tag: str | None, message: str, kind: str) -> Element:
    workload, level = place
    classname = f"plimsoll.{suites.command}.{workload or 'all'}"
    case = Element("testcase", classname=_valid(classname), name=_valid(level or "all together"), time="0")
    known = _valid("\n".join(suites.known))
    if tag is None:
        SubElement(case, "system-out").text = known
    elif tag == "skipped":  # the older schema lets it have text only
        SubElement(case, tag).text = _valid(f"{kind}: {message}\n{known}")
    else:
        SubElement(case, tag, message=_valid(message), type=kind).text = known
    return case


_INVALID = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def _valid(text: str) -> str:
    """Text without characters that XML does not have."""
    return _INVALID.sub("\ufffd", text)
