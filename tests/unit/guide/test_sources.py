"""Figures lead to their recordings."""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll.analyse.trial.trial_model import TrialOutage
from plimsoll.guide.content import describe
from plimsoll.guide.files import write_guide
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.sources import sources_of
from plimsoll.guide.trials import outage_table
from support.analyses import measured_analysis


def test_every_figure_of_a_cell_is_a_link_to_its_recordings() -> None:
    content = describe(measured_analysis())
    trials = {trial.trial_id for trial in measured_analysis().trials}
    tables = [table for page in content.pages for table in page.tables]
    figures = [entry for table in tables for row in table.rows for entry in row[1:] if entry.text != "–"]
    assert figures
    assert all(entry.source in trials for entry in figures)
    page = render_html(measured_analysis())
    assert all(f'id="recording-{trial}"' in page for trial in trials)


def test_a_comparison_leads_to_both_peaks() -> None:
    analysis = measured_analysis()
    comparison = next(one for one in analysis.answer if one.code == "comparison")
    assert [source.label for source in sources_of(comparison, analysis)] == [
        "durable, 4 connections",
        "relaxed, 4 connections",
    ]


def test_without_known_recordings_there_are_no_links() -> None:
    analysis = measured_analysis().model_copy(update={"trials": ()})
    page = render_html(analysis)
    assert 'href="#recording-' not in page
    assert "None: no figure rests on a recording." in page


def test_links_are_relative_to_the_guide_wherever_it_is_written(tmp_path: Path) -> None:
    analysis = measured_analysis()
    study = tmp_path / "a study"
    for to, prefix in ((study, ""), (tmp_path / "to", "../a%20study/"), (study / "guides", "../")):
        html, markdown, _ = write_guide(analysis, to, study)
        text = html.read_text(encoding="utf-8")
        found = re.findall(r'href="([^"#]+/160f1245/)"', text)
        assert found == [f"{prefix}recordings/160f1245/"]
        assert f"]({prefix}recordings/160f1245/)" in markdown.read_text(encoding="utf-8")


def test_markdown_lists_recordings_with_their_figures() -> None:
    text = render_markdown(measured_analysis())
    assert "| [160f1245](recordings/160f1245/) | durable | read-write | 16 connections | 1 | 1,208 tps |" in text


def test_figures_and_sentences_of_markdown_lead_to_recordings() -> None:
    text = render_markdown(measured_analysis())
    defined = dict(re.findall(r"^\[(r\d+)\]: (\S+)$", text, flags=re.MULTILINE))
    used = re.findall(r"\[([^\]]+)\]\[(r\d+)\]", text)
    short = re.findall(r" \[(r\d+)\](?!:)", text)
    assert {name for _, name in used} | set(short) == set(defined)
    assert {defined[name] for shown, name in used if shown == "1,245"} == {"recordings/160f1245/"}
    assert {defined[name] for shown, name in used if shown == "relaxed, 16 connections"} == {"recordings/160f1712/"}


def test_markdown_names_every_repetition_once_in_a_row() -> None:
    text = render_markdown(measured_analysis())
    defined = dict(re.findall(r"^\[(r\d+)\]: recordings/(\S+)/$", text, flags=re.MULTILINE))
    (row,) = [line for line in text.splitlines() if line.startswith("| 16 |") and "[1,245]" in line]
    first, *others = re.search(r"\[1,245\]\[(r\d+)\][^|]*? \[(r\d+)\] \[(r\d+)\] \|", row).groups()  # type: ignore[union-attr]
    assert [defined[name] for name in (first, *others)] == ["160f1245", "161f1245", "162f1245"]
    assert all(row.count(f" [{name}]") == 1 for name in others)
    sentence = next(line for line in text.splitlines() if "(recordings: " in line)
    assert re.search(r"\]\[r\d+\] \[r\d+\] \[r\d+\]", sentence)


def test_an_outage_leads_to_the_recording_in_which_it_was_seen() -> None:
    analysis = measured_analysis()
    trial = next(trial for trial in analysis.trials if trial.repetition == 1)
    outage = TrialOutage(
        system=trial.system,
        workload=trial.workload,
        level=trial.level,
        repetition=1,
        instance="a",
        from_s=3.0,
        length_s=2.0,
        is_over=True,
        is_measured=True,
        connections_count=4,
        lost_count=1,
    )
    table = outage_table(analysis.model_copy(update={"outages": (outage,), "outages_count": 1}))
    assert table is not None
    assert [entry.source for entry in table.rows[0]] == [None] * 4 + [trial.trial_id] * 2 + [None] * 3


def test_a_warning_leads_to_the_recordings_in_which_it_was_seen() -> None:
    analysis = measured_analysis()
    trials = tuple(trial.trial_id for trial in analysis.trials)
    warning = analysis.warnings[0].model_copy(update={"trials": trials})
    analysis = analysis.model_copy(update={"warnings": (warning,)})
    (part,) = describe(analysis).warnings
    assert [source.trial_id for source in part.sources] == list(trials[:6])
    assert part.more_sources_count == len(trials) - 6
    page = render_html(analysis)
    assert f"and {len(trials) - 6} more" in page
    assert '<a href="#warning-1">' in page
    assert 'id="warning-1"' in page
