"""The study behind `plimsoll ab`: written, run as any study, and shown as one sentence for each side.

While it runs, standard error has the ratio so far: live on a terminal, a line for each round elsewhere. What casts
doubt on the answer is shown with it, so not while it runs. Without a folder to save it in, all of the study is removed
afterwards. Deliberately not here: the options (`ab`), and any way of its own to measure or to analyse.
"""

from __future__ import annotations

import getpass
import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console, Group
from rich.text import Text

from plimsoll.analyse.answers.answer import AbAnswer, AbComparison, AbSide, comparisons_of, sides_measured
from plimsoll.analyse.findings.catalogue import severity_of
from plimsoll.analyse.findings.doubts import Severity
from plimsoll.analyse.findings.finding_model import Grade
from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Estimate
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.cli.failures import INTERRUPTED
from plimsoll.cli.options import Login
from plimsoll.cli.panel import Panel, panel_on, stderr_console
from plimsoll.cli.progress import StudyDisplay
from plimsoll.cli.running import INVALID, say
from plimsoll.cli.streams import echo_fitted
from plimsoll.cli.watching import told_both
from plimsoll.errors import RecordError, SpecError
from plimsoll.guide.build import analyse_folder
from plimsoll.guide.warnings import grave_warnings, warning_line
from plimsoll.plan.capacity import USUAL_PAIRS
from plimsoll.private_folder import PrivateFolder
from plimsoll.prose.phrases import confidence, plain_percent, shorter, vague_words
from plimsoll.prose.ratios import effect
from plimsoll.record.level import REPETITIONS_MIN
from plimsoll.record.model import TrialWarning
from plimsoll.run.planning import total_s, with_repetitions
from plimsoll.run.status import ramps_words
from plimsoll.run.study import StudyResult, run_study
from plimsoll.servers.command import find_server
from plimsoll.spec.ab import Load, Side, study_text
from plimsoll.spec.new_study import TomlValue
from plimsoll.spec.study import STUDY_FILE, StudySpec, parse_study
from plimsoll.units import format_duration, format_ms, format_rate, printable
from plimsoll.wording import counted, listed, repeat_noun

if TYPE_CHECKING:
    from plimsoll.cli.progress import Notice
    from plimsoll.metrics.totals import Totals
    from plimsoll.run.events import SearchEvent, StudyBegan, TrialBegan, TrialEnded

_ASKED = "PLIMSOLL_AB_PASSWORD"
"""The variable that a study takes the password from that somebody was asked for."""

_FILES = ("defaults_file", "ca", "cert", "key", "server_public_key_path")


def compare_sides(
    sides: Sequence[Side], load: Load, login: Login, save: Path | None, totals: Totals | None = None, *, as_json: bool
) -> int:
    """Compares some sides and shows the answer, also when somebody ended it.

    Args:
        sides: The first is what the others are compared with.
        load: Under what, and for how long.
        login: To targets.
        save: A new folder for the study; None to remove it afterwards.
        totals: Metrics that somebody reads meanwhile; None for none.
        as_json: As one document of JSON.

    Returns:
        The exit code: 0, 4 where a trial failed, 130 after an interruption.

    Raises:
        SpecError: The study would make no sense, or does not fit the time limit. Nothing was started.
        TargetError, HostError: It could not be run.
        KeyboardInterrupt: Somebody ended it before anything was measured.
    """
    began_s = time.monotonic()
    text = study_text(sides, load, login_keys(login, sides), _flavour_of)
    spec = _checked(text, load)
    with ExitStack() as stack:
        folder = stack.enter_context(PrivateFolder("ab")) / "study" if save is None else _new(save)
        result, findings = _run(text, spec, folder, load, totals)
        analysis = _analysed(folder, writes_guide=save is not None)
    if analysis is None or not (analysis.curves or analysis.capacity_ratios):
        say("nothing was measured")
    else:
        duration_s = time.monotonic() - began_s
        _show(_answer(analysis, findings, spec, duration_s, is_interrupted=result is None), as_json=as_json)
    if save is not None:
        say(f"the study and its guide are in {save}")
    if result is None:
        return INTERRUPTED
    return INVALID if result.failed_count else 0


