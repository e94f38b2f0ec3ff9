"""`[[storage]]` sections of study files: defaults, and faults with path, value and cure."""

from __future__ import annotations

import pytest

from plimsoll.errors import SpecError
from plimsoll.record.storage import StorageTest
from plimsoll.spec.study import parse_study

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
reset = "never"
[[workload]]
name = "w"
kind = "oltp_read_only"
[[system]]
name = "a"
server = { managed = "mariadb" }
"""


def test_a_path_is_enough() -> None:
    (one,) = parse_study(STUDY + '[[storage]]\npath = "/srv"').storage
    assert (one.label, one.size, one.duration, one.queue_depths, one.precondition) == (
        "/srv",
        2**30,
        5.0,
        (1, 4, 16, 64),
        False,
    )
    assert one.tests == tuple(StorageTest)


def test_tests_are_chosen_by_name() -> None:
    text = '[[storage]]\npath = "/srv"\nname = "fast"\ntests = ["commit", "mixed", "commit"]\nqueue_depths = [8, 8]'
    (one,) = parse_study(STUDY + text).storage
    assert (one.label, one.tests, one.queue_depths) == ("fast", (StorageTest.COMMIT, StorageTest.MIXED), (8,))


def test_none_is_the_default() -> None:
    assert parse_study(STUDY).storage == ()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("", r"storage\[0\].path: is missing"),
        ('path = ""', r"storage\[0\].path: must be a path"),
        ('path = "/a"\nsize = "1M"', r'storage\[0\].size: must be at least "16M", is 1048576 bytes'),
        ('path = "/a"\nsize = 5', r"storage\[0\].size: must be text with a unit"),
        ('path = "/a"\nduration = "1h"', r'storage\[0\].duration: must be between "1s" and "10m", is 3600 s'),
        ('path = "/a"\nqueue_depths = []', r"storage\[0\].queue_depths: must not be empty"),
        ('path = "/a"\nqueue_depths = [0]', r"storage\[0\].queue_depths\[0\]: must be >= 1, is 0"),
        ('path = "/a"\ntests = ["fast"]', r"storage\[0\].tests\[0\]: must be one of sequential-read, .*, is 'fast'"),
        ('path = "/a"\nsizes = "1G"', r"storage\[0\].sizes: is not a known key; did you mean size\?"),
        ('path = "/a"\n[[storage]]\npath = "/a"', r"storage: '/a' is measured 2 times; give each section a name"),
    ],
)
def test_faults(line: str, fault: str) -> None:
    with pytest.raises(SpecError, match=fault):
        parse_study(f"{STUDY}[[storage]]\n{line}")
