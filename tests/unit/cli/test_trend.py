"""`plimsoll trend`: folders of studies, exit codes, JSON, Markdown, the page, JUnit XML, exports for other tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner, Result

from plimsoll.cli.main import command_line
from plimsoll.record.model import Outcome, State, StateMark, Verdict
from plimsoll.record.store import write_recording
from support.made import measured
from support.repository import ROOT
from unit.cli.test_compare_capacities import search

DAY_S = 86_400.0
STUDIES = 24


def write_night(folder: Path, day: int, tps: float, outcome: Outcome | None = None) -> Path:
    """A study of two repetitions at one level, of a commit."""
    random = np.random.default_rng(day)
    for repetition in range(2):
        made = measured(
            tps * random.normal(1, 0.005) * random.normal(1, 0.02, 12),
            response_ns=(np.arange(1, 501) * 10_000).astype(int),
            repetition=repetition,
            labels={"commit": f"c{day:02d}", "version": f"1.{day}"},
            states=(StateMark(state=State.MEASURE, began_unix_s=DAY_S * (day + 1) + repetition),),
        )
        write_recording(folder, made.trial, made.environment, outcome or made.outcome, **made.tables)
    return folder


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The last four of 24 nights are 20 % slower."""
    root, random = tmp_path_factory.mktemp("nights"), np.random.default_rng(5)
    tps = 1000 * np.exp(random.normal(0, 0.005, STUDIES)) * np.where(np.arange(STUDIES) >= STUDIES - 4, 0.8, 1.0)
    return [write_night(root / f"night-{day:02d}", day, float(tps[day])) for day in range(STUDIES)]


def trend(*arguments: object) -> Result:
    return CliRunner().invoke(command_line("trend"), ["trend", *map(str, arguments)], env={"COLUMNS": "160"})


def test_the_gate_and_its_exit_codes(nights: list[Path]) -> None:
    assert trend(*nights).exit_code == 0, "without a rule nothing fails"
    failed = trend(*nights, "--fail-if", "slower:5%")
    assert failed.exit_code == 1
    assert failed.stdout.startswith("Regression (throughput of the newest studies more than 5.0 % lower")
    assert trend(*nights[:20], "--fail-if", "slower:5%").exit_code == 0
    open_rule = trend(*nights[:3], "--fail-if", "slower:5%")
    assert (open_rule.exit_code, "warning: undecided" in open_rule.stderr) == (7, True)
    assert trend(*nights[:3], "--fail-if", "slower:5%", "--pass-if", "undecided").exit_code == 0
    assert trend(*nights[:3], "--fail-if", "slower:5%", "--fail-if", "undecided").exit_code == 1


def test_json_follows_its_schema_and_names_the_commit(nights: list[Path]) -> None:
    ran = trend(*nights, "--json", "--fail-if", "p99:10%")
    answer = json.loads(ran.stdout)
    jsonschema.validate(answer, json.loads((ROOT / "docs" / "trend.schema.json").read_text()))
    assert [study["labels"]["commit"] for study in answer["studies"]] == [f"c{day:02d}" for day in range(STUDIES)]
    assert [study["name"] for study in answer["studies"]] == [str(night) for night in nights]
    throughput, p99 = answer["places"]
    assert (throughput["metric"], p99["metric"]) == ("throughput", "p99")
    assert len(throughput["points"]) == STUDIES
    assert "20." in answer["text"] or "19." in answer["text"]


def test_markdown_and_a_page_with_charts(nights: list[Path], tmp_path: Path) -> None:
    ran = trend(*nights, "--markdown", "--html", tmp_path / "trend.html")
    assert ran.stdout.startswith("**")
    assert "| place | metric | now |" in ran.stdout
    page = (tmp_path / "trend.html").read_text()
    assert page.count("<svg") >= 4, "two charts, wide and narrow"
    assert "commit c20" in page


def test_labels_order_studies_and_names_are_told(nights: list[Path]) -> None:
    ordered = json.loads(trend(*nights[::-1], "--order-by", "version", "--json").stdout)
    assert [study["labels"]["version"] for study in ordered["studies"]] == [f"1.{day}" for day in range(STUDIES)]
    assert "has no label 'branch'" in _fault(*nights, "--order-by", "branch")


def _fault(*arguments: object) -> str:
    ran = trend(*arguments)
    assert ran.exception is not None
    return str(ran.exception)


def test_what_makes_no_sense_is_refused(nights: list[Path], tmp_path: Path) -> None:
    assert "at least two studies" in _fault(nights[0])
    assert "is named twice" in _fault(nights[0], nights[0])
    for twice in ((nights[0], f"{nights[0]}:a"), (f"{nights[0]}:a", nights[0]), (f"{nights[0]}:a", f"{nights[0]}:a")):
        assert "is named twice" in _fault(*twice, nights[1])
    assert "--junit: needs a rule" in _fault(*nights, "--junit", tmp_path / "x.xml")
    assert "--json and --markdown" in _fault(*nights, "--json", "--markdown")
    assert "no trial has been recorded" in _fault(nights[0], tmp_path)


