"""What authors say beside their table: read with faults that name their place, kept, and read back the same."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.spec.claims import ClaimSpec
from plimsoll.spec.cover import CoverSpec
from plimsoll.spec.published import PublishedSpec, document_text, read_kept_document, read_published

STUDY = '[study]\nname = "s"\n[[system]]\nname = "a"\nserver = { managed = "mariadb" }\n'
CLAIM = '[[claim]]\nsays = "x"\nworkload = "w"\n'
PUBLISHED = """
[[system]]
environment = { "Operating system" = "Solaris", "Machine" = "T5240" }
options = { innodb_flush_log_at_trx_commit = 1, sync_binlog = 1 }
notes = "Of all."
[[system]]
name = "a"
environment = { "Machine" = "T5440" }
options = { sync_binlog = 0, skip_name_resolve = true }
notes = "Of a."
[[workload]]
notes = '''Two
lines.'''
"""


def read(text: str | bytes, folder: Path) -> PublishedSpec:
    file = folder / "table.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_published(file)


def test_what_is_said_of_one_system_goes_before_what_is_said_of_all(tmp_path: Path) -> None:
    published = read(PUBLISHED, tmp_path)
    system, other = published.of_system("a"), published.of_system("b")
    assert system.environment == {"Operating system": "Solaris", "Machine": "T5440"}
    assert system.option_texts == {
        "innodb_flush_log_at_trx_commit": "1",
        "sync_binlog": "0",
        "skip_name_resolve": "ON",
    }
    assert (system.notes, other.notes) == ("Of all. Of a.", "Of all.")
    assert other.environment["Machine"] == "T5240"
    assert published.of_workload("any") == "Two lines."


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ('[[claims]]\nsays = "x"\n[document]\n', ["claims: is not a known key"]),
        ("system = 3", ["system: must be a list, is 3"]),
        ('[[system]]\nserver = "x"', ["system[0].server: is not a known key"]),
        ('[[system]]\nenvironment = { "OS" = 3 }', ["system[0].environment.OS: must be text, is 3"]),
        ('[[system]]\nenvironment = { "OS" = "a\\nb" }', ["must be one line of printable text"]),
        ('[[system]]\nenvironment = { " " = "a" }', ["must not be empty or blank"]),
        ('[[system]]\noptions = { "a b" = 1 }', ["must be of the form"]),
        ("[[system]]\noptions = { a = [1] }", ["system[0].options.a: must be text, a number, true or false"]),
        (f'[[system]]\nnotes = "{"a" * 2001}"', ["system[0].notes: must have at most 2000 characters"]),
        ("[[workload]]", ["workload[0].notes: is missing"]),
        (CLAIM, ["claim[0]: give exactly one of peak_connections"]),
        (f"{CLAIM}ratio = [0.9, 1]\n{CLAIM}ratio = [2, 1]", ["claim[1].ratio: must be two numbers"]),
        (f"{CLAIM}ratio = [0.9, 1]", ["claim[0].ratio: give either base (another system) or base_workload"]),
        (f"{CLAIM}scale_factor = [1, 2]", ["claim[0].connections: say at which level"]),
    ],
)
def test_faults_name_their_place(text: str, faults: list[str], tmp_path: Path) -> None:
    with pytest.raises(SpecError) as raised:
        read(text, tmp_path)
    assert len(raised.value.faults) == len(faults)
    for fault, line in zip(faults, raised.value.faults, strict=True):
        assert fault in str(line)
        assert "table.toml: " in str(line)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"[document", "is not TOML"), (b"\xff", "is not TOML"), (b"x = 1\n" * 200_000, "cannot be read")],
)
def test_a_file_that_is_no_toml_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=rf"table\.toml: {reason}"):
        read(content, tmp_path)


@pytest.mark.parametrize("text", [STUDY, '[project]\nname = "x"\n', ""])
def test_a_file_about_something_else_says_nothing(text: str, tmp_path: Path) -> None:
    assert read(text, tmp_path) == PublishedSpec()


def test_of_a_study_file_the_document_is_read_and_its_systems_are_not(tmp_path: Path) -> None:
    assert read(f'{STUDY}[document]\ntitle = "T"\n', tmp_path) == PublishedSpec(document=CoverSpec(title="T"))


def test_names_are_those_of_the_table_and_stand_once() -> None:
    published = PublishedSpec.model_validate(
        {"system": [{"name": "a"}, {"name": "c"}, {"name": "a"}, {}, {}], "workload": [{"name": "x", "notes": "n"}]}
    )
    assert [str(fault) for fault in published.name_faults(["a", "b"], ["w"])] == [
        "system[1].name: there is no system 'c'; take one of a, b",
        "system[2].name: system 'a' is in a [[system]] already; join the two",
        "system[4].name: there is a [[system]] for all already; join the two",
        "workload[0].name: there is no workload 'x'; take one of w",
    ]


@pytest.mark.parametrize("text", ["plain", 'a "b" \\ c', "two\nlines\ttab", "\x7f\x00 ü 🚢", "'"])
def test_what_is_kept_reads_the_same(text: str, tmp_path: Path) -> None:
    cover = CoverSpec(title="T", summary=text)
    claims = (
        ClaimSpec(says=text, workload="w", peak_connections=[1, 1024]),
        ClaimSpec(says="s", source=text, workload="w", system="a", base="b", connections=4, ratio=[1.1, math.inf]),
        ClaimSpec(says="s", workload="w", limited_by="no hardware"),
    )
    (tmp_path / "document.toml").write_text(document_text(cover, claims))
    assert read_kept_document(tmp_path / "document.toml") == PublishedSpec(document=cover, claim=claims)


def test_what_recordings_have_is_refused_in_the_document_of_a_study(tmp_path: Path) -> None:
    (tmp_path / "document.toml").write_text(PUBLISHED)
    with pytest.raises(SpecError, match=r"document\.toml: system: does not belong here"):
        read_kept_document(tmp_path / "document.toml")
