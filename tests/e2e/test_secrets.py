"""A password is written nowhere: real commands run with one that nothing else contains, and all they leave is searched.

What children of the command show of themselves while they run is looked at too: their arguments and their environment.
"""

from __future__ import annotations

import subprocess
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plimsoll.servers.control import connect
from plimsoll.servers.managed_server import ManagedServer
from support.command import plimsoll, real_server, start
from support.vanishing import PROC, content, threads
from support.waiting import until

pytestmark = pytest.mark.e2e

PASSWORD = "Pf9-unmistakable-Kw3"
STUDY = """
[study]
name = "secrets"
levels = {{ connections = [2] }}
warm_up = "0s"
settle_limit = "1s"
clients = {{ think_time = "20ms" }}
duration = "2s"
repetitions = 1
reset = "per_system"
[[workload]]
name = "mixed"
kind = "oltp_read_write"
table_size = 1000
[[system]]
name = "target"
target = "{url}"
password_env = "BENCH_PASSWORD"
[[system]]
name = "managed"
server = {{ managed = "mariadb", profile = "bare", buffer_pool = "64M" }}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ManagedServer]:
    with real_server(Path("/var/tmp/plimsoll-test-secrets")) as running:
        with connect(running.target) as root:
            root.rows(f"CREATE USER bench@'%' IDENTIFIED BY '{PASSWORD}'")
            root.rows("GRANT ALL ON sbtest.* TO bench@'%'")
        yield running


def url(server: ManagedServer, user: str = "bench") -> str:
    return f"mysql://{user}@127.0.0.1:{server.target.port}/sbtest"


class Watch:
    """Looks at a process and everything below it until told to stop.

    Attributes:
        names: Programs that were seen.
        shown: Where the password was seen.
    """

    def __init__(self, root: int, *, but_environment_of_root: bool) -> None:
        self.names: set[str] = set()
        self.shown: set[str] = set()
        self._root, self._spared = root, but_environment_of_root
        self._stopping = threading.Event()
        self._executor = ThreadPoolExecutor(1)

    def __enter__(self) -> Watch:
        self._looking = self._executor.submit(self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._executor.shutdown()
        self._looking.result()

    def _run(self) -> None:
        is_last = False
        while not is_last:
            for process in self._family():
                self._look(process)
            is_last = self._stopping.wait(0.05)

    def _family(self) -> set[int]:
        family, unseen = set[int](), [self._root]
        while unseen:
            process = unseen.pop()
            family.add(process)
            for thread in threads(process):
                unseen += map(int, content(thread / "children").split())
        return family

    def _look(self, process: int) -> None:
        folder = PROC / str(process)
        name = content(folder / "comm").decode().strip()
        self.names.add(name)
        arguments = content(folder / "cmdline")
        if not arguments:
            return  # it has ended, or is just beginning its program
        if PASSWORD.encode() in arguments:
            self.shown.add(f"cmdline of {name}")
        # The user put it into the environment of the command, and a child that has not begun its own program shows that
        # of its parent. It does so by its arguments too, which were read before.
        if self._spared and arguments == content(PROC / str(self._root) / "cmdline"):
            return
        if PASSWORD.encode() in content(folder / "environ"):
            self.shown.add(f"environ of {name}")


def logged(folder: Path) -> list[str]:
    """Options by which a command says all that it does, on standard error and in a file that is searched too."""
    return ["-vv", "--log-file", str(folder / "all.log")]


def left_in(folder: Path) -> list[str]:
    """Files below a folder that contain the password."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()]


def finish(process: subprocess.Popen[str]) -> str:
    """All that a command said; it must not have failed."""
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out + errors


