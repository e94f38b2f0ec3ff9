"""Studies whose servers are started, stopped and put back by hooks, with real servers and real scripts."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import intact_outcome, read_study
from plimsoll.run.events import HookEnded, read_events
from support.command import assert_one_clear_message, plimsoll, start_forked
from support.hooked_server import PASSWORD, HookedServer, make_hooked_server
from support.processes import group_exists
from support.waiting import until

Ran = subprocess.CompletedProcess[str]

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "hooked"
levels = { connections = [2] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "2s"
repetitions = 1

[[workload]]
name = "rw"
kind = "oltp_read_write"
table_size = 500
"""

SYSTEM = """
[[system]]
name = "NAME"
target = "URL"
password_env = "PW"
reset = "hook"
parameters = { flush = 1, "big pages" = true }
[system.hooks]
start = { command = ["./SCRIPT", "start"], limit = "300s" }
stop = "./SCRIPT stop"
snapshot = "./SCRIPT snapshot"
reset = "./SCRIPT reset"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HookedServer]:
    """The server `a`, which only its script starts."""
    made = make_hooked_server(tmp_path / "a")
    yield made
    made.end()


@pytest.fixture
def servers(server: HookedServer, tmp_path: Path) -> Iterator[dict[str, HookedServer]]:
    """Two such servers, `a` and `b`."""
    other = make_hooked_server(tmp_path / "b")
    yield {"a": server, "b": other}
    other.end()


def system(name: str, server: HookedServer, more: str = "") -> str:
    text = SYSTEM.replace("NAME", name).replace("URL", server.url).replace("SCRIPT", f"{name}/server.sh")
    return text + more


def write_script(path: Path, text: str, hook: str) -> None:
    """A program that goes on with what server `a` does in a hook, unless the text ends it."""
    path.write_text(f"#!/bin/sh\n{text}\nexec ./a/server.sh {hook}\n")
    path.chmod(0o755)


def recordings(study: Path) -> list[tuple[str, Verdict, str | None]]:
    found = read_study(study).recordings
    return [(one.trial.system.name, one.outcome.verdict, one.outcome.reason) for one in found]


def test_hooks_bring_exactly_one_system_up_and_put_its_data_back(
    servers: dict[str, HookedServer], tmp_path: Path
) -> None:
    """The first stop of `a` after its load fails; it is tried again before another system starts."""
    collect = """collect = ["sh", "-c", "cd $PLIMSOLL_RECORDING; env | grep ^PLIMSOLL_ > told; ln -s /etc/passwd link"]
