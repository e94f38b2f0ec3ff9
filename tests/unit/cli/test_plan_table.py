"""What `plimsoll study plan` says of TPC-C-derived workloads before anything runs."""

from __future__ import annotations

from pathlib import Path

from plimsoll.cli.plan_table import planned_lines, planned_sheets
from plimsoll.record.model import Verdict
from plimsoll.run.planning import PlannedStudy, plan_study
from plimsoll.spec.study import parse_study

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
        "waiting until servers are quiet may add up to 36 min 00 s: at most 1 min 00 s (settle_limit) before each trial"
    )
    assert stuck.startswith("dirty pages of theirs may never fall")
    assert stuck.endswith("seen after 5 s, 1 min 00 s for 12 trials")


def test_what_is_recorded_already_is_told() -> None:
    spec = parse_study(STUDY)
    plan = plan_study(spec).plan
    recorded = {
        plan.trials[0].trial_id: Verdict.COMPLETE,
        plan.trials[1].trial_id: Verdict.FAILED,
        "x": Verdict.COMPLETE,
    }
    told = "\n".join(planned_lines(spec, PlannedStudy(plan, recorded), Path("out")))
    assert "out: 1 of these trials are finished" in told
    assert "out: 1 recordings made before the study was changed; kept, but no part of its guide" in told
