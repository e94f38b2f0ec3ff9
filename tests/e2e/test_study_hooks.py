"""Studies whose servers are started, stopped and put back by hooks, with real servers and real scripts."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.record.model import Verdict
from plimsoll.record.store import intact_outcome, read_study
from plimsoll.run.events import HookBegan, HookEnded, read_events
from support.command import assert_one_clear_message, plimsoll, start
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
repetitions = 2

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


def recordings(study: Path) -> list[tuple[str, Verdict, str | None]]:
    found = read_study(study).recordings
    return [(one.trial.system.name, one.outcome.verdict, one.outcome.reason) for one in found]


def test_hooks_bring_exactly_one_system_up_and_put_its_data_back(
    servers: dict[str, HookedServer], tmp_path: Path
) -> None:
    collect = """collect = ["sh", "-c", "cd $PLIMSOLL_RECORDING; env | grep ^PLIMSOLL_ > told; ln -s /etc/passwd link"]
configure = ["sh", "-c", "test $(cat [ab]/server.pid 2>/dev/null | wc -l) = 0 && echo none is up"]
"""
    file = tmp_path / "s.toml"
    file.write_text(STUDY + system("a", servers["a"]) + system("b", servers["b"], collect))
    study = tmp_path / "out"
    ran = plimsoll("study", "run", file, "--to", study, env=servers["a"].env)
    assert ran.returncode == 0, ran.stderr
    assert [recording[1] for recording in recordings(study)] == [Verdict.COMPLETE] * 4
    assert not any(one.is_up() for one in servers.values())
    for name, server in servers.items():
        calls = [line.split()[0] for line in server.calls]
        assert sorted(calls) == sorted(["stop"] * 3 + ["start"] * 2 + ["snapshot"] + ["reset"] * 2), name
        assert calls[0] == "stop", "whatever ran before"
    found = read_study(study).recordings
    assert {one.outcome.data.reset.way for one in found if one.outcome.data and one.outcome.data.reset} == {"hook"}
    assert len({one.outcome.data.rows_before for one in found if one.outcome.data}) == 1
    b = [one for one in found if one.trial.system.name == "b"]
    told = dict(line.split("=", 1) for line in (b[0].path / "collected" / "told").read_text().splitlines())
    assert told["PLIMSOLL_TRIAL_ID"] == b[0].trial.trial_id
    assert told["PLIMSOLL_SYSTEM"] == "b"
    assert told["PLIMSOLL_HOOK"] == "collect"
    assert told["PLIMSOLL_STUDY"] == "hooked"
    assert told["PLIMSOLL_WORKLOAD"] == "rw"
    assert told["PLIMSOLL_REPETITION"] == str(b[0].trial.repetition)
    assert (told["PLIMSOLL_TARGET_HOST"], told["PLIMSOLL_TARGET_PORT"]) == ("127.0.0.1", str(servers["b"].port))
    assert (told["PLIMSOLL_TARGET_USER"], told["PLIMSOLL_TARGET_DATABASE"]) == ("bench", "sbtest")
    assert (told["PLIMSOLL_FACTOR_FLUSH"], told["PLIMSOLL_FACTOR_BIG_PAGES"]) == ("1", "on")
    assert b[0].trial.system.factors["flush"] == "1"
    assert [warning.code for warning in b[0].outcome.warnings if warning.code == "collect-failed"], "a link is not kept"
    assert [path.name for path in (b[0].path / "collected").iterdir()] == ["told"]
    hooks = {hook.hook: hook for hook in b[0].outcome.hooks}
    assert set(hooks) >= {"start", "reset", "collect"}
    output = (b[0].path / str(hooks["reset"].output)).read_text()
    assert "reset is done; the password is ********" in output
    assert intact_outcome(b[0].path) is not None
    (b[0].path / "collected" / "told").write_text("other")
    assert intact_outcome(b[0].path) is None, "what hooks left is covered by the digests"
    for path in (path for path in study.rglob("*") if path.is_file()):
        assert PASSWORD.encode() not in path.read_bytes(), path


def test_a_hook_that_fails_fails_its_trials_and_not_the_study(server: HookedServer, tmp_path: Path) -> None:
    """`a` fails to start once, its next trial runs; a failing `collect` is a warning."""
    text = STUDY + system("a", server, 'collect = ["sh", "-c", "echo no disk; exit 9"]\n')
    text = text.replace('command = ["./a/server.sh", "start"]', 'command = ["./once.sh"]')
    (tmp_path / "once.sh").write_text(
        '#!/bin/sh\nif mkdir tried; then printf "quota\\033[31m exceeded\\n"; exit 4; fi\nexec ./a/server.sh start\n'
    )
    (tmp_path / "once.sh").chmod(0o755)
    (tmp_path / "s.toml").write_text(text)
    study = tmp_path / "out"
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", study, env=server.env)
    assert ran.returncode == 4, ran.stderr
    assert "hook start of a: failed with exit code 4" in ran.stderr
    assert "| quota\\x1b[31m exceeded" in ran.stderr
    found = {verdict: reason for _, verdict, reason in recordings(study)}
    assert set(found) == {Verdict.FAILED, Verdict.COMPLETE}
    assert "Its output ends with: quota\\x1b[31m exceeded" in str(found[Verdict.FAILED])
    (complete,) = [
        recording for recording in read_study(study).recordings if recording.outcome.verdict is Verdict.COMPLETE
    ]
    (warned,) = [warning for warning in complete.outcome.warnings if warning.code == "collect-failed"]
    assert "exit code 9" in warned.evidence
    again = plimsoll("study", "run", tmp_path / "s.toml", "--to", study, env=server.env)
    assert again.returncode == 0, again.stderr
    assert [recording[1] for recording in recordings(study)] == [Verdict.COMPLETE] * 2


def test_a_reset_that_hangs_or_loses_rows_fails_the_trial(server: HookedServer, tmp_path: Path) -> None:
    (tmp_path / "reset.sh").write_text(
        "#!/bin/sh\nset -e\nif mkdir hung; then echo waiting; sleep 600; fi\n"
        "if mkdir lost; then export MYSQL_PWD=$PW; exec mariadb --no-defaults -h127.0.0.1 -P$PLIMSOLL_TARGET_PORT"
        " -ubench sbtest -e 'DROP TABLE sbtest1'; fi\n"
        "exec ./a/server.sh reset\n"
    )
    (tmp_path / "reset.sh").chmod(0o755)
    text = STUDY.replace("repetitions = 2", "repetitions = 3") + system("a", server)
    text = text.replace('reset = "./a/server.sh reset"', 'reset = { command = "./reset.sh", limit = "20s" }')
    (tmp_path / "s.toml").write_text(text)
    study = tmp_path / "out"
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", study, env=server.env)
    assert ran.returncode == 4, ran.stderr
    reasons = [reason for _, verdict, reason in recordings(study) if verdict is Verdict.FAILED]
    assert len(reasons) == 2
    assert "hook reset of a: was ended at its limit of 20 s. Its output ends with: waiting" in str(reasons[0])
    assert "after the hook reset the data is not as prepared" in str(reasons[1])


def test_ctrl_c_ends_the_hook_and_stops_the_system(server: HookedServer, tmp_path: Path) -> None:
    text = STUDY + system("a", server)
    text = text.replace('reset = "./a/server.sh reset"', 'reset = ["sh", "-c", "echo $$ > hook.pid; sleep 600"]')
    (tmp_path / "s.toml").write_text(text)
    study, pid = tmp_path / "out", tmp_path / "hook.pid"
    process = start("study", "run", tmp_path / "s.toml", "--to", study, env=server.env)
    assert until(lambda: pid.exists() and bool(pid.read_text())), process.communicate()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130, told
    assert until(lambda: not group_exists(int(pid.read_text())))
    assert not server.is_up()
    assert server.calls[-1].startswith("stop")
    assert not list((study / "recordings").glob("*")), "no load ran"


def test_a_stop_that_fails_keeps_other_systems_from_running(servers: dict[str, HookedServer], tmp_path: Path) -> None:
    """Only the stop at the end of a's block fails; it is tried again before b starts."""
    (tmp_path / "stop.sh").write_text(
        "#!/bin/sh\nif [ -f a/server.pid ] && mkdir failed; then echo busy; exit 1; fi\nexec ./a/server.sh stop\n"
    )
    (tmp_path / "stop.sh").chmod(0o755)
    text = STUDY.replace("repetitions = 2", "repetitions = 1") + system("a", servers["a"]) + system("b", servers["b"])
    (tmp_path / "s.toml").write_text(text.replace('"./a/server.sh stop"', '"./stop.sh"'))
    study = tmp_path / "out"
    ran = plimsoll("study", "run", tmp_path / "s.toml", "--to", study, env=servers["a"].env)
    assert ran.returncode in {0, 4}, ran.stderr  # on a busy machine a trial of a second may complete nothing
    assert "hook stop of a: failed with exit code 1" in ran.stderr
    events = [event.event for event in read_events(study / "events.jsonl")]
    ended = [(event.system, event.hook, event.result) for event in events if isinstance(event, HookEnded)]
    began = [(event.system, event.hook) for event in events if isinstance(event, HookBegan)]
    assert ("a", "stop", "failed") in ended
    if began.index(("a", "start")) < began.index(("b", "start")):
        assert ended[ended.index(("a", "stop", "failed")) + 1] == ("a", "stop", "done")
    verdicts = [recording[1] for recording in recordings(study)]
    assert len(verdicts) == 2
    assert Verdict.COMPLETE in verdicts


def test_environments_are_switched_by_hand(servers: dict[str, HookedServer], tmp_path: Path) -> None:
    """Each run measures the environment that is there, and names the next one."""
    text = STUDY.replace("repetitions = 2", 'repetitions = 1\nswitch = "hand"')
    for name, server in servers.items():
        text += system(name, server).replace("reset =", f'environment = "in {name}"\nreset =', 1)
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
    (tmp_path / "s.toml").write_text(STUDY.replace("repetitions = 2", "repetitions = 1") + system("a", server))
    study = tmp_path / "out"
    assert plimsoll("study", "run", tmp_path / "s.toml", "--to", study, env=server.env).returncode == 0
    plan = json.loads(plimsoll("study", "plan", study, "--json").stdout)
    (trial,) = plan["trials"]
    (study / "recordings" / trial["trial_id"] / "outcome.json").unlink()
    ran = plimsoll("study", "run", study, env=server.env, cwd=Path("/"))
    assert ran.returncode == 0, ran.stderr
    assert [recording[1] for recording in recordings(study)] == [Verdict.COMPLETE]
