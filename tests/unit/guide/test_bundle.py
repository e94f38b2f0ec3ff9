"""A study that is sent to somebody: it is analysed there as here, and says nothing that guides do not say."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest
from pydantic import BaseModel

from plimsoll.errors import HostError, RecordError, SpecError
from plimsoll.guide.answer import render_json
from plimsoll.guide.build import analyse_folder
from plimsoll.guide.bundle import CHANGED_FILE, Packed, is_member, pack, unpack, without_comments
from plimsoll.prose.phrases import is_secret
from plimsoll.record import environment, model
from plimsoll.record.document import FileMark
from plimsoll.record.environment import Environment, HostFacts, InstanceFacts
from plimsoll.record.files import mark_of
from plimsoll.record.model import HookRecord, Outcome, SystemRecord, Verdict, Window, WorkloadRecord
from plimsoll.record.partial import PartialRecording
from plimsoll.record.store import read_study
from plimsoll.run.folder import GUIDE_FILES, POINTER_FILE, HeldFolder
from plimsoll.spec.workloads import WORKLOADS_FILE, shipped
from support.canaries import TOKEN, traces
from support.recordings import a_trial, intervals, rewrite
from support.repository import ROOT

MEASURED = ROOT / "tests" / "golden" / "study_format_1"
WORKLOAD = f"""
# {TOKEN} in a remark
description = "of one statement"
[[transaction]]
name = "look"
weight = 1
[[transaction.statement]]
sql = "SELECT 1"   # {TOKEN}
"""
STUDY = f"""
# {TOKEN} in a remark
[study]
name = "s"
levels = {{ connections = [4] }}
reset = "never"
switch = "hook"
hooks = {{ switch = "./switch.sh -p{TOKEN}" }}
[document]
logo = "logo.svg"
[[workload]]
name = "w"
file = "w.toml"
[environment.vm]
check = ["./check.sh", "{TOKEN}"]
[[system]]
name = "a"
environment = "vm"
target = "mysql://bench@db1/sbtest"
parameters = {{ api_token = "{TOKEN}", instance_class = "large" }}
hooks = {{ start = ["./vm.sh", "--password", "{TOKEN}"], stop = "./vm.sh {TOKEN}" }}
cost_per_month = 10
[[system]]
name = "b"
environment = "metal"
target = "mysql://bench@db2/sbtest"
hooks = {{ start = "./start.sh", stop = "./stop.sh" }}
"""
LOGO = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def a_recording(study: Path, trial_id: str = "t1", repetition: int = 0) -> Path:
    """A complete one with what hooks left, and secrets wherever a recording can have them."""
    server = InstanceFacts(
        name="a/0",
        variables={"report_password": TOKEN, "sync_binlog": "1"},
        option_file=f"[mysqld]\nreport_password = {TOKEN}\nsync_binlog = 1\n",
        options={"loose-wsrep_sst_auth": f"u:{TOKEN}"},
        tables={"auth_tokens": "CREATE TABLE `auth_tokens` (`id` int)"},
    )
    trial = a_trial(trial_id, repetition=repetition).model_copy(
        update={
            "system": SystemRecord(name="a", factors={"api_token": TOKEN, "instance_class": "large"}),
            "workload": WorkloadRecord(name="w", kind="statements", options={"definition": WORKLOAD}),
        }
    )
    hook = HookRecord(
        hook="start", system="a", began_unix_s=1e9, duration_s=1.0, result="done", output="hooks/1-start.txt"
    )
    outcome = Outcome(verdict=Verdict.COMPLETE, window=Window(first=1, last=8), hooks=(hook,))
    study.mkdir(exist_ok=True)
    partial = PartialRecording.begin(study, trial_id)
    assert partial.attach_output("1-start.txt", TOKEN.encode()) == hook.output
    (partial.folder_to_collect() / "my.cnf").write_text(TOKEN)
    partial.add("intervals.parquet", intervals(0, 10))
    return partial.commit(trial, Environment(host=HostFacts(name="h"), instances=(server,)), outcome)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """The folder of a study that ran from a file elsewhere, with secrets wherever there can be one."""
    study = tmp_path / "secret"
    a_recording(study)
    (study / "study.toml").write_text(STUDY)
    (study / WORKLOADS_FILE).write_text(json.dumps({"w.toml": WORKLOAD}))
    (study / "logo.svg").write_bytes(LOGO)
    (study / "events.jsonl").write_text(TOKEN)
    (study / "notes.txt").write_text(TOKEN)
    (tmp_path / TOKEN).mkdir()
    (tmp_path / TOKEN / "mine.toml").write_text(STUDY.replace("= 10", "= 20"))
    (tmp_path / TOKEN / "w.toml").write_text(WORKLOAD)
    (study / POINTER_FILE).write_text(f"../{TOKEN}/mine.toml")
    return study


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MEASURED, tmp_path / "measured"))


def sent(study: Path, name: str = "received") -> tuple[Packed, Path]:
    """What was packed, and where it was unpacked; its guide is analysed there as here."""
    to = study.parent
    packed = pack(study, to / f"{name}.zip")
    opened = unpack(to / f"{name}.zip", to / name)
    assert opened.packed_guide.decode() == render_json(analyse_folder(to / name))
    return packed, to / name


def names_in(bundle: Path) -> list[str]:
    with zipfile.ZipFile(bundle) as archive:
        return archive.namelist()


def test_a_study_is_analysed_there_as_here(measured: Path) -> None:
    packed, there = sent(measured)
    assert render_json(analyse_folder(there)) == render_json(analyse_folder(measured))
    assert packed.trials_count == len(read_study(there).recordings) == 3
    for recording in read_study(measured).recordings:
        for name in ("trial.json", "environment.json", "outcome.json", *recording.outcome.files):
            assert (there / "recordings" / recording.path.name / name).read_bytes() == (
                recording.path / name
            ).read_bytes()
    assert set(GUIDE_FILES) <= set(names_in(measured.parent / "received.zip"))
    assert {path.name for path in there.iterdir()} == {"study.toml", "plan.json", "recordings"}


def test_no_secret_is_packed(secret: Path) -> None:
    bundle = secret.parent / "b.zip"
    packed = pack(secret, bundle)
    with zipfile.ZipFile(bundle) as archive:
        found = {name: list(traces(archive.read(name))) for name in archive.namelist()}
    assert not any(found.values()), found
    assert len(found) > 8
    assert list(traces(bundle.read_bytes())) == []
    assert packed.attached_count == 2
    there = secret.parent / "there"
    unpack(bundle, there)
    (recording,) = read_study(there).recordings
    (server,) = recording.environment.instances
    assert server.variables["sync_binlog"] == "1"
    assert "sync_binlog = 1" in (server.option_file or "")
    assert server.tables["auth_tokens"].startswith("CREATE TABLE")
    assert recording.trial.system.factors["instance_class"] == "large"
    assert [hook.output for hook in recording.outcome.hooks] == [None]
    assert recording.intervals() is not None
    assert (there / "logo.svg").read_bytes() == LOGO


def test_costs_that_changed_after_the_run_are_those_of_the_bundle(secret: Path) -> None:
    mine = secret.parent / TOKEN / "mine.toml"
    os.utime(mine, ns=(0, (secret / "study.toml").stat().st_mtime_ns + 1))
    _, there = sent(secret)
    assert analyse_folder(there).systems[0].cost_per_month == analyse_folder(secret).systems[0].cost_per_month == 20
    mine.write_text("no study")
    _, again = sent(secret, "again")
    assert not (again / CHANGED_FILE).exists()
    assert analyse_folder(again).systems[0].cost_per_month == 10


def test_a_study_file_that_is_wrong_without_its_secrets_is_refused_with_the_reason(secret: Path) -> None:
    text = """
