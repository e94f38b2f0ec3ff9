"""Who may ask, what an address can lead to, and what a browser may do with an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plimsoll.record.environment import Environment
from plimsoll.record.model import Outcome, SystemRecord, Verdict, Window
from plimsoll.record.store import write_recording
from plimsoll.serve.app import is_own
from support.recordings import a_trial, intervals
from unit.serve.asking import ask

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of runs below the one that is served, and a secret beside that."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "guide.html").write_text("KEPT APART")
    served = tmp_path / "served"
    trial = a_trial().model_copy(update={"system": SystemRecord(name=HOSTILE)})
    outcome = Outcome(verdict=Verdict.COMPLETE, window=Window(first=1, last=3))
    write_recording(served / "runs", trial, Environment(), outcome, intervals=intervals(0, 4))
    return served


def test_only_who_knows_the_token_learns_anything(root: Path) -> None:
    for token in ("", "x", "a-token-of-a-test-alonE", "ü"):
        for path in ("/", "/at/runs/", "/static/serve.js"):
            refused = ask(root, path, token=token)
            assert (refused.status, refused.text) == (404, "not found\n")
    assert ask(root, "/").status == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:5665", 200),
        ("[::1]:5665", 200),
        ("localhost:5665", 200),
        ("LOCALHOST", 200),
        ("10.1.2.3:80", 200),
        ("evil.example:5665", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:5665", 421),
        ("", 421),
    ],
)
def test_another_sites_name_leads_nowhere(root: Path, host: str, status: int) -> None:
    assert ask(root, "/", host=host).status == status


def test_a_name_of_this_machine_is_let_in_where_it_was_named() -> None:
    assert is_own("db1.example:5665", frozenset({"db1.example"}))
    assert not is_own("db1.example:5665", frozenset())


@pytest.mark.parametrize(
    "place",
    [
        "../secret",
        "..%2fsecret",
        "runs/../../secret",
        "./../secret",
        "/etc",
        "runs/.hidden",
        "runs//recordings",
        "a\0b",
        "nothing",
        "runs/recordings/../../../secret",
    ],
)
def test_no_address_leads_out_of_the_folder(root: Path, place: str) -> None:
    for last in ("", "guide.html", "live"):
        answer = ask(root, f"/at/{place}/{last}")
        assert answer.status in (404, 422)
        assert "KEPT APART" not in answer.text


def test_a_link_that_leads_out_is_not_followed(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "secret")
    (root.parent / "secret" / "recordings").mkdir()
    assert ask(root, "/at/link/guide.html").status == 404
    assert "at/link" not in ask(root, "/").text


@pytest.mark.parametrize("trial_id", ["..", "%2e%2e", "t1x", "t1/..", "x" * 300, "a b"])
def test_no_recording_that_is_not_there(root: Path, trial_id: str) -> None:
    assert ask(root, f"/at/runs/recordings/{trial_id}/course.json").status in (404, 422)


def test_pages_run_only_their_scripts_and_talk_only_to_where_they_came_from(root: Path) -> None:
    answer = ask(root, "/at/runs/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'; style-src 'self'; connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert "<style" not in answer.text
    assert " style=" not in answer.text
    assert "onclick" not in answer.text


def test_names_from_a_recording_are_text(root: Path) -> None:
    for path in ("/", "/at/runs/", "/at/runs/recordings/t1/"):
        assert HOSTILE not in ask(root, path).text
    assert "&lt;script&gt;" in ask(root, "/at/runs/").text
    course = ask(root, "/at/runs/recordings/t1/course.json")
    assert "<" not in course.text
    assert json.loads(course.body)["trial"]["system"] == HOSTILE


def test_a_trial_is_saved_as_one_file_that_needs_nothing(root: Path) -> None:
    answer = ask(root, "/at/runs/recordings/t1/trial.html")
    assert answer.headers["content-disposition"] == 'attachment; filename="trial-t1.html"'
    assert HOSTILE not in answer.text
    assert " src=" not in answer.text
    assert "connect-src" not in answer.headers["content-security-policy"]
    assert "'sha256-" in answer.headers["content-security-policy"]
    assert "'sha256-" in answer.text


def test_what_is_compared_must_be_in_the_list(root: Path) -> None:
    for sides in ("a=runs&b=/etc", "a=../secret&b=runs", "a=runs", ""):
        assert ask(root, f"/compare?{sides}").status == 404


def test_what_cannot_be_read_is_said_on_a_page(root: Path) -> None:
    answer = ask(root, "/at/guide.html")
    assert answer.status == 422
    assert "No such file or directory" in answer.text
    assert 'href="../"' in answer.text


def test_static_files_are_those_of_a_list(root: Path) -> None:
    assert ask(root, "/static/uplot.js").headers["content-type"].startswith("text/javascript")
    for name in ("../app.py", "app.py", "uplot-LICENSE.txt", ""):
        assert ask(root, f"/static/{name}").status == 404


def test_without_a_slash_the_token_leads_to_the_list(root: Path) -> None:
    answer = ask(root, "")
    assert (answer.status, answer.headers["location"]) == (307, "/a-token-of-a-test-alone/")
