"""What `plimsoll study plan` says before anything runs: systems of a matrix, the budget, TPC-C-derived workloads."""

from __future__ import annotations

from pathlib import Path

from plimsoll.cli.plan_table import plan_table, planned_lines, planned_sheets
from plimsoll.record.model import Verdict
from plimsoll.run.planning import PlannedStudy, plan_study
from plimsoll.spec.study import parse_study
from support.printed import printed

STUDY = """
[study]
name = "s"
levels = { connections = [2, 10] }
duration = "60s"
clients = { think_time = "1s" }

[[workload]]
kind = "tpcc"
name = "orders"
warehouses = 2
mix = { new_order = 9, payment = 1, order_status = 0, delivery = 0, stock_level = 0 }

[[workload]]
kind = "oltp_read_only"
name = "reads"
tables = 2

[[system]]
name = "a"
server = { managed = "mariadb", buffer_pool = "1G" }

[[system]]
name = "b"
server = { managed = "mariadb", buffer_pool = "1G", instances = 2 }
"""


def test_the_sheet_of_what_is_planned_is_told_for_tpcc_workloads_only() -> None:
    first, *others = planned_sheets(parse_study(STUDY))
    assert first.startswith("orders: no TPC-C result")
    told = {line.strip().split(": ")[0]: line for line in others}
    assert "2 to 10 terminals for 2 warehouses" in told["4.2.2"]
    assert "2 instances share the warehouses" in told["2.4.1.5, 2.5.1.2"]
    assert "a think time of 1.00 s on average" in told["5.2.5.2, 5.2.5.4"]
    assert "10.00 % payment, 0.00 % order_status" in told["5.2.3"]
    assert "measured for 1 min 00 s" in told["5.5.2.1"]


def test_what_waiting_may_add_is_told_with_the_time() -> None:
    text = STUDY + '[[system]]\nname = "theirs"\ntarget = "mysql://u@h/d"\nreset = "never"\n'
    spec = parse_study(text.replace("instances = 2", "instances = 1"))
    planned = plan_study(spec)
    waiting, stuck = list(planned_lines(spec, planned, Path("out")))[:2]
    assert len(planned.plan.trials) == 36
    assert waiting == (
        "waiting for servers to settle may add up to 36 min 00 s: at most 1 min 00 s (settle_limit) before each trial"
    )
    assert stuck.startswith("dirty pages of theirs may never fall")
    assert stuck.endswith("after 5 s, 1 min 00 s for 12 trials")


def test_what_is_recorded_already_is_told() -> None:
    spec = parse_study(STUDY)
    plan = plan_study(spec).plan
    recorded = {
        plan.trials[0].trial_id: Verdict.COMPLETE,
        plan.trials[1].trial_id: Verdict.FAILED,
        "x": Verdict.COMPLETE,
    }
    told = "\n".join(planned_lines(spec, PlannedStudy(spec, plan, recorded), Path("out")))
    assert "out: 1 of these trials are finished" in told
    assert "out: 1 recordings made before the study was changed; kept, but not part of its guide" in told


MATRIX = """
[study]
name = "m"
levels = { connections = [8] }
duration = "60s"
warm_up = "10s"
repetitions = 9
budget = "1h"
reset = "per_system"

[factors]
server.options.innodb_thread_concurrency = [0, 64]
server.profile = ["production", "bare"]
combinations = [{ innodb_thread_concurrency = 0 }, { innodb_thread_concurrency = 64, profile = "bare" }]

[[workload]]
name = "rw"
kind = "oltp_read_write"

[[system]]
name = "MariaDB"
server = { managed = "mariadb" }
"""


def test_a_matrix_is_shown_with_the_values_of_each_system() -> None:
    planned = plan_study(parse_study(MATRIX))
    lines = [" ".join(line.split()) for line in printed(plan_table(planned.plan, planned.spec)).splitlines()]
    assert lines[0] == "3 systems of 2 factors: 2 x 2, 3 of 4 combinations listed"
    assert lines[1:5] == ["system innodb_thread_concurrency profile", "1 0 production", "2 0 bare", "3 64 bare"]
    assert sum("3: 64, bare rw 8" in line for line in lines) == 9


def test_a_plan_that_was_made_to_fit_says_so() -> None:
    spec = parse_study(MATRIX.replace("1h", "20m"))
    planned = plan_study(spec, fit_budget=True)
    assert next(planned_lines(planned.spec, planned, Path("out"))) == (
        "5 repetitions are planned instead of 9, which would take about 33 min 59 s: the budget is 20 min 00 s"
    )
