"""The section on effects of factors, in every form of the guide."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from plimsoll.analyse.model import Analysis
from plimsoll.analyse.study.cell_model import Bounds, Estimate
from plimsoll.analyse.study.curve_model import Effects
from plimsoll.analyse.study.effects import effect_answer
from plimsoll.analyse.study.ratio_model import RatioVerdict
from plimsoll.guide.answer import render_json
from plimsoll.guide.content import describe
from plimsoll.guide.effects import ADDITIVE_NOTE, effect_sentences, effects_chart, effects_section
from plimsoll.guide.figures import chart_spec
from plimsoll.guide.html import render_html
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.marks import Style
from plimsoll.guide.terminal import render_terminal
from support.analyses import measured_analysis
from support.matrices import matrix_analysis
from support.printed import printed


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return matrix_analysis()


def sentences(analysis: Analysis) -> Iterator[str]:
    return effect_sentences("read-write", analysis)


def test_effects_come_first_then_the_interactions_that_are_established(analysis: Analysis) -> None:
    found = list(sentences(analysis))
    assert found[0].startswith("read-write: threads 64 instead of 0 changes throughput by +21.")
    assert found[0].endswith("on average over scheduling and 2 levels.")
    assert found[1].startswith("read-write: scheduling fifo:10 instead of other changes throughput by +1")
    assert found[2].startswith("read-write: the effect of threads on throughput depends on scheduling: 64 instead of 0")
    assert "with other and by +3" in found[2]
    assert found[3].startswith("read-write: the effect of threads (64 instead of 0) depends on the level: ")
    assert len(found) == 5


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("equal", "leaves throughput equal within 5 %: +21."),
        ("unresolved", "no effect of threads 64 instead of 0 is established: +21."),
        ("untestable", "a confidence interval needs repetitions."),
    ],
)
def test_every_verdict_has_its_sentence(analysis: Analysis, verdict: str, words: str) -> None:
    effects = tuple(
        factor.model_copy(update={"verdict": RatioVerdict(verdict), "repetitions_needed": 3})
        for factor in analysis.effects.factors
    )
    interactions = tuple(
        interaction.model_copy(update={"verdict": RatioVerdict.UNRESOLVED})
        for interaction in analysis.effects.interactions
    )
    found = list(
        sentences(analysis.model_copy(update={"effects": Effects(factors=effects, interactions=interactions)}))
    )
    assert words in found[0]
    assert found[-1].startswith("read-write: no significant interaction; the largest minimum detectable effect")


def test_effects_that_assume_no_interactions_say_so(analysis: Analysis) -> None:
    effects = tuple(factor.model_copy(update={"is_additive": True}) for factor in analysis.effects.factors)
    changed = analysis.model_copy(update={"effects": Effects(factors=effects)})
    section = effects_section(changed)
    assert section is not None
    assert section.notes[-1] == ADDITIVE_NOTE
    assert section.tables[0].rows[0][4].text.endswith("*")
    assert next(sentences(changed)).endswith("if factors do not interact.")


def test_every_form_of_the_guide_shows_the_effects(analysis: Analysis) -> None:
    first = next(sentences(analysis))
    assert first in render_markdown(analysis)
    page = render_html(analysis)
    assert 'id="effects"' in page
    assert "Effect at each level" in page
    assert [load["factor"] for load in json.loads(render_json(analysis))["effects"]["factors"]] == [
        "threads",
        "scheduling",
    ]


def test_a_terminal_shows_effects_as_tables_and_no_sentence_of_them(analysis: Analysis) -> None:
    text = printed(render_terminal(analysis))
    lines = [" ".join(line.split()) for line in text[text.index("Effects of factors") :].splitlines()]
    assert "factor values effect 95 % CI verdict" in lines
    assert any(line.startswith("threads 64 instead of 0 +21.") and line.endswith(" % higher") for line in lines)
    assert any(line.startswith("threads 64 instead scheduling +9.") for line in lines)
    assert not any("changes throughput by" in line for line in lines)
    assert max(map(len, text.splitlines())) <= 80


def test_a_terminal_says_what_effects_assume_and_that_none_depends_on_another(analysis: Analysis) -> None:
    effects = tuple(factor.model_copy(update={"is_additive": True}) for factor in analysis.effects.factors)
    interactions = tuple(
        interaction.model_copy(update={"verdict": RatioVerdict.UNRESOLVED})
        for interaction in analysis.effects.interactions
    )
    changed = analysis.model_copy(update={"effects": Effects(factors=effects, interactions=interactions)})
    text = printed(render_terminal(changed), width=400)
    assert ADDITIVE_NOTE in text
    assert "No interaction is established; the largest minimum detectable effect" in text
    assert "interactions that are established" not in text


def headlines(effects: Effects, analysis: Analysis) -> list[str]:
    """What the first screen says of these effects."""
    told = (*(one for one in analysis.answer if one.code != "effects"), *effect_answer(effects))
    changed = analysis.model_copy(update={"effects": effects, "answer": told})
    return [headline.without_workload for headline in describe(changed).first.headlines[1:]]


def test_the_first_screen_names_the_strongest_effects_and_what_they_depend_on(analysis: Analysis) -> None:
    (said,) = headlines(analysis.effects, analysis)
    first, second = said.split(". T")
    assert first.startswith("The strongest effect on throughput is that of threads 64 instead of 0: +21.")
    assert "; then scheduling fifo:10 instead of other: +1" in first
    assert second.startswith("he effect of threads 64 instead of 0 depends on the level (")
    assert " at 4 connections, +4" in second
    assert " with other, +3" in second
    assert "1 more interaction is established." in second


@pytest.mark.parametrize(
    ("verdicts", "start"),
    [
        (("faster", "unresolved"), "The only established effect on throughput is that of threads 64 instead of 0: "),
        (("unresolved", "faster"), "The only established effect on throughput is that of scheduling fifo:10 instead"),
        (("unresolved", "equal"), "No effect of threads or scheduling on throughput is established on average"),
        (("equal", "equal"), "No effect of threads or scheduling: all values leave throughput equal within 5 %."),
        (("untestable", "untestable"), "Whether threads and scheduling change throughput is not known: "),
    ],
)
def test_every_outcome_has_its_headline(analysis: Analysis, verdicts: tuple[str, str], start: str) -> None:
    pairs = zip(analysis.effects.factors, verdicts, strict=True)
    effects = tuple(one.model_copy(update={"verdict": RatioVerdict(verdict)}) for one, verdict in pairs)
    (said,) = headlines(Effects(factors=effects), analysis)
    assert said.startswith(start)


def test_one_factor_changes_and_several_change(analysis: Analysis) -> None:
    one = analysis.effects.factors[0].model_copy(update={"verdict": RatioVerdict.UNTESTABLE})
    (said,) = headlines(Effects(factors=(one,)), analysis)
    assert said.startswith(f"Whether {one.factor} changes throughput is not known: ")


def test_effects_and_interactions_beyond_two_are_counted(analysis: Analysis) -> None:
    more = tuple(
        factor.model_copy(update={"factor": f"{factor.factor}-{index}"})
        for index in range(2)
        for factor in analysis.effects.factors
    )
    (said,) = headlines(Effects(factors=more), analysis)
    assert said.endswith("; 2 more effects are established.")


def test_the_chart_has_a_point_for_each_effect(analysis: Analysis) -> None:
    section = effects_section(analysis)
    assert section is not None
    (chart,) = section.charts
    drawn = json.dumps(chart.draw(Style(width_px=400, height_px=220)).to_dict())
    assert "threads 64 instead of 0" in drawn
    assert "scheduling fifo:10 instead of other" in drawn


def test_effects_of_a_few_percent_have_a_scale_with_numbers(analysis: Analysis) -> None:
    bounds = Bounds(low=0.98, high=1.04, method="made")
    small = [
        effect.model_copy(update={"ratio": Estimate(value=1.01, bounds=bounds, trial_count=3), "equal_within": 0.05})
        for effect in analysis.effects.factors
    ]
    spec = chart_spec(effects_chart(small, Style(width_px=400, height_px=220)))
    assert spec["layer"][0]["encoding"]["x"]["axis"]["values"] == [0.95, 1.0, 1.05]


def test_systems_that_were_written_out_have_no_such_section() -> None:
    assert effects_section(measured_analysis()) is None