def login_keys(login: Login, sides: Sequence[Side]) -> dict[str, TomlValue]:
    """How to log in to targets, as keys of `[[system]]`. A password that is asked for is that of all of them.

    Raises:
        SpecError: An option is of no use for servers that Plimsoll starts.
    """
    if sides[0].target is None:
        login.refuse_for_managed()
        return {}
    if login.ask_password:
        os.environ[_ASKED] = getpass.getpass("Password of the targets: ")  # taken out before anything is started
        login = replace(login, password_env=_ASKED)
    given = {field.name: getattr(login, field.name) for field in fields(login) if field.name != "ask_password"}
    return {name: str(Path(value).absolute()) if name in _FILES else value for name, value in given.items() if value}


def _flavour_of(server: str) -> str:
    return find_server(server).flavour.name.value


def _checked(text: str, load: Load) -> StudySpec:
    """What the study file says, once its plan is known to fit the time limit.

    Raises:
        SpecError: It does not go together, or three rounds take longer.
    """
    spec = parse_study(text)
    climbs = spec.study.climbs
    least_s = total_s(spec if climbs else with_repetitions(spec, REPETITIONS_MIN))
    if least_s > load.limit_s:
        needed = (
            f"about {counted(USUAL_PAIRS, 'pair')} of ramps"
            if climbs
            else counted(REPETITIONS_MIN, repeat_noun(is_duet=spec.study.is_duet))
        )
        raise SpecError(
            f"--for: any answer needs {needed}, which take about {format_duration(math.ceil(least_s))} with setting up;"
            f" {format_duration(load.limit_s)} is too short. Allow more time, or take fewer rows or sides"
        )
    return spec


def _new(save: Path) -> Path:
    """The folder of a new study.

    Raises:
        SpecError: There is something already.
    """
    if save.exists() and not (save.is_dir() and not any(save.iterdir())):
        raise SpecError(f"--save: {save} exists; name a new folder, or go on with its study: plimsoll study run {save}")
    return save


