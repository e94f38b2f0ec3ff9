"""The TPC-C-derived workload as users write it."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cli.options import tpcc_of, warm_up_of, workload_of
from plimsoll.errors import SpecError
from plimsoll.run.calibrate import refuse_wrong_server
from plimsoll.spec.clients import CLIENTS
from plimsoll.spec.levels import background_connections, pace_faults, ramp_up_s
from plimsoll.spec.study import parse_study
from plimsoll.spec.tpcc import KITS, QUIRKS, Mix, TpccSpec, quirks_of
from plimsoll.spec.workloads import data_sets


def test_options_of_the_command_line_become_tables() -> None:
    spec = tpcc_of(["partitions=8", "first_warehouse=101"], {"warehouses": 50})
    assert spec == TpccSpec(warehouses=50, partitions=8, first_warehouse=101)
    assert spec.data_line()["partitions"] == 8


def test_new_orders_may_have_the_name_of_the_specification() -> None:
    usual, tpc = tpcc_of([], {}), tpcc_of(["order_names=tpc"], {})
    assert set(tpc.table_names) ^ set(usual.table_names) == {"new_order", "new_orders"}
    assert tpc.tables_line()["order_names"] == tpc.line()["order_names"] == "tpc"
    assert "order_names" not in usual.identity()  # recordings of before are of the same workload
    assert tpc.identity()["order_names"] == "tpc"


@pytest.mark.parametrize(
    ("written", "given", "expected"),
    [
        ([], {"warehouses": 0}, "--warehouses: must be > 0, is 0"),
        ([], {"table_size": 5}, "--table-size: is not a known key"),
        (["warehouses=3"], {"warehouses": 2}, "--option warehouses: has an option of its own"),
        (["partitions=2", "foreign_keys=true"], {}, "foreign_keys: tables with partitions have none"),
        (["mix={new_order=999,payment=2}"], {}, "mix: makes a deck of 1,004 cards, of at most 1,000"),
        (["times=-1"], {}, "--option times: must be >= 0.0, is -1"),
        (["ramp_up=5"], {}, 'ramp_up: must be text with a unit, such as "60s"'),
        (["quirks=dbt2", "mode=procedures"], {}, "quirks: are those of statements"),
        (["quirks=dbt2", "consistency=each_trial"], {}, "consistency: need not hold after load with quirks"),
        (["quirks=hammerdb"], {}, "--option quirks: .*go-tpc"),
    ],
)
def test_faults_name_the_option(written: list[str], given: dict[str, Any], expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        tpcc_of(written, given)


def test_warehouses_mean_nothing_to_others() -> None:
    with pytest.raises(SpecError, match="--warehouses: is not a known key"):
        workload_of("oltp_read_write", warehouses=2)


STUDY = """
[study]
name = "orders"
levels = {{ connections = [4] }}
[[workload]]
name = "orders"
kind = "tpcc"
{}
[[system]]
name = "here"
server = {{ managed = "mariadb" }}
"""


def test_a_study_file_names_scale_and_mix() -> None:
    (spec,) = parse_study(STUDY.format("warehouses = 20\nmix = { new_order = 50, payment = 50 }")).workload
    assert isinstance(spec, TpccSpec)
    assert (spec.warehouses, spec.mix) == (20, Mix(new_order=50, payment=50))
    assert (spec.writes, spec.changes_row_count, spec.rows_count) == (True, True, 20 * 499_011 + 100_000)
    assert spec.identity()["mix"]["delivery"] == 1


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("warehouse = 3", "workload\\[0\\].warehouse: is not a known key.*warehouses"),
        ("mix = { neworder = 1 }", "workload\\[0\\].mix.neworder: is not a known key.*new_order"),
        (
            "mix = { new_order = 0, payment = 0, order_status = 0, delivery = 0, stock_level = 0 }",
            "workload\\[0\\].mix: all weights are 0",
        ),
        (
            '[[workload]]\nname = "more"\nkind = "tpcc"\nwarehouses = 2',
            "describes the table 'warehouse' otherwise",
        ),
    ],
)
def test_faults_of_a_study_file_say_where(written: str, expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        parse_study(STUDY.format(written))


def test_workloads_by_statements_and_by_procedures_share_tables_that_have_both() -> None:
    other = '[[workload]]\nname = "called"\nkind = "tpcc"\nmode = "procedures"'
    spec = parse_study(STUDY.format("") + other)
    (data_set,) = data_sets(spec.workload)
    assert data_set.data_line()["procedures"] is True
    assert [one.line()["mode"] for one in spec.workload] == ["statements", "procedures"]


def test_a_kit_brings_its_mix_unless_one_is_given() -> None:
    spec = tpcc_of(["quirks=dbt2"], {})
    assert (spec.quirks, spec.mix.payment, spec.choice) == ("dbt2", 43, "weighted")
    assert spec.line()["quirks"] == "dbt2"
    assert TpccSpec(quirks="tpcc-mysql").choice == "deck"
    own = TpccSpec(quirks="go-tpc", mix=Mix(), choice="deck")
    assert (own.mix, own.choice) == (Mix(), "deck")


def test_quirks_come_by_clause_and_each_kit_has_some() -> None:
    places = [[int(part) for part in one.clause.split(",")[0].split(".")] for one in QUIRKS]
    assert places == sorted(places)
    assert all(quirks_of(kit) for kit in KITS)


def test_the_fake_server_refuses_it() -> None:
    with pytest.raises(SpecError, match="cannot serve tpcc"):
        refuse_wrong_server(TpccSpec(), is_given=True)


TIMED = """
[study]
name = "orders"
levels = {{ connections = [4, 32] }}
{}
[[workload]]
name = "orders"
kind = "tpcc"
warehouses = 2
{}
[[system]]
name = "here"
server = {{ managed = "mariadb" }}
"""


def test_terminals_have_a_pace_of_their_own() -> None:
    (spec,) = parse_study(TIMED.format("", "terminals = 1000\ntimes = 0.5\ndelivery_connections = 2")).workload
    assert isinstance(spec, TpccSpec)
    assert (spec.has_own_pace, ramp_up_s(spec), background_connections(spec)) == (True, 0, 2)
    study = parse_study(TIMED.format("", 'times = 1\nramp_up = "30s"\ndelivery_connections = 2'))
    assert (study.sessions_max, ramp_up_s(study.workload[0])) == (34, 30)
    assert study.workload[0].line()["ramp_up_ms"] == 30_000
    assert not TpccSpec().has_own_pace
    other = workload_of("oltp_read_only")
    assert (ramp_up_s(other), background_connections(other)) == (0, 0)


@pytest.mark.parametrize(
    ("study", "workload", "expected"),
    [
        ("", "terminals = 20", r"workload\[0\].terminals: must be at least as many as connections, 32, are 20"),
        ('clients = { think_time = "1s" }', "times = 1", r"workload\[0\].times: has think times of its own"),
        ('warm_up = "20s"', 'ramp_up = "21s"', r"study.warm_up: must be at least 21 s, until all terminals"),
        ('warm_up_limit = "20s"', 'times = 1\nramp_up = "30s"', r"study.warm_up_limit: must be at least 30 s"),
    ],
)
def test_terminals_that_do_not_fit_their_level_are_refused(study: str, workload: str, expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        parse_study(TIMED.format(study, workload))


def test_a_rate_is_the_only_pace() -> None:
    faults = pace_faults(TpccSpec(delivery_connections=1), 4, is_open=True, has_think_time=False)
    assert [str(fault).split(";")[0] for fault in faults] == ["times: a rate sets the pace"]
    ramped = TpccSpec.model_validate({"ramp_up": "20s"})
    assert warm_up_of(ramped, None, 4, CLIENTS, is_open=False) == 20
    assert warm_up_of(ramped, "3s", 4, CLIENTS, is_open=False) == 3
    with pytest.raises(SpecError, match="--option terminals: must be at least as many as connections, 4, are 2"):
        warm_up_of(TpccSpec(terminals=2), None, 4, CLIENTS, is_open=False)
