"""Classes of durability with their throughput, and what a test lost under the same settings."""

from __future__ import annotations

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.durability import durability_classes
from plimsoll.analyse.model import Analysis
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.storage import durability_section
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from plimsoll.record.fault_tests import DurabilityRecord, SettingOutcome
from support.made import measured


def study(*flushes: str) -> Analysis:
    return analyse(
        "made",
        [
            measured(
                [100.0 * (1 + place)] * 12,
                system=f"flush {flush}",
                repetition=repetition,
                environment=Environment(
                    host=HostFacts(name="made"),
                    instances=(
                        InstanceFacts(
                            name="one",
                            variables={
                                "innodb_flush_log_at_trx_commit": flush,
                                "log_bin": "ON",
                                "sync_binlog": "1",
                                "innodb_doublewrite": "ON",
                            },
                        ),
                    ),
                    client=ClientFacts(on_server_host=False),
                ),
                kind="oltp_read_write",
            )
            for repetition in range(2)
            for place, flush in enumerate(flushes)
        ],
    )


TESTED = DurabilityRecord(
    fault="power-loss",
    server="MariaDB 10.11.14",
    storage=StorageFacts(),
    connections=4,
    seed=1,
    is_complete=True,
    settings=(
        SettingOutcome(
            flush_log_at_trx_commit=2,
            sync_binlog=1,
            doublewrite=True,
            throughput_tps=900.0,
            faults=20,
            faults_with_loss=7,
            loss_ratio_max=0.56,
            acknowledged=1000,
            lost=31,
            lost_ms=640.0,
            corrupt=0,
            recovery_s=1.0,
            is_kept=True,
            each=(),
        ),
    ),
)


def test_systems_that_do_not_differ_have_no_classes() -> None:
    assert durability_classes(study("1"), TESTED) == ()


def test_the_safest_class_comes_first_and_losses_stand_beside_the_same_settings() -> None:
    safe, fast = durability_classes(study("2", "1"), TESTED)
    assert (safe.system, safe.measured) == ("flush 1", None)
    assert (safe.sync_binlog, safe.doublewrite, safe.replication) == (1, True, "none")
    assert fast.promise == "may lose the last second at power loss"
    assert fast.measured is not None
    assert (fast.measured.faults_with_loss, fast.measured.faults, fast.measured.loss_ratio_max) == (7, 20, 0.56)


def test_the_guide_shows_losses_with_their_limit_or_how_to_measure_them() -> None:
    analysis = study("1", "2")
    tested, untested = (
        analysis.model_copy(update={"durability_classes": durability_classes(analysis, measured)})
        for measured in (TESTED, None)
    )
    text = render_markdown(tested)
    assert "## Speed against safety" in text
    assert "7 of 20" in text
    assert "640 ms" in text
    section = durability_section(untested)
    assert section is not None
    assert "durability.json" in section.notes[1]