def test_a_study_leaves_no_password(server: ManagedServer, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY.format(url=url(server)))
    folder = tmp_path / "out"
    process = start(
        *logged(tmp_path), "study", "run", tmp_path / "s.toml", "--to", folder,
        env={"BENCH_PASSWORD": PASSWORD, "TMPDIR": str(tmp_path), "PLIMSOLL_DATA_DIR": "/var/tmp/plimsoll-test-s"},
    )  # fmt: skip
    with Watch(process.pid, but_environment_of_root=True) as watch:
        said = finish(process)
    assert {"plimsoll-engine", "mariadbd"} <= watch.names, "a test that saw no children proves nothing"
    assert watch.shown == set()
    assert PASSWORD not in said
    assert (folder / "guide.html").exists()
    assert len(list(folder.rglob("*"))) > 10
    assert "plimsoll.servers.control" in (tmp_path / "all.log").read_text()
    assert left_in(tmp_path) == []
    made = plimsoll("bundle", folder, "--to", tmp_path / "s.zip")
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(tmp_path / "s.zip") as bundle:
        assert [name for name in bundle.namelist() if PASSWORD.encode() in bundle.read(name)] == []


def test_a_password_in_the_url_is_wiped_from_the_arguments(server: ManagedServer, tmp_path: Path) -> None:
    inside = url(server, f"bench:{PASSWORD}")
    prepared = plimsoll(*logged(tmp_path), "prepare", "--target", inside, "--table-size", "1000")
    assert prepared.returncode == 0, prepared.stderr
    assert PASSWORD not in prepared.stdout + prepared.stderr
    process = start(
        *logged(tmp_path),
        "trial",
        "--target",
        inside,
        "--table-size",
        "1000",
        "--duration",
        "2s",
        "--think-time",
        "10ms",
        env={"TMPDIR": str(tmp_path)},
    )
    with Watch(process.pid, but_environment_of_root=False) as watch:
        assert until(lambda: "plimsoll-engine" in watch.names)
        watch.shown.clear()  # until Python has started, the arguments are as typed
        said = finish(process)
    assert watch.shown == set()
    assert PASSWORD not in said
    assert left_in(tmp_path) == []


def test_the_password_of_a_sysbench_command_line_is_wiped_and_shown_by_no_child(
    server: ManagedServer, tmp_path: Path
) -> None:
    login = ["--mysql-host=127.0.0.1", f"--mysql-port={server.target.port}", "--mysql-user=bench", "--mysql-db=sbtest"]
    words = ["oltp_read_only", *login, f"--mysql-password={PASSWORD}", "--tables=1", "--table-size=100"]
    for step in ("cleanup", "prepare"):  # another test's table has the name
        assert plimsoll("sysbench", *words, step).returncode == 0
    study = tmp_path / "study"
    process = start("sysbench", *words, "--time=2", "run", "--plimsoll-record", study, env={"TMPDIR": str(tmp_path)})
    with Watch(process.pid, but_environment_of_root=False) as watch:
        assert until(lambda: "plimsoll-engine" in watch.names)
        watch.shown.clear()  # until Python has started, the arguments are as typed
        said = finish(process)
    assert watch.shown == set()
    assert PASSWORD not in said
    assert len(list(study.rglob("*"))) > 3
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    "wrong",
    [
        ["--target", "mysql://nobody:{password}@127.0.0.1:{port}/sbtest"],
        ["--target", "mysql://bench:{password}@127.0.0.1:{port}/no_such_database"],
        ["--target", "mysql://bench:{password}@127.0.0.1:1/sbtest"],
        ["--target", "mysql://bench:{password}@127.0.0.1:{port}/sbtest", "--tls", "required"],
        ["--target", "mysql://bench:{password}@127.0.0.1:{port}/sbtest?tls=verify-ca&ca=/no/such/file"],
        ["--target", "mysql://bench:{password}@127.0.0.1:{port}/sbtest?tls=always"],
        ["--target", "mysql://bench:{password}@127.0.0.1:{port}/sbtest?{password}=1"],
        ["--target", "mysql://bench:{password}/@127.0.0.1:{port}/sbtest"],
    ],
)
def test_no_message_repeats_a_password(server: ManagedServer, tmp_path: Path, wrong: list[str]) -> None:
    arguments = [word.format(password=PASSWORD, port=server.target.port) for word in wrong]
    ran = plimsoll(*logged(tmp_path), "trial", *arguments, "--duration", "1s", env={"TMPDIR": str(tmp_path)})
    assert ran.returncode in {2, 3}, ran.stderr
    assert PASSWORD not in ran.stdout + ran.stderr
    assert left_in(tmp_path) == []