ORDER = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase", "system-out", "system-err"],
    "properties": ["property"],
    "testcase": ["skipped", "error", "failure", "system-out", "system-err"],
}
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped"},
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "error": {"type", "message"},
    "failure": {"type", "message"},
}
"""What both schemas of Jenkins (junit-4 and junit-10) allow, children in the order of the older one."""


def check_junit(path: Path) -> ElementTree.Element:
    """The file against that; numbers are those of its cases."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= ATTRIBUTES.get(element.tag, set()), element.tag
        tags = [child.tag for child in element]
        allowed = ORDER.get(element.tag, [])
        assert set(tags) <= set(allowed)
        assert tags == sorted(tags, key=allowed.index)
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[name]) == len(suite.findall(f"testcase/{tag}"))
    return root


def test_junit_says_what_the_exit_code_says(nights: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "trend.xml"
    rules = ("--fail-if", "slower:5%", "--junit", file)
    assert trend(*nights, *rules).exit_code == 1
    (failure,) = check_junit(file).iter("failure")
    assert failure.attrib["type"] == "regression"
    assert trend(*nights[:20], *rules).exit_code == 0
    passed = check_junit(file)
    assert (passed.attrib["failures"], passed.attrib["errors"]) == ("0", "0")
    assert "No regression" in (passed.findtext(".//system-out") or "")
    for more, tag in (((), "error"), (("--pass-if", "undecided"), "skipped"), (("--fail-if", "undecided"), "failure")):
        trend(*nights[:3], *rules, *more)
        (case,) = check_junit(file).iter("testcase")
        assert [child.tag for child in case] == [tag]
        assert "ndecided" in ElementTree.tostring(case, encoding="unicode")


def export(*arguments: object) -> Result:
    return CliRunner().invoke(command_line("export"), ["export", *map(str, arguments)])


def test_a_night_without_a_complete_trial_is_left_out_and_decides_nothing_if_it_is_the_newest(
    nights: list[Path], tmp_path: Path
) -> None:
    failed = {
        day: write_night(tmp_path / f"failed-{day}", day, 1000.0, Outcome(verdict=Verdict.FAILED, reason="no disk"))
        for day in (9, STUDIES)
    }
    rules = ("--fail-if", "slower:5%", "--junit", tmp_path / "trend.xml")
    amid = trend(*nights[:9], failed[9], *nights[10:20], *rules)
    assert amid.exit_code == 0, amid.output
    assert f"no trial is complete: {failed[9]}" in amid.stdout.replace("\n", "")
    newest = trend(failed[STUDIES], *nights[:20], *rules)
    assert newest.exit_code == 7, newest.output
    (error,) = check_junit(tmp_path / "trend.xml").iter("error")
    assert error.attrib["type"] == "undecided"
    assert "No trial of the newest study is complete" in (tmp_path / "trend.xml").read_text()
    assert "no trial is complete; run the study again" in _fault(*failed.values())


def test_a_history_as_otava_reads_it(nights: list[Path], tmp_path: Path) -> None:
    ran = export("otava", *nights, "--to", tmp_path / "nights.csv")
    assert ran.exit_code == 0, ran.output
    header, *rows = csv.reader((tmp_path / "nights.csv").read_text().splitlines())
    assert header[:4] == ["time", "study", "commit", "version"]
    assert header[4:] == ["read-write_4_connections_tps", "read-write_4_connections_p99_ms"]
    assert len(rows) == STUDIES
    assert rows[0][0].startswith("1970-01-02T00:00:00")
    assert float(rows[-1][4]) < 0.9 * float(rows[0][4])


def test_a_study_in_bencher_metric_format(nights: list[Path], tmp_path: Path) -> None:
    ran = export("bencher", nights[0], "--to", tmp_path / "bencher.json")
    assert ran.exit_code == 0, ran.output
    ((name, measures),) = json.loads((tmp_path / "bencher.json").read_text()).items()
    assert name == "a / read-write / 4 connections"
    throughput = measures["throughput"]
    assert throughput["lower_value"] < throughput["value"] < throughput["upper_value"]
    assert measures["p99"]["value"] == pytest.approx(4.95, rel=0.02)


def test_capacities_are_places_of_their_own(tmp_path: Path) -> None:
    tps = (1000.0, 1004.0, 997.0, 1001.0, 999.0, 1003.0, 998.0, 800.0)
    nights = [search(tmp_path / f"n{day}", [value], unix_s=DAY_S * (day + 1)) for day, value in enumerate(tps)]
    ran = trend(*nights, "--fail-if", "slower:5%", "--json")
    assert ran.exit_code == 1, ran.output
    answer = json.loads(ran.stdout)
    capacity = answer["places"][-1]
    assert (capacity["level"], capacity["objective"]["response_ms_p99"]) == (None, 20.0)
    assert [point["value"]["value"] for point in capacity["points"]] == pytest.approx(list(tps))
    assert answer["gates"][0]["failed_at"] == [["read-write", "capacity at p99 20.0 ms"]]
    assert "capacity of the newest study is 20.0 % lower" in answer["text"]
