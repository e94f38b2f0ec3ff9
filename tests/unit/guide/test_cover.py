"""What a guide says of itself, and what the authors of an import say: on its page, in its files, and where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.analyse.model import Cover
from plimsoll.guide.build import analyse_folder
from plimsoll.guide.claims import claims_section
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.terminal import render_terminal
from plimsoll.record.store import read_study
from support.analyses import measured_analysis
from support.command import assert_one_clear_message, plimsoll
from support.printed import printed

COVER = Cover(
    title="Which database server to buy",
    author="A. Author",
    organisation="Example Ltd.",
    audience="the head of operations",
    summary="Six servers were measured.\nTwo are enough.",
    confidential="Internal use only",
)
TABLE = "system,connections,throughput_tps\na,1,100\na,2,150\n"


def test_page_markdown_and_terminal_show_it() -> None:
    analysis = measured_analysis().model_copy(update={"document": COVER})
    page = render_html(analysis)
    assert "<h1>Which database server to buy</h1>" in page
    assert "Sizing guide: Which database server to buy</title>" in page
    for text in (page, render_markdown(analysis), printed(render_terminal(analysis), width=200)):
        for shown in (
            "the head of operations",
            "A. Author, Example Ltd.",
            "Six servers were measured",
            COVER.confidential,
        ):
            assert shown in text


def test_without_it_a_guide_is_as_it_was() -> None:
    analysis = measured_analysis()
    assert "<h1>demo</h1>" in render_html(analysis)
    assert 'class="summary"' not in render_html(analysis)
    assert "Internal" not in render_markdown(analysis)


def test_hostile_text_stays_text() -> None:
    hostile = Cover(**dict.fromkeys(Cover.model_fields, "</style><script>alert(1)</script>"))
    page = render_html(measured_analysis().model_copy(update={"document": hostile}))
    assert "<script>alert" not in page
    assert "</style><script" not in page


def test_a_file_beside_a_table_is_kept_and_may_be_changed(tmp_path: Path) -> None:
    table, beside, study = tmp_path / "t.csv", tmp_path / "t.toml", tmp_path / "study"
    table.write_text(TABLE)
    beside.write_text('[document]\ntitle = "Two servers"\n')
    assert plimsoll("import", "table", table, "--to", study, "--workload", "orders").returncode == 0
    assert analyse_folder(study).document == Cover(title="Two servers")
    (study / "document.toml").write_text('[document]\ntitle = "Mine"\n')
    assert plimsoll("import", "table", table, "--to", study, "--workload", "orders").returncode == 0
    assert analyse_folder(study).document == Cover(title="Mine")
    (study / "document.toml").write_text("[document]\ntitle = 1\n")
    assert_one_clear_message(plimsoll("guide", study), 2, "document.toml: document.title: must be text, is 1")


def test_a_wrong_file_beside_a_table_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "t.toml").write_text('[document]\nautor = "x"\n')
    ran = plimsoll("import", "table", tmp_path / "t.csv", "--to", tmp_path / "study", "--workload", "orders")
    assert_one_clear_message(ran, 2, "t.toml: document.autor: is not a known key")
    assert not (tmp_path / "study").exists()


def test_a_logo_beside_a_table_comes_with_it_and_one_that_is_gone_costs_no_guide(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "t.toml").write_text('[document]\nlogo = "own.svg"\n')
    words = ("import", "table", tmp_path / "t.csv", "--to", tmp_path / "study", "--workload", "orders")
    assert_one_clear_message(plimsoll(*words), 2, "document.logo: ", "own.svg: No such file")
    assert not (tmp_path / "study").exists()
    (tmp_path / "own.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    assert plimsoll(*words).returncode == 0
    (tmp_path / "own.svg").unlink()
    page = render_html(analyse_folder(tmp_path / "study"))
    assert '<img class="logo" alt="" src="data:image/svg+xml;base64,' in page
    assert "alert(1)" not in page
    (tmp_path / "study" / "own.svg").unlink()
    shown = plimsoll("guide", tmp_path / "study")
    assert (shown.returncode, "the guide shows no logo" in shown.stderr) == (0, True)


@pytest.mark.parametrize("table", [".", "/", f"{'a' * 251}.csv"])
def test_what_is_no_table_is_refused_as_before(table: str, tmp_path: Path) -> None:
    assert plimsoll("import", "table", table, "--to", tmp_path / "study").returncode == 2


def test_a_table_may_have_any_ending(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(TABLE)
    ran = plimsoll("import", "table", tmp_path / "own.toml", "--to", tmp_path / "study", "--workload", "orders")
    assert ran.returncode == 0, ran.stderr


def test_a_factor_to_group_by_that_no_system_has_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table, study = tmp_path / "t.csv", tmp_path / "study"
    table.write_text("system,storage,connections,throughput_tps\na,SAS,1,100\na,SAN,1,150\n")
    assert plimsoll("import", "table", table, "--to", study, "--workload", "orders").returncode == 0
    for factor, message in (("storag", "no system has a factor 'storag'; known are storage"), ("storage", "")):
        caplog.clear()
        (study / "document.toml").write_text(f'[document]\ngroup_by = "{factor}"\n')
        assert analyse_folder(study).document.group_by == factor
        assert message in caplog.text
        assert bool(message) is ("group_by" in caplog.text)


CLAIM = '[[claim]]\nsays = "{says}"\nworkload = "orders"\nsystem = "{system}"\npeak_connections = [2, 2]\n'


def test_a_further_table_adds_its_claims_once(tmp_path: Path) -> None:
    study = tmp_path / "study"
    for name in ("a", "b", "b"):
        table = tmp_path / f"{name}.csv"
        table.write_text(TABLE.replace("a,", f"{name},"))
        table.with_suffix(".toml").write_text(f'[document]\ntitle = "{name}"\n{CLAIM.format(says=name, system=name)}')
        assert plimsoll("import", "table", table, "--to", study, "--workload", "orders").returncode == 0
    analysis = analyse_folder(study)
    assert analysis.document == Cover(title="a"), "the first stays"
    assert [(claim.says, claim.system, claim.is_in_range) for claim in analysis.claims] == [
        ("a", "a", True),
        ("b", "b", True),
    ]


def test_claims_of_a_table_are_held_against_its_own_systems_where_the_study_has_others_of_that_name(
    tmp_path: Path,
) -> None:
    study = tmp_path / "study"
    for storage, peak in (("ssd", 8), ("hdd", 4)):
        table = tmp_path / f"{storage}.csv"
        rows = [f"db,{storage},{connections},{200 - abs(connections - peak)}" for connections in (4, 8)]
        table.write_text("\n".join(("system,storage,connections,throughput_tps", *rows, "")))
        claim = CLAIM.format(says=storage, system="db").replace("[2, 2]", f"[{peak}, {peak}]")
        table.with_suffix(".toml").write_text(claim)
        assert plimsoll("import", "table", table, "--to", study, "--workload", "orders").returncode == 0
    assert [(claim.system, claim.is_in_range) for claim in analyse_folder(study).claims] == [
        ("db", True),
        ("db, hdd", True),
    ]


def test_a_wrong_document_is_refused_before_recordings_are_added_and_late_statements_are_not_lost_in_silence(
    tmp_path: Path,
) -> None:
    table, study = tmp_path / "t.csv", tmp_path / "study"
    words = ("import", "table", table, "--to", study, "--workload", "orders")
    table.write_text(TABLE)
    table.with_suffix(".toml").write_text('[document]\ntitle = "A"\n')
    assert plimsoll(*words).returncode == 0
    (study / "document.toml").write_text("[document")
    table.write_text(TABLE.replace("a,", "b,"))
    table.with_suffix(".toml").write_text(CLAIM.format(says="x", system="b"))
    assert plimsoll(*words).returncode == 2
    (study / "document.toml").write_text("")
    assert plimsoll(*words).returncode == 0
    assert [claim.system for claim in analyse_folder(study).claims] == ["b"]
    again = plimsoll(*words)
    assert (again.returncode, "together with new recordings only" in again.stderr) == (0, True)


def test_repetitions_of_a_source_may_leave_a_claim_open(tmp_path: Path) -> None:
    rows = [f"a,{connections},{tps}" for connections in (1, 2) for tps in (100, 140, 90)]
    (tmp_path / "t.csv").write_text("\n".join(("system,connections,throughput_tps", *rows, "")))
    (tmp_path / "t.toml").write_text(CLAIM.format(says="It peaks.", system="a"))
    study = tmp_path / "study"
    assert plimsoll("import", "table", tmp_path / "t.csv", "--to", study, "--workload", "orders").returncode == 0
    section = claims_section(analyse_folder(study))
    assert section is not None
    assert section.sentences[0].startswith("“It peaks”: the repetitions of the source leave it open")


def test_a_claim_that_was_removed_stays_removed(tmp_path: Path) -> None:
    table, study = tmp_path / "a.csv", tmp_path / "study"
    table.write_text(TABLE)
    table.with_suffix(".toml").write_text(CLAIM.format(says="x", system="a"))
    for _ in range(2):
        assert plimsoll("import", "table", table, "--to", study, "--workload", "orders").returncode == 0
        (study / "document.toml").write_text('[document]\ntitle = "Mine"\n')
    assert analyse_folder(study).claims == ()


def test_statements_about_what_the_table_lacks_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "t.toml").write_text('[[system]]\nname = "b"\n[[workload]]\nname = "w"\nnotes = "n"\n')
    ran = plimsoll("import", "table", tmp_path / "t.csv", "--to", tmp_path / "study", "--workload", "orders")
    assert_one_clear_message(ran, 2, "t.toml: system[0].name: there is no system 'b'; take one of a")
    assert "t.toml: workload[0].name: there is no workload 'w'; take one of orders" in ran.stderr
    assert not (tmp_path / "study").exists()


def test_what_authors_state_is_recorded_and_marked_as_stated(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "t.toml").write_text(
        '[[system]]\nenvironment = { "OS" = "<b>Solaris</b>" }\noptions = { sync_binlog = 1 }\nnotes = "A note."\n'
        '[[workload]]\nnotes = "Orders <i>only</i>."\n'
    )
    study = tmp_path / "study"
    assert plimsoll("import", "table", tmp_path / "t.csv", "--to", study, "--workload", "orders").returncode == 0
    recordings = read_study(study).recordings
    assert {recording.trial.workload.reported for recording in recordings} == {"Orders <i>only</i>."}
    environment = recordings[0].environment
    assert (environment.reported, environment.reported_options) == ({"OS": "<b>Solaris</b>"}, {"sync_binlog": "1"})
    assert (environment.host.operating_system, environment.instances) == (None, ())
    analysis = analyse_folder(study)
    page, markdown = render_html(analysis).replace("<wbr>", ""), render_markdown(analysis)
    for shown in ("OS (stated)", "Server options (stated)", "sync_binlog = 1", "A note."):
        assert shown in page
        assert shown in markdown
    assert "Stated by the authors: Orders &lt;i&gt;only" in page
    assert "<b>Solaris" not in page


@pytest.mark.parametrize(("low", "words"), [(2, "the figures agree (indicated)"), (1, "the figures do not agree")])
def test_single_figures_indicate_whether_a_claim_agrees(low: int, words: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    claim = CLAIM.format(says="It peaks.", system="a").replace("[2, 2]", f"[{low}, {low}]")
    (tmp_path / "t.toml").write_text(claim + CLAIM.format(says="And there.", system="elsewhere"))
    study = tmp_path / "study"
    assert plimsoll("import", "table", tmp_path / "t.csv", "--to", study, "--workload", "orders").returncode == 0
    section = claims_section(analyse_folder(study))
    assert section is not None
    assert section.title == "What the authors concluded"
    assert section.sentences[0].startswith(f"“It peaks”: {words}")
    assert section.sentences[1] == "“And there”: the table does not show it."
