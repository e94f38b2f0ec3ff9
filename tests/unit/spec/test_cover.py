"""What a guide says of itself: in a study file, and beside a table that is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import SpecError
from plimsoll.plan.build import build_plan
from plimsoll.spec.cover import CoverSpec, picture_address, read_logo
from plimsoll.spec.published import read_published
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
[[workload]]
name = "reads"
kind = "oltp_read_only"
[[system]]
name = "a"
server = { managed = "mariadb" }
"""


def test_it_is_no_condition_of_a_trial() -> None:
    plain, titled = parse_study(STUDY), parse_study(f'{STUDY}[document]\ntitle = "For you"\n')
    assert (plain.document, titled.document.title) == (CoverSpec(), "For you")
    assert build_plan(plain).trials == build_plan(titled).trials


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("title = 3", ["document.title: must be text, is 3"]),
        ('autor = "x"', ["document.autor: is not a known key"]),
        ('title = "a\\nb"', ["document.title: must be one line of printable text"]),
        (f'confidential = "{"a" * 81}"', ["document.confidential: must have at most 80 characters"]),
        (f'summary = "{"a" * 2001}"', ["document.summary: must have at most 2000 characters"]),
        ('logo = "../logo.png"', ["document.logo: must be the name of a file beside this one"]),
        ('logo = ".png"', ["document.logo: must be the name of a file beside this one"]),
        ('logo = "study.toml"', ["document.logo: must be the name of a file beside this one"]),
        ('title = 3\nauthor = "\\u001b[31m"', ["document.title: ", "document.author: "]),
    ],
)
def test_faults_name_their_key_in_both_places(text: str, faults: list[str], tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text(f"[document]\n{text}\n")
    for read in (lambda: parse_study(f"{STUDY}[document]\n{text}\n"), lambda: read_published(file)):
        with pytest.raises(SpecError) as raised:
            read()
        assert len(raised.value.faults) == len(faults)
        assert all(fault in str(line) for fault, line in zip(faults, raised.value.faults, strict=True))


def test_blanks_around_a_line_are_no_part_of_it() -> None:
    assert parse_study(f'{STUDY}[document]\ntitle = " "\nauthor = " A "\n').document == CoverSpec(author="A")


@pytest.mark.parametrize(
    ("picture", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "png"),
        (b"\xff\xd8\xff...", "jpeg"),
        (b"<svg/>", "svg+xml"),
        (b"\xef\xbb\xbf\n<?xml version='1.0'?><svg/>", "svg+xml"),
    ],
)
def test_a_logo_is_read_from_the_first_folder_that_has_it(picture: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_bytes(picture)
    assert read_logo(CoverSpec(logo="logo.svg"), tmp_path / "none", tmp_path) == picture
    assert picture_address(picture).startswith(f"data:image/{kind};base64,")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"", "neither PNG nor JPEG nor SVG"),
        (b"<html><svg/>", "neither PNG nor JPEG nor SVG"),
        (b"<svg>" + b" " * 200_000, "is larger than 200,000 bytes"),
    ],
)
def test_what_is_no_logo_is_refused(content: bytes | None, reason: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "logo.png").write_bytes(content)
    with pytest.raises(SpecError, match=f"document.logo: .*logo.png: .*{reason}"):
        read_logo(CoverSpec(logo="logo.png"), tmp_path)
