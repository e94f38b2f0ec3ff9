"""Statements on split tables are one family; whatever differs in more than one number is not."""

from __future__ import annotations

import polars as pl
import pytest

from plimsoll.learn.event_log import MEMBERS_MAX, Families, families_of


def families(*texts: str, schemas: tuple[int, ...] = (), kinds: tuple[str, ...] = ()) -> Families:
    """Of templates that are numbered from 0."""
    count = len(texts)
    return families_of(
        pl.DataFrame(
            {
                "template": range(count),
                "schema": schemas or (0,) * count,
                "kind": kinds or ("select",) * count,
                "text": texts,
            }
        )
    )


def test_tables_of_one_split_are_a_family_in_the_order_of_their_numbers() -> None:
    found = families("select c from orders_10 where id = ?", "select c from orders_9 where id = ?", "select ?")
    assert found.members == {0: (1, 0)}
    assert [found.member(one) for one in (1, 0)] == [1, 2]
    assert found.of_template == {0: 0, 1: 0, 2: 2}
    assert (found.member(2), found.templates(2), found.templates(0)) == (1, (2,), (1, 0))


def test_leading_zeros_are_part_of_a_number() -> None:
    found = families(*(f"delete from `log_{number:02}`" for number in range(1, 17)))
    assert found.members == {0: tuple(range(16))}


def test_the_same_number_in_several_names_is_one_number() -> None:
    texts = [f"select a from x_{one} join y_{one} on x_{one}.c3 = y_{one}.c3" for one in (1, 2, 3)]
    assert families(*texts).members == {0: (0, 1, 2)}


def test_numbers_that_all_have_are_no_difference() -> None:
    assert families("select c1, c2 from t_1", "select c1, c2 from t_2").members == {0: (0, 1)}


@pytest.mark.parametrize(
    "texts",
    [
        ["select a from x_1 join y_2", "select a from x_2 join y_1"],  # two numbers
        ["select a from x_1 join y_1", "select a from x_1 join y_2", "select a from x_2 join y_1"],
        ["select a from x_1", "select a from x_01"],  # the same number twice
        ["select a from x_1", "select b from x_2"],
        ["select a from x_1 where b = ?", "select a from x_2 where b = ? limit ?"],
        ["select a from x_1y", "select a from x_2y"],  # not at the end of a name
        ["select a from t", "select a from t_1"],
    ],
)
def test_no_family(texts: list[str]) -> None:
    found = families(*texts)
    assert found.members == {}
    assert found.of_template == {number: number for number in range(len(texts))}


def test_schemas_and_kinds_are_kept_apart() -> None:
    assert families("select a from t_1", "select a from t_2", schemas=(0, 1)).members == {}
    assert families("select a from t_1", "select a from t_2", kinds=("select", "select_locking")).members == {}


def test_too_many_are_no_split() -> None:
    texts = [f"select a from t_{number}" for number in range(MEMBERS_MAX + 1)]
    assert families(*texts).members == {}
    assert len(families(*texts[:-1]).members[0]) == MEMBERS_MAX


def test_of_no_templates_there_are_none() -> None:
    assert families() == Families({}, {})
