"""Hooks and environments in study files: forms of a command, and what contradicts."""

from __future__ import annotations

import pytest

from plimsoll.plan.build import build_plan
from plimsoll.spec.hooks import HookSpec
from plimsoll.spec.study import StudySpec, parse_study
from support.faults import assert_refused, faults_of

STUDY = """
[study]
name = "s"
levels = { connections = [1] }
repetitions = 4
MORE
[[workload]]
name = "rw"
kind = "oltp_read_write"
"""
TARGET = '[[system]]\nname = "NAME"\ntarget = "mysql://u@h/d"\nreset = "never"\n'


def text(more: str = "", *systems: str) -> str:
    return STUDY.replace("MORE", more) + "".join(systems or (TARGET,))


def spec_with(hooks: str) -> StudySpec:
    return parse_study(text("", TARGET + f"hooks = {{ {hooks} }}\n"))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('["a b", "c"]', HookSpec(command=("a b", "c"))),
        ("\"./x.sh --name='a b' $HOME\"", HookSpec(command=("./x.sh", "--name=a b", "$HOME"))),
        ('{ command = "x y", limit = "10min" }', HookSpec(command=("x", "y"), limit="10min")),  # type: ignore[arg-type]
        ('{ command = ["x"] }', HookSpec(command=("x",))),
    ],
)
def test_forms_of_a_command(written: str, expected: HookSpec) -> None:
    hooks = spec_with(f"configure = {written}").system[0].hooks
    assert hooks is not None
    assert hooks.configure == expected
    assert HookSpec(command=("x",)).limit == 300.0


@pytest.mark.parametrize(
    ("hooks", "fault"),
    [
        ('configure = "it\'s"', "system[0].hooks.configure: cannot be split into words: no closing quotation"),
        ("configure = []", "system[0].hooks.configure.command: must not be empty"),
        ('configure = ""', "system[0].hooks.configure.command: must not be empty"),
        ("configure = 5", "system[0].hooks.configure: must be a table"),
        ('configure = ["x", 1]', "system[0].hooks.configure.command[1]: must be text, is 1"),
        ('configure = { command = "x", limit = 5 }', "system[0].hooks.configure.limit: must be text with a unit"),
        ('configure = { command = "x", timeout = "5s" }', "system[0].hooks.configure.timeout: is not a known key"),
        ('konfigure = "x"', "system[0].hooks.konfigure: is not a known key; did you mean configure?"),
        ('start = "x"', "system[0].hooks.start: needs stop as well"),
        ('stop = "x"', "system[0].hooks.stop: needs start as well"),
        ('reset = "x"', 'system[0].hooks.reset: is never called; add reset = "hook"'),
    ],
)
def test_faults_of_hooks(hooks: str, fault: str) -> None:
    assert_refused(fault, parse_study, text("", TARGET + f"hooks = {{ {hooks} }}\n"))


MANAGED = '[[system]]\nname = "m"\nserver = { managed = "mariadb" }\n'


@pytest.mark.parametrize(
    ("more", "system", "part"),
    [
        ("", TARGET.replace('"never"', '"hook"'),
         'system[0].reset: "hook" needs a command that puts the data back: add hooks.reset, or say another reset'),
        ('reset = "hook"', MANAGED, "is for targets"),
        *(("", MANAGED + f'hooks = {{ {name} = "a" }}\n', f"system[0].hooks.{name}: is for targets")
          for name in ("start", "stop", "snapshot", "reset")),
    ],
    ids=["no command", "a server that Plimsoll starts", "start", "stop", "snapshot", "reset"],
)  # fmt: skip
def test_what_hooks_and_reset_are_for(more: str, system: str, part: str) -> None:
    assert part in faults_of(parse_study, text(more, system))[0]


def test_servers_that_plimsoll_starts_are_configured_and_collected_from_only() -> None:
    parse_study(text("", MANAGED + 'hooks = { configure = "a", collect = "b" }\n'))


def named(name: str, environment: str | None, more: str = "") -> str:
    placed = "" if environment is None else f'environment = "{environment}"\n'
    return TARGET.replace("NAME", name) + placed + more


PAIR = named("a", "metal"), named("b", "virtual")


@pytest.mark.parametrize(
    ("more", "systems", "fault"),
    [
        ("", PAIR, "study.switch: is missing; the environments metal, virtual are measured in turn"),
        ('switch = "hand"', (named("a", "metal"), named("b", None)), "system[1].environment: is missing"),
        ('switch = "hand"', (named("a", "metal"),), "study.switch: there is nothing to switch"),
        ('switch = "hook"', PAIR, 'study.hooks.switch: belongs to switch = "hook"'),
        ('switch = "hand"\nhooks = { switch = "x" }', PAIR, 'study.hooks.switch: belongs to switch = "hook"'),
        ('switch = "hook"\nblocks = 2\nhooks = { switch = "x" }', PAIR, 'study.blocks: belongs to switch = "hand"'),
        ('switch = "hand"\nblocks = 5', PAIR, "study.blocks: must be at most repetitions (4), is 5"),
    ],
)
def test_faults_of_environments(more: str, systems: tuple[str, ...], fault: str) -> None:
    assert_refused(fault, parse_study, text(more, *systems))


@pytest.mark.parametrize(
    ("change", "more", "fault"),
    [
        (("repetitions = 4", 'repetitions = "auto"'), "", "study.repetitions"),
        (("connections = [1]", 'connections = [1], capacity = { response_p99 = "20ms" }'), "", "study.levels.capacity"),
        (("", ""), "[factors]\nparameters.x = [1, 2]\n", "factors:"),
        (("", ""), '[environment.gone]\ncheck = "x"\n', "environment.gone: no system is measured in it"),
    ],
    ids=["until decided", "a capacity", "factors", "an environment of no system"],
)
def test_what_several_environments_cannot_be_combined_with(change: tuple[str, str], more: str, fault: str) -> None:
    assert_refused(fault, parse_study, text('switch = "hand"', *PAIR).replace(*change) + more)


def test_blocks_are_never_more_than_repetitions_unless_somebody_says_so() -> None:
    assert parse_study(text('switch = "hand"', *PAIR).replace("= 4", "= 1", 1)).study.blocks_count == 1


def ids(written: str) -> list[str]:
    return [trial.trial_id for trial in build_plan(parse_study(written)).trials]


def test_ids_follow_from_commands_that_change_what_is_measured_and_from_nothing_else() -> None:
    plain = ids(text())
    assert ids(text("", TARGET + 'hooks = { collect = "x" }\n')) == plain
    one = ids(text("", TARGET + 'hooks = { configure = "x", start = "y", stop = "z" }\n'))
    assert not set(one) & set(plain)
    limited = 'hooks = { configure = { command = "x", limit = "9s" }, start = "y", stop = "other", collect = "c" }\n'
    assert ids(text("", TARGET + limited)) == one
    assert not set(ids(text("", TARGET + "parameters = { a = 1 }\n"))) & set(plain)
    assert not set(ids(text("", named("NAME", "metal")))) & set(plain)


def test_the_order_of_environments_changes_no_id() -> None:
    by_hook = ids(text('switch = "hook"\nhooks = { switch = "x" }', *PAIR))
    by_hand = ids(text('switch = "hand"', *PAIR))
    assert by_hook != by_hand
    assert sorted(by_hook) == sorted(by_hand)
