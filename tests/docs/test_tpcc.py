"""docs/tpcc.md and the deviation sheet are one truth: the same clauses, in the same words."""

from __future__ import annotations

from plimsoll.analyse.trial.tpcc_clauses import FIXED, RESPONSE_S_P90_MAX, SHARES_MIN, Measured, deviations
from plimsoll.spec.tpcc import KITS, QUIRKS, TpccSpec
from support.repository import ROOT

TEXT = (ROOT / "docs" / "tpcc.md").read_text(encoding="utf-8")
SECTION = TEXT.split("\n## Deviations from the specification\n")[1]


def rows(header: str) -> list[tuple[str, ...]]:
    """The cells of the rows of a table, by its header."""
    lines = SECTION.split(f"{header}\n")[1].split("\n\n")[0].splitlines()[1:]
    return [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines]


def test_what_always_departs_stands_word_for_word() -> None:
    assert rows("| Clause | Here | Asked for |") == [(one.clause, one.chosen, one.asked) for one in FIXED]


def test_quirks_of_kits_stand_with_their_clauses() -> None:
    lines = TEXT.split("| Clause | What is done | sysbench-tpcc | tpcc-mysql | dbt2 | go-tpc |\n")[1].split("\n\n")[0]
    shown = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines.splitlines()[1:]]
    assert shown == [(one.clause, one.chosen, *("yes" if kit in one.kits else "" for kit in KITS)) for one in QUIRKS]


def test_every_clause_that_options_or_measurements_break_is_listed_and_no_other() -> None:
    worst = Measured(
        duration_s=1,
        shares=dict.fromkeys(SHARES_MIN, 0.0),
        response_ms_p90={name: limit_s * 1e3 + 1 for name, limit_s in RESPONSE_S_P90_MAX.items()},
        notpm_per_warehouse=13,
    )
    options = TpccSpec(warehouses=5, storage_engine="MyISAM").options()
    found = deviations(options, connections=(1,), instances=2, is_at_rates=True, measured=worst)
    broken = {clause for one in found if one not in FIXED for clause in one.clause.split(", ")}
    assert broken == {clause for row in rows("| Clause | When |") for clause in row[0].split(", ")}