[study]
name = "s"
levels = { connections = [4] }
reset = "per_system"
[factors]
parameters.token = ["x", "y"]
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
target = "mysql://bench@db1/sbtest"
hooks = { configure = "./configure.sh" }
"""
    (secret / "study.toml").write_text(text)
    with pytest.raises(SpecError, match="without what may be secret") as caught:
        pack(secret, secret.parent / "b.zip")
    assert str(secret / "study.toml") in str(caught.value)
    assert not (secret.parent / "b.zip").exists()


def test_the_pointer_of_a_bundle_leads_nowhere_else() -> None:
    assert is_member(POINTER_FILE, mark_of(CHANGED_FILE.encode()))
    assert not is_member(POINTER_FILE, mark_of(b"../../secret.toml"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("study.toml", True),
        ("guide.html", True),
        ("my logo.svg", True),
        ("recordings/t1/trial.json", True),
        ("recordings/t1/intervals.parquet", True),
        ("recordings/t1/hooks/start.txt", False),
        ("recordings/t1/hooks", False),
        ("recordings/.partial-t1/trial.json", False),
        ("recordings/trial.json", False),
        ("other/t1/trial.json", False),
        (".lock", False),
        ("script.js", False),
        ("events.jsonl", False),
    ],
)
def test_only_files_of_a_study_are_members(name: str, expected: bool) -> None:
    assert is_member(name, FileMark(size_bytes=0, sha256="")) is expected


def test_damaged_recordings_stay_here_and_are_named(measured: Path) -> None:
    first, second, _ = sorted((measured / "recordings").iterdir())
    (first / "outcome.json").write_text("{")
    table = second / "histograms.parquet"
    table.write_bytes(bytes(table.stat().st_size))
    packed, there = sent(measured)
    assert set(packed.damaged) == {first.name, second.name}
    assert len(read_study(there).recordings) == 1


def test_recordings_that_are_no_longer_planned_stay_here(measured: Path) -> None:
    plan = json.loads((measured / "plan.json").read_text())
    gone = plan["trials"].pop()["trial_id"]
    (measured / "plan.json").write_text(json.dumps(plan))
    _, there = sent(measured)
    assert gone not in {path.name for path in (there / "recordings").iterdir()}


def test_single_runs_have_neither_plan_nor_study_file(tmp_path: Path) -> None:
    for number in range(2):
        a_recording(tmp_path / "runs", f"t{number}", number)
    packed, there = sent(tmp_path / "runs")
    assert packed.trials_count == 2
    assert [path.name for path in there.iterdir()] == ["recordings"]


def test_a_document_of_an_import_is_packed_without_comments(tmp_path: Path) -> None:
    a_recording(tmp_path / "runs")
    (tmp_path / "runs" / "document.toml").write_text(f'# {TOKEN}\n[document]\ntitle = "T"\nlogo = "logo.svg"\n')
    (tmp_path / "runs" / "logo.svg").write_bytes(LOGO)
    _, there = sent(tmp_path / "runs")
    assert tomllib.loads((there / "document.toml").read_text()) == {"document": {"title": "T", "logo": "logo.svg"}}
    assert analyse_folder(there).document.logo.startswith("data:image/svg")


def test_what_is_no_study_or_is_being_measured_is_refused(tmp_path: Path, measured: Path) -> None:
    with pytest.raises(RecordError, match="no study here"):
        pack(tmp_path / "nothing", tmp_path / "b.zip")
    (tmp_path / "empty" / "recordings").mkdir(parents=True)
    with pytest.raises(RecordError, match=r"empty: has no recording"):
        pack(tmp_path / "empty", tmp_path / "b.zip")
    with HeldFolder(measured), pytest.raises(HostError, match="wait for its end"):
        pack(measured, tmp_path / "b.zip")
    (tmp_path / "b.zip").write_bytes(b"mine")
    with pytest.raises(SpecError, match="--force"):
        pack(measured, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == b"mine"


def test_a_recording_of_a_newer_plimsoll_is_not_packed_without_it(measured: Path) -> None:
    first = min((measured / "recordings").iterdir())
    trial = json.loads((first / "trial.json").read_text())
    rewrite(first, "trial.json", json.dumps({**trial, "record_format": 99}).encode())
    packed, _ = sent(measured)
    assert packed.damaged == (first.name,)


def test_no_field_of_a_recording_is_called_a_secret() -> None:
    documents = [
        kind
        for module in (model, environment)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, BaseModel)
    ]
    assert len(documents) > 20
    assert [name for kind in documents for name in kind.model_fields if is_secret(name)] == []


@pytest.mark.parametrize("name", list(shipped()))
def test_a_workload_file_without_comments_says_the_same(name: str) -> None:
    text = shipped()[name].read_text(encoding="utf-8")
    plain = without_comments(text)
    assert tomllib.loads(plain) == tomllib.loads(text)
    assert "\n# " not in plain


def test_what_is_no_workload_file_is_left_out() -> None:
    assert without_comments(f"# {TOKEN}\n[") == "(left out)"