def _run(
    text: str, spec: StudySpec, folder: Path, load: Load, totals: Totals | None
) -> tuple[StudyResult | None, tuple[TrialWarning, ...]]:
    """Runs the study that a text describes.

    Returns:
        What became of it, None where somebody ended it once it had begun; and what pre-flight checks found.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / STUDY_FILE
    file.write_text(text, encoding="utf-8")
    under = f"{spec.workload[0].name}, {counted(load.connections, 'connection')}"
    names = [system.name for system in spec.system]
    design = {"took_turns": spec.study.is_duet, "climbs": spec.study.climbs}
    say(plan_words(names, load=under, limit_s=load.limit_s, **design))
    with ab_display() as display:
        try:
            return run_study(file, spec, folder, told_both(display.show, totals)), display.findings
        except KeyboardInterrupt:
            if not display.has_begun:
                raise
            return None, display.findings


def _analysed(folder: Path, *, writes_guide: bool) -> Analysis | None:
    """What its recordings say; None where there are none."""
    try:
        if not writes_guide:
            return analyse_folder(folder)
        from plimsoll.guide.build import build_guide

        return build_guide(folder)[0]
    except RecordError:
        return None


def _show(answer: AbAnswer, *, as_json: bool) -> None:
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
        return
    for line in ab_lines(answer):
        echo_fitted(printable(line))
    for warning in answer.warnings:
        echo_fitted(printable(warning_line(warning)))


def _answer(
    analysis: Analysis,
    findings: Sequence[TrialWarning],
    spec: StudySpec,
    duration_s: float,
    *,
    is_interrupted: bool,
) -> AbAnswer:
    """What the analysis says, with what only the pre-flight checks found."""
    warnings = grave_warnings(analysis)
    known = {warning.code for warning in warnings}
    before = {
        finding.code: finding
        for finding in findings
        if finding.code not in known and severity_of(finding.code) is not Severity.CONTEXT
    }
    capacity = spec.study.levels.capacity
    ratios = analysis.differences if capacity is None else analysis.capacity_ratios
    return AbAnswer(
        workload=spec.workload[0].name,
        connections=spec.study.levels.connections[0],
        took_turns=spec.study.is_duet,
        duration_s=duration_s,
        limit_s=spec.study.budget or 0.0,
        is_interrupted=is_interrupted,
        objective_ms_p99=None if capacity is None else capacity.objective.response_ms_p99,
        comparisons=comparisons_of(ratios, spec.system[0].name),
        sides=sides_measured(analysis),
        warnings=(*before.values(), *warnings),
    )


class AbDisplay(StudyDisplay):
    """What is known so far, in place of figures of single trials.

    Attributes:
        findings: Of pre-flight checks, which are shown at the end.
    """

    def __init__(self, console: Console, live: Panel | None) -> None:
        super().__init__(console, live)
        self.findings: tuple[TrialWarning, ...] = ()
        self._known: tuple[str, ...] = ()

    def _study_began(self, event: StudyBegan) -> None:
        self.has_begun = True
        self._trial_count = event.trial_count
        self._expect(event.estimated_s)

    def _notice(self, event: Notice) -> None:
        if event.type == "readiness_judged":
            self.findings += event.findings
            return
        if event.type != "answer_progressed":
            super()._notice(event)
            return
        known = event.text[:-1] if event.is_over_budget else event.text
        self._known = tuple(printable(line.partition(": ")[2]) for line in known)  # the workload has been told
        if self._live is None:
            noun = counted(event.repetitions, repeat_noun(is_duet=event.is_duet))
            self._print("\n".join(f"after {noun}: {line}" for line in self._known))

    def _searched(self, event: SearchEvent) -> None:
        if event.type != "ramps_compared":
            return
        self._expect(event.remaining_s)
        self._known = tuple(map(printable, ramps_words(event)))
        if self._live is None:
            self._print("\n".join(f"after {counted(event.pair_count, 'pair')}: {line}" for line in self._known))

    def _began(self, event: TrialBegan) -> None:
        super()._began(event)
        place = f"{repeat_noun(is_duet=event.is_duet)} {event.repetition + 1}"
        self._now = place if event.is_duet else f"{place}, {event.system}"

    def _ended(self, event: TrialEnded) -> None:
        self._in_trial = False
        self._done_count += 1
        if event.verdict not in ("complete", "interrupted"):
            self._print(f"{event.system}: {event.verdict}: {event.reason}")

    def _picture(self) -> Group:
        left = f"; at most {format_duration(self._left_s)} left, Ctrl-C shows what is known" if self.has_begun else ""
        known = (Text(line, style="bold") for line in self._known)
        return Group(*known, Text(f"  {self._now}{left}"), Text(f"  {self._seen}"))


@contextmanager
def ab_display() -> Iterator[AbDisplay]:
    """A display for the time that it runs."""
    console = stderr_console()
    with panel_on(console) as panel:
        yield AbDisplay(console, panel)


_CLOSE = 1.1
"""Below this ratio two decimals would hide what differs."""


def plan_words(sides: Sequence[str], *, load: str, limit_s: float, took_turns: bool, climbs: bool) -> str:
    """What is about to happen, before anything is started.

    Args:
        sides: Their names.
        load: The workload and its level, in words.
        limit_s: Longest time for all of it, seconds.
        took_turns: Servers are started, and take turns; otherwise they run already.
        climbs: The loads that they bear are compared, by ramps.
    """
    how = "on throwaway servers that take turns" if took_turns else "on running servers, in runs of one after the other"
    if climbs:
        how = "on throwaway servers, by pairs of ramps"
    base, *others = sides
    compared = f"{listed(others)} against {shorter(base, others[0])}"
    return f"{compared}: {load}, {how}; ends when decided, at the latest after about {format_duration(limit_s)}"


def ab_lines(answer: AbAnswer) -> Iterator[str]:
    """How each side compares with the first one, what would decide it where that is open, and each side's figures."""
    for comparison in answer.comparisons:
        compared = _compared(comparison, bears=answer.objective_ms_p99 is not None)
        yield f"{compared}, {format_duration(answer.duration_s)}"
    undecided = [comparison for comparison in answer.comparisons if comparison.verdict.is_open]
    if any(comparison.verdict is RatioVerdict.DISTURBED for comparison in answer.comparisons):
        yield (
            "The machine was busier beside one of the sides, so that this says nothing about them: measure again when"
            " it has nothing else to do."
        )
    yield from (_open(comparison, answer) for comparison in undecided)
    if undecided and not answer.is_interrupted:
        yield f"{_surer(answer)}."
    if not answer.took_turns:
        yield (
            "Servers that run already are not frozen: each was loaded in short runs of its own, in random order, so the"
            " noise of the machines is in these figures."
        )
    width = max((len(side.name) for side in answer.sides), default=0)
    yield from (_side(side, width) for side in answer.sides)


