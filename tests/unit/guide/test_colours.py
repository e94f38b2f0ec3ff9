"""Colours of the charts can be told apart, on white and in the dark, with each kind of colour blindness."""

from __future__ import annotations

import itertools
import re
from importlib.resources import files

import numpy as np
import pytest

from plimsoll.guide.marks import PAPER, SHARES_COUNT

EYES = {
    "of most people": np.eye(3),
    "without red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "without green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "without blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
"""What light becomes (Machado, Oliveira and Fernandes 2009, severity 1), as a matrix on linear red, green and blue."""

STYLE = (files("plimsoll.guide") / "templates" / "guide.css").read_text(encoding="utf-8")
MODES = {
    "light": STYLE,
    "dark": STYLE.split("prefers-color-scheme: dark")[1],
    "print": STYLE.split("@media print")[1],
}
TOLD_APART = 20.0
"""Distance in CIELAB; about 2 are a difference that can just be seen."""


def colours(mode: str) -> list[str]:
    found = re.findall(r"--share-(\d): (#[0-9a-f]{6})", MODES[mode])[:SHARES_COUNT]
    assert [int(index) for index, _ in found] == list(range(SHARES_COUNT))
    return [colour for _, colour in found]


def lab(colour: str, eye: object) -> np.ndarray:
    code = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    light = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    xyz = np.array(to_xyz) @ np.clip(np.array(eye) @ light, 0, 1) / np.array([0.95047, 1, 1.08883])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("mode", MODES)
def test_uses_of_the_processors_can_be_told_apart(mode: str, eye: str) -> None:
    seen = {colour: lab(colour, EYES[eye]) for colour in colours(mode)}
    assert len(seen) == SHARES_COUNT
    near = [
        (one, other, round(distance))
        for one, other in itertools.combinations(seen, 2)
        if (distance := float(np.linalg.norm(seen[one] - seen[other]))) < TOLD_APART
    ]
    assert not near


STACKED = ("server", "client", "other", "waiting for storage", "idle"), ("user", "system", "other")
"""Uses of the processors in the order in which they lie upon each other in a bar."""
ORDER = ("server", "client", "user", "system", "other", "waiting for storage", "idle")


@pytest.mark.parametrize("mode", MODES)
def test_neighbours_in_a_bar_can_be_told_apart_in_grey(mode: str) -> None:
    lightness = dict(zip(ORDER, (lab(colour, EYES["of most people"])[0] for colour in colours(mode)), strict=True))
    gaps = {pair: abs(lightness[pair[0]] - lightness[pair[1]]) for of in STACKED for pair in itertools.pairwise(of)}
    assert min(gaps.values()) >= 10.0, gaps


def test_pictures_that_stand_alone_have_the_colours_of_the_page() -> None:
    assert list(PAPER.shares) == colours("light") == colours("print")