configure = ["sh", "-c", "test $(cat [ab]/server.pid 2>/dev/null | wc -l) = 0 && echo none is up"]
"""
    write_script(tmp_path / "stop.sh", "if [ -f a/server.pid ] && mkdir failed; then echo busy; exit 1; fi", "stop")
    text = STUDY + system("a", servers["a"]) + system("b", servers["b"], collect)
    file, study = tmp_path / "s.toml", tmp_path / "out"
    file.write_text(text.replace('"./a/server.sh stop"', '"./stop.sh"'))
    ran = plimsoll("study", "run", file, "--to", study, env=servers["a"].env)
    assert ran.returncode == 0, ran.stderr
    assert [recording[1] for recording in recordings(study)] == [Verdict.COMPLETE] * 2
    assert not any(server.is_up() for server in servers.values())
    for name, server in servers.items():
        calls = [line.split()[0] for line in server.calls]
        assert sorted(calls) == ["reset", "snapshot", "start", "stop", "stop"], name
        assert calls[0] == "stop", "whatever ran before"
    check_that_a_failed_stop_is_tried_again(study, ran.stderr)
    check_what_is_recorded(study, servers["b"])
    for path in (path for path in study.rglob("*") if path.is_file()):
        assert PASSWORD.encode() not in path.read_bytes(), path


def check_that_a_failed_stop_is_tried_again(study: Path, said: str) -> None:
    """Before any other system starts."""
    assert "hook stop of a: failed with exit code 1" in said
    events = [stamped.event for stamped in read_events(study / "events.jsonl")]
    failed = ("a", "stop", "failed")
    words = [(event.system, event.hook, event.result) for event in events if isinstance(event, HookEnded)]
    assert words.count(failed) == 1, words
    after = words[words.index(failed) + 1 :]
    others = [index for index, (name, hook, _) in enumerate(after) if name == "b" and hook == "start"]
    assert after.index(("a", "stop", "done")) < min(others, default=len(after)), after


def check_what_is_recorded(study: Path, server: HookedServer) -> None:
    """How data was put back; what hooks were told, printed and left, without passwords, in the recordings of `b`."""
    found = read_study(study).recordings
    assert {one.outcome.data.reset.way for one in found if one.outcome.data and one.outcome.data.reset} == {"hook"}
    assert len({one.outcome.data.rows_before for one in found if one.outcome.data}) == 1
    b = next(recording for recording in found if recording.trial.system.name == "b")
    told = dict(line.split("=", 1) for line in (b.path / "collected" / "told").read_text().splitlines())
    assert told["PLIMSOLL_TRIAL_ID"] == b.trial.trial_id
    assert told["PLIMSOLL_SYSTEM"] == "b"
    assert told["PLIMSOLL_HOOK"] == "collect"
    assert told["PLIMSOLL_STUDY"] == "hooked"
    assert told["PLIMSOLL_WORKLOAD"] == "rw"
    assert told["PLIMSOLL_REPETITION"] == str(b.trial.repetition)
    assert (told["PLIMSOLL_TARGET_HOST"], told["PLIMSOLL_TARGET_PORT"]) == (server.host, str(server.port))
    assert (told["PLIMSOLL_TARGET_USER"], told["PLIMSOLL_TARGET_DATABASE"]) == ("bench", "sbtest")
    assert (told["PLIMSOLL_FACTOR_FLUSH"], told["PLIMSOLL_FACTOR_BIG_PAGES"]) == ("1", "on")
    assert b.trial.system.factors["flush"] == "1"
    assert [warning.code for warning in b.outcome.warnings if warning.code == "collect-failed"], "a link is not kept"
    assert [path.name for path in (b.path / "collected").iterdir()] == ["told"]
    hooks = {hook.hook: hook for hook in b.outcome.hooks}
    assert set(hooks) >= {"start", "reset", "collect"}
    assert "reset is done; the password is ********" in (b.path / str(hooks["reset"].output)).read_text()
    assert intact_outcome(b.path) is not None
    (b.path / "collected" / "told").write_text("other")
    assert intact_outcome(b.path) is None, "what hooks left is covered by the digests"


def test_a_hook_that_fails_fails_its_trial_and_not_the_study(server: HookedServer, tmp_path: Path) -> None:
    """`a` fails to start once; its data is put back without an end once, and once without a table.

    So three trials of four fail, the third does not: three one after the other would end the study.
    """
    write_script(tmp_path / "once.sh", 'if mkdir tried; then printf "quota\\033[31m exceeded\\n"; exit 4; fi', "start")
    write_script(
        tmp_path / "reset.sh",
        "if mkdir hung; then echo waiting; sleep 600\n"
        "elif mkdir fine; then :\n"
        "elif mkdir lost; then export MYSQL_PWD=$PW; exec mariadb --no-defaults -h$PLIMSOLL_TARGET_HOST"
        " -P$PLIMSOLL_TARGET_PORT -ubench sbtest -e 'DROP TABLE sbtest1'; fi",
        "reset",
    )
    text = STUDY.replace("repetitions = 1", "repetitions = 4")
    text += system("a", server, 'collect = ["sh", "-c", "echo no disk; exit 9"]\n')
    text = text.replace('command = ["./a/server.sh", "start"]', 'command = ["./once.sh"]')
    text = text.replace('reset = "./a/server.sh reset"', 'reset = { command = "./reset.sh", limit = "20s" }')
    (tmp_path / "s.toml").write_text(text)
    study = tmp_path / "out"
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", study, env=server.env)
    assert ran.returncode == 4, ran.stderr
    assert "hook start of a: failed with exit code 4" in ran.stderr
    assert "| quota\\x1b[31m exceeded" in ran.stderr
    found = recordings(study)
    failed, complete = Verdict.FAILED, Verdict.COMPLETE
    assert [verdict for _, verdict, _ in found] == [failed, failed, complete, failed], found
    unstarted, hung, _, lost = [str(reason) for _, _, reason in found]
    assert "Its output ends with: quota\\x1b[31m exceeded" in unstarted
    assert "hook reset of a: was ended at its limit of 20 s. Its output ends with: waiting" in hung
    assert "after the hook reset the data is not as prepared" in lost
    warned_of = read_study(study).recordings[2]
    (warned,) = [warning for warning in warned_of.outcome.warnings if warning.code == "collect-failed"]
    assert "exit code 9" in warned.evidence


def test_ctrl_c_ends_the_hook_and_stops_the_system(server: HookedServer, tmp_path: Path) -> None:
    text = STUDY + system("a", server)
    text = text.replace('reset = "./a/server.sh reset"', 'reset = ["sh", "-c", "echo $$ > hook.pid; sleep 600"]')
    (tmp_path / "s.toml").write_text(text)
    study, pid = tmp_path / "out", tmp_path / "hook.pid"
    process = start_forked("study", "run", tmp_path / "s.toml", "--to", study, env=server.env)
    assert until(lambda: pid.exists() and bool(pid.read_text())), process.communicate()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130, told
    assert until(lambda: not group_exists(int(pid.read_text())))
    assert not server.is_up()
    assert server.calls[-1].startswith("stop")
    assert not list((study / "recordings").glob("*")), "no load ran"


def test_environments_are_switched_by_hand(servers: dict[str, HookedServer], tmp_path: Path) -> None:
    """Each run measures the environment that is there, and names the next one."""
    text = STUDY.replace("repetitions = 1", 'repetitions = 1\nswitch = "hand"')
    for name, server in servers.items():
        text += system(name, server).replace('reset = "hook"', f'environment = "in {name}"\nreset = "never"')
    text = re.sub('(snapshot|reset) = "./.*\n', "", text)
    text += '[environment."in b"]\ncheck = "test -e switched"\n'
    file, study = tmp_path / "s.toml", tmp_path / "out"
    file.write_text(text)

    def run(*options: str) -> Ran:
        return plimsoll("study", "run", file, "--to", study, *options, env=servers["a"].env)

    assert_one_clear_message(run(), 2, "the checks find none of them", "--environment 'in a'")
    assert_one_clear_message(run("--environment", "in b"), 3, "its check does not find it; switch to it first")
    ran = run("--environment", "in a")
    assert ran.returncode == 6, ran.stderr
    assert f"switch to 'in b', then run the study again: plimsoll study run {file} --to {study}" in ran.stderr
    assert [recording[0] for recording in recordings(study)] == ["a"]
    assert run("--environment", "in a").returncode == 6, "nothing more to measure here"
    (tmp_path / "switched").touch()
    ran = run()
    assert ran.returncode == 0, ran.stderr
    assert sorted(recording[0] for recording in recordings(study)) == ["a", "b"]
    shown = json.loads((study / "guide.json").read_text())
    assert "environments-once" in {one["code"] for one in shown["limits"]}
    assert {one["verdict"] for one in shown["differences"]} == {"untestable"}
    assert shown["differences"][0]["blocks"] == {"environments": ["in a", "in b"], "counts": [1, 1]}


def test_a_missing_command_is_told_before_anything_starts(server: HookedServer, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + system("a", server).replace("server.sh reset", "none.sh"))
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", tmp_path / "out", env=server.env)
    assert_one_clear_message(ran, 3, "system[0].hooks.reset: ./a/none.sh is no program that can be executed")
    assert server.calls == []


@pytest.mark.endure
def test_a_hook_is_read_from_a_study_folder_too(server: HookedServer, tmp_path: Path) -> None:
    """Named by its folder, a study's hooks still run where the user's file is."""
    (tmp_path / "s.toml").write_text(STUDY + system("a", server))
    study = tmp_path / "out"
    assert plimsoll("study", "run", tmp_path / "s.toml", "--to", study, env=server.env).returncode == 0
    plan = json.loads(plimsoll("study", "plan", study, "--json").stdout)
    (trial,) = plan["trials"]
    (study / "recordings" / trial["trial_id"] / "outcome.json").unlink()
    ran = plimsoll("study", "run", study, env=server.env, cwd=Path("/"))
    assert ran.returncode == 0, ran.stderr
    assert [recording[1] for recording in recordings(study)] == [Verdict.COMPLETE]