def _compared(ab_comparison: AbComparison, *, bears: bool) -> str:
    """Two sides, the faster one first."""
    ratio, high, low = ab_comparison.ratio, ab_comparison.system, ab_comparison.base
    if ratio.value < 1:
        ratio, high, low = ratio.inverted, low, high
    low = shorter(low, high)
    inside = _interval(ratio)
    if ab_comparison.verdict is RatioVerdict.EQUAL:
        alike = "bear the same load" if bears else "are equally fast"
        return f"{high} and {low} {alike} within {plain_percent(ab_comparison.equal_within)}{_of(ratio)}"
    how = "bears {} times the load of" if bears else "is {} times as fast as"
    return f"{_how_sure(ab_comparison)}{high} {how.format(_times(ratio.value))} {low}{inside}"


def _how_sure(ab_comparison: AbComparison) -> str:
    if ab_comparison.grade is not Grade.MEASURED:
        return "indicated: " if ab_comparison.grade is Grade.INDICATED else "disturbed: "
    return "undecided: " if ab_comparison.verdict.is_open else ""


def _of(ratio: Estimate) -> str:
    inside = _interval(ratio).removeprefix(" (").removesuffix(")")
    return f" (ratio {_times(ratio.value)}{f', {inside}' if inside else ''})"


def _interval(ratio: Estimate) -> str:
    bounds = ratio.bounds
    if bounds is None:
        return ""
    if bounds.is_vague_ratio:
        return f" ({vague_words(bounds)})"
    return f" ({confidence(bounds)} confidence {_times(bounds.low, ratio)} to {_times(bounds.high, ratio)})"


def _times(value: float, beside: Estimate | None = None) -> str:
    """A ratio with two decimals, three where it is near 1, as the one that it stands beside."""
    return f"{value:.{3 if (value if beside is None else beside.value) < _CLOSE else 2}f}"


def _open(ab_comparison: AbComparison, answer: AbAnswer) -> str:
    """What is not known of two sides, and what such a measurement could have told."""
    bears = answer.objective_ms_p99 is not None
    so_many = counted(ab_comparison.rounds, "pair" if bears else repeat_noun(is_duet=answer.took_turns))
    so_many += " of ramps" if bears else ""
    name = f"{ab_comparison.system} against {shorter(ab_comparison.base, ab_comparison.system)}: "
    start = name if len(answer.comparisons) > 1 else ""
    if ab_comparison.smallest_decided is None:
        fewest = f"; {'six' if bears else 'three'} are the fewest" if ab_comparison.rounds < 6 else ""
        return f"{start}{so_many} cannot tell it from chance{fewest}."
    least = effect(ab_comparison.smallest_decided)
    return (
        f"{start}Either may {'bear more' if bears else 'be the faster one'}. With this spread, {so_many} decide a"
        f" measured difference of {least if least.startswith('more') else f'{least} or more'}."
    )


def _surer(answer: AbAnswer) -> str:
    """Which time limit would decide it."""
    needed = answer.limit_s_needed
    if needed is None or needed <= answer.limit_s:
        limit = f"--for {round(answer.limit_s / 30)}m"
        if answer.objective_ms_p99 is not None:
            return (
                f"A longer run is surer, down to differences of about 10 %, by which starts of servers differ: {limit}"
            )
        return f"A longer run is surer: {limit}"
    return f"If the ratio stays, about --for {needed / 60:.0f}m would decide it"


def _side(ab_side: AbSide, width: int) -> str:
    """A side's own figures, its name in a column of so many characters."""
    if ab_side.knee_tps is not None:
        return f"  {ab_side.name:{width}}  {_borne(ab_side)}{_lost(ab_side)}"
    if ab_side.throughput_tps is None:
        return f"  {ab_side.name:{width}}  nothing was measured"
    p99 = "" if ab_side.response_ms_p99 is None else f"  p99 {format_ms(ab_side.response_ms_p99)}"
    return f"  {ab_side.name:{width}}  {format_rate(ab_side.throughput_tps.value):>10}{p99}{_lost(ab_side)}"


def _borne(ab_side: AbSide) -> str:
    """The rate that it held, and where its answers were late."""
    assert ab_side.knee_tps is not None, "checked by the caller"
    held = "no rate was seen to hold" if ab_side.held_tps is None else f"holds at least {format_rate(ab_side.held_tps)}"
    return f"{held}  most answers late from {format_rate(ab_side.knee_tps)} on"


def _lost(ab_side: AbSide) -> str:
    """What it may lose of committed transactions, and by which settings; empty for nothing."""
    causes = ", ".join(f"{name} = {value}" for name, value in ab_side.settings_causing_loss)
    return f"  {ab_side.durability} ({causes})" if causes else ""
