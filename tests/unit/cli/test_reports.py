"""What commands show of a report and what they write: files have the page that may be shared, the terminal its own."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from plimsoll.cli.learn import Report, show_and_write
from plimsoll.guide.html import Page


def page(title: str) -> Page:
    return Page(brand="Report", title=title, facts=(), doubts=(), sections=())


REPORT = Report(shown=page("of customers"), page=page("of t1"), document='{"of": "t1"}')


def test_files_have_the_page_without_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_and_write(REPORT, tmp_path / "new", as_json=False)
    assert capsys.readouterr() == (f"of customers\nReport: {tmp_path}/new/report.html\n", "")
    texts = {path.name: path.read_text() for path in (tmp_path / "new").iterdir()}
    assert set(texts) == {"report.html", "report.md", "report.json"}
    assert all("of t1" in text or text == '{"of": "t1"}\n' for text in texts.values())
    assert not any("customers" in text for text in texts.values())


def test_files_and_a_new_folder_are_private_until_they_are_shared(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.parent.chmod(0o755)
    for _ in range(2):
        show_and_write(REPORT, folder, as_json=False)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        (folder / "report.html").chmod(0o644)
    show_and_write(REPORT, folder.parent, as_json=False)
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o755, "a folder of the user's keeps its mode"


def test_json_has_standard_output_to_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_and_write(REPORT, tmp_path, as_json=True)
    assert capsys.readouterr() == ('{"of": "t1"}\n', f"Report: {tmp_path}/report.html\n")


def test_without_a_folder_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    show_and_write(REPORT, None, as_json=False)
    assert capsys.readouterr() == ("of customers\n", "")


def test_a_report_has_its_own_name_and_further_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = Report(
        shown=page("x"),
        page=page("x"),
        document="{}",
        name="fidelity",
        what="comparison",
        more={"more.toml": "a = 1\n"},
    )
    show_and_write(named, tmp_path, as_json=False)
    assert capsys.readouterr().out.endswith(f"Comparison: {tmp_path}/fidelity.html\n")
    names = {"fidelity.html", "fidelity.md", "fidelity.json", "more.toml"}
    assert {path.name for path in tmp_path.iterdir()} == names
