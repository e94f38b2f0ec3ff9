"""A study's folder: one study each, one process at a time, nothing foreign touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import HostError, SpecError
from plimsoll.plan.build import build_plan
from plimsoll.run.folder import document_folders, opened, resolve
from plimsoll.spec.cover import read_logo
from plimsoll.spec.study import read_study

TEXT = """
[study]
name = "s"
levels = { connections = [1] }
[[workload]]
name = "ro"
kind = "oltp_read_only"
[[system]]
name = "a"
server = { managed = "mariadb" }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(TEXT)
    return path


def take(file: Path, folder: Path) -> None:
    _, spec, _ = resolve(file, folder)
    with opened(folder, file, spec) as study:
        study.keep(build_plan(spec))


def test_a_folder_can_be_named_instead_of_the_file(file: Path, tmp_path: Path) -> None:
    take(file, tmp_path / "out")
    found, spec, folder = resolve(tmp_path / "out", None)
    assert (found, spec.study.name, folder) == (tmp_path / "out" / "study.toml", "s", tmp_path / "out")


def test_a_folder_with_something_else_in_it_is_refused(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "thesis.doc").write_text("x")
    with pytest.raises(SpecError, match="is not a study"):
        take(file, folder)
    assert [path.name for path in folder.iterdir()] == ["thesis.doc"]


@pytest.mark.parametrize("left", [[".lock"], [".lock", ".study.toml.partial"], [".study.toml.partial"]])
def test_a_run_that_was_killed_while_it_began_does_not_block_the_folder(
    file: Path, tmp_path: Path, left: list[str]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    for name in left:
        (folder / name).write_text("[stu")
    take(file, folder)
    assert (folder / "study.toml").read_text() == TEXT


def test_what_was_checked_is_what_is_kept(file: Path, tmp_path: Path) -> None:
    _, spec, folder = resolve(file, tmp_path / "out")
    for text in ("", TEXT.replace("[1]", "[2]")):
        file.write_text(text)
        with pytest.raises(SpecError, match="changed while it was read"), opened(folder, file, spec):
            pass
    assert not folder.exists()


def test_a_logo_is_kept_with_the_study_and_the_newer_one_beside_the_file_counts(file: Path, tmp_path: Path) -> None:
    file.write_text(f'{TEXT}[document]\nlogo = "own.svg"\n')
    folder = tmp_path / "out"
    with pytest.raises(SpecError, match=r"document.logo: .*own.svg: No such file"):
        take(file, folder)
    assert not folder.exists()
    (tmp_path / "own.svg").write_text("<svg>1</svg>")
    take(file, folder)
    assert (folder / "own.svg").read_text() == "<svg>1</svg>"
    cover = read_study(file).document
    (tmp_path / "own.svg").write_text("<svg>2</svg>")
    assert read_logo(cover, *document_folders(folder)) == b"<svg>2</svg>"
    file.unlink()
    assert read_logo(cover, *document_folders(folder)) == b"<svg>1</svg>"
    take(folder / "study.toml", folder)


def test_a_folder_of_another_study_is_refused(file: Path, tmp_path: Path) -> None:
    take(file, tmp_path / "out")
    file.write_text(TEXT.replace('name = "s"', 'name = "other"'))
    with pytest.raises(SpecError, match="holds the study 's'"):
        take(file, tmp_path / "out")


def test_two_processes_cannot_run_the_same_study(file: Path, tmp_path: Path) -> None:
    _, spec, folder = resolve(file, tmp_path / "out")
    with (
        opened(folder, file, spec),
        pytest.raises(HostError, match="another plimsoll"),
        opened(folder, file, spec),
    ):
        pass


def test_a_folder_that_cannot_be_made_is_one_clear_message(file: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    with pytest.raises(HostError, match="cannot be written"):
        take(file, tmp_path / "plain" / "out")


def test_a_folder_without_a_study_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"has no study\.toml"):
        resolve(tmp_path, None)
