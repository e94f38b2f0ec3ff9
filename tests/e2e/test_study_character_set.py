"""The character set that a study gives a server reaches the tables of a workload file, as the server itself says."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from plimsoll.run.folder import resolve
from plimsoll.run.instance import Instance
from plimsoll.run.study import run_study
from plimsoll.run.survey import Surveyor
from plimsoll.servers.control import connect
from plimsoll.spec.workloads import Workload
from support.command import plimsoll
from support.endure import in_endure
from support.servers import server_command
from support.studies import wait_until_gone

pytestmark = pytest.mark.e2e

WORKLOAD = """
[[table]]
name = "people"
rows = 50

[[table.column]]
name = "id"
generate = "sequence"

[[table.column]]
name = "name"
generate = "letters"
length = [5, 20]

[[table.column]]
name = "code"
type = "VARCHAR(8) CHARACTER SET ascii"
generate = "letters"
length = [2, 8]

[[transaction]]
name = "look"

[[transaction.statement]]
sql = "SELECT name FROM people WHERE id = :id"
values.id = { generate = "reference", table = "people" }
"""

STUDY = """
[study]
name = "characters"
levels = { connections = [1] }
warm_up = "1s"
settle_limit = "1s"
clients = { think_time = "20ms" }
duration = "2s"
repetitions = 1
reset = "never"

[[workload]]
name = "own"
file = "own.toml"
"""

SYSTEM = """
[[system]]
name = "NAME"
server = { managed = "FLAVOUR", COMMAND profile = "bare", buffer_pool = "64M", MORE }
"""

MADE_WITH = {
    "latin1_bin": 'collation = "latin1_bin"',
    "by table": 'character_set = "latin1", table_options = "DEFAULT CHARSET=utf8mb3"',
}
MORE_WAYS = {
    "latin1": 'character_set = "latin1"',
    "by option": 'options = { character_set_server = "latin1" }',
    "nothing": "start = 'cold'",
}
"""Only in `make endure`: the same ways by halves."""


def written(folder: Path, flavour: str, ways: dict[str, str]) -> Path:
    """A study of one system for each way to say a character set."""
    command = server_command(flavour)
    words = "" if command == flavour else f"command = {json.dumps(command.split())},"
    one = SYSTEM.replace("FLAVOUR", flavour).replace("COMMAND", words)
    systems = "".join(one.replace("NAME", name).replace("MORE", more) for name, more in ways.items())
    (folder / "own.toml").write_text(WORKLOAD)
    (folder / "s.toml").write_text(STUDY + systems)
    return folder / "s.toml"


@pytest.mark.parametrize(
    ("flavour", "ways"),
    [
        ("mariadb", MADE_WITH),
        in_endure("mariadb", MADE_WITH | MORE_WAYS),
        in_endure("mysql", MADE_WITH | MORE_WAYS),
    ],
)
def test_tables_of_a_workload_file_are_made_with_it(
    flavour: str, ways: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = f"/var/tmp/plimsoll-test-characters-{os.getpid()}"
    monkeypatch.setenv("PLIMSOLL_DATA_DIR", data_dir)
    seen: dict[str, str] = {}
    look = Surveyor.look

    def looked(self: Surveyor, instances: Sequence[Instance], workloads: Sequence[Workload]) -> None:
        with connect(instances[0].target) as control:
            ((_, definition),) = control.rows("SHOW CREATE TABLE people")
        seen[instances[0].name.partition("/")[0]] = str(definition)
        look(self, instances, workloads)

    monkeypatch.setattr(Surveyor, "look", looked)
    file, spec, folder = resolve(written(tmp_path, flavour, ways), tmp_path / "out")
    result = run_study(file, spec, folder, lambda _: None)
    assert (result.complete_count, result.failed_count) == (len(ways), 0)
    ends = {name: text.rpartition(")")[2].split(" COMMENT=")[0] for name, text in seen.items()}
    assert "DEFAULT CHARSET=latin1 COLLATE=latin1_bin" in ends["latin1_bin"]
    assert "DEFAULT CHARSET=utf8" in ends["by table"]
    assert "latin1" not in ends["by table"]
    if ways != MADE_WITH:
        assert "DEFAULT CHARSET=latin1" in ends["latin1"]
        assert "DEFAULT CHARSET=latin1" in ends["by option"]
        assert "DEFAULT CHARSET=utf8mb4" in ends["nothing"]
    for text in seen.values():
        assert "`code` varchar(8) CHARACTER SET ascii" in text, "what the file says stays"
    told = plimsoll("guide", folder, "--json")
    warned = next(load for load in json.loads(told.stdout)["warnings"] if load["code"] == "character-set-kept")
    evidence = " ".join(one["text"] for one in warned["evidence"])
    assert "the server was given latin1; 1 column has another character set: people.code: ascii" in evidence
    assert set(warned["systems"]) == ways.keys() - {"nothing"}
    wait_until_gone(data_dir)
    if Path(data_dir).exists():
        Path(data_dir).rmdir()
