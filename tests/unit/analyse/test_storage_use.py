"""A commit's flush beside a transaction: for the systems whose data lies on that storage, and no other."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.storage import storage_uses
from plimsoll.analyse.model import Analysis
from plimsoll.guide.markdown import render_markdown
from plimsoll.guide.storage import use_sentence
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts, StorageFacts
from plimsoll.record.storage import OperationFigures, StorageMeasurement, StorageRecord, StorageTest
from support.made import measured
from unit.analyse.test_server_summaries import SECONDS, TPS, telemetry


def figures(ms: float) -> OperationFigures:
    return OperationFigures(count=9, per_s=9, bytes_per_s=0, ms_mean=ms, ms_p50=ms, ms_p99=ms * 2)


def storage(device: str | None, *, flush_ms: float = 0.93, path: str = "/srv", is_direct: bool = True) -> StorageRecord:
    commit = StorageMeasurement(
        test=StorageTest.COMMIT,
        queue_depth=1,
        block_bytes=512,
        duration_s=1,
        write=figures(0.01),
        flush=figures(flush_ms),
    )
    return StorageRecord(
        name="fast",
        path=path,
        size_bytes=2**30,
        duration_s=5,
        is_preconditioned=False,
        is_direct=is_direct,
        fio_version="fio-3.33",
        began_unix_s=0,
        facts=StorageFacts(path=path, device=device, file_system="xfs"),
        measurements=(commit,),
    )


def study(
    data: StorageFacts,
    measured_storage: StorageRecord,
    *,
    flushes: float = 1.0,
    reads_per_s: float | None = None,
    instances: int = 1,
) -> Analysis:
    trial = measured(
        np.full(SECONDS - 2, TPS),
        environment=Environment(
            host=HostFacts(name="here"),
            client=ClientFacts(on_server_host=True),
            instances=tuple(InstanceFacts(name=f"a/{index}", storage=data) for index in range(instances)),
        ),
        telemetry=telemetry(
            {
                ("server", "one", "innodb_data_fsyncs"): flushes * TPS,
                ("process", "one", "server_storage_write_bytes_per_s"): 4096 * TPS,
                ("device", "one", "write_per_s"): 250.0,
                **({} if reads_per_s is None else {("device", "one", "read_per_s"): reads_per_s}),
            }
        ),
        response_ns=np.full(200, 1_300_000),
    )
    analysis = analyse("made", [trial])
    uses = tuple(storage_uses([measured_storage], analysis.systems, analysis.where_time))
    return analysis.model_copy(update={"storages": (measured_storage,), "storage_use": uses})


def test_a_flush_and_a_transaction_of_the_same_device() -> None:
    analysis = study(StorageFacts(path="/var/x", device="vda1"), storage("vda1"))
    (use,) = analysis.storage_use
    assert (use.flush_ms, use.flushes, use.written_kb) == (0.93, pytest.approx(1.0), pytest.approx(4.0))
    assert use.response_ms == pytest.approx(1.3, rel=0.01)
    assert use.writes_per_s == pytest.approx(250)
    assert "a commit's flush is 0.93 ms (fast) of a 1.30 ms transaction at 4 connections" in use_sentence(use)
    page = render_markdown(analysis)
    assert "a commit's flush is 0.93 ms" in page
    assert "| commit | 1 | flush |" in page


def with_most(read_per_s: float, write_per_s: float) -> StorageRecord:
    """A storage that does so much at its best queue depth, and half as much at another."""

    def test(which: StorageTest, depth: int, **operation: OperationFigures) -> StorageMeasurement:
        return StorageMeasurement(test=which, queue_depth=depth, block_bytes=16384, duration_s=1, **operation)

    def most(per_s: float) -> OperationFigures:
        return figures(1.0).model_copy(update={"per_s": per_s})

    measurements = [
        test(which, depth, **{operation: most(per_s * share)})
        for which, operation, per_s in (
            (StorageTest.RANDOM_READ, "read", read_per_s),
            (StorageTest.RANDOM_WRITE, "write", write_per_s),
        )
        for depth, share in ((1, 0.5), (8, 1.0), (64, 0.5))
    ]
    return storage("vda1").model_copy(update={"measurements": tuple(measurements)})


def test_how_much_of_a_device_a_load_used() -> None:
    """250 writes of 1,000 and 100 reads of 2,000 are 30 % of the device, which is enough for 3.3 times the load."""
    data = StorageFacts(device="vda1")
    (use,) = study(data, with_most(2000, 1000), reads_per_s=100.0).storage_use
    assert use.device_ratio == pytest.approx(0.3)
    assert use.device_limit_tps == pytest.approx(TPS / 0.3)
    unknown = [
        study(data, with_most(2000, 1000)),
        study(data, with_most(0, 1000), reads_per_s=100.0),
        study(data, storage("vda1"), reads_per_s=100.0),
        study(data, with_most(2000, 1000).model_copy(update={"is_direct": False}), reads_per_s=100.0),
        study(data, with_most(2000, 1000), reads_per_s=100.0, instances=2),
    ]
    assert [one.storage_use[0].device_ratio for one in unknown] == [None] * 5


def test_transactions_that_do_not_flush_are_said_so() -> None:
    (use,) = study(StorageFacts(device="vda1"), storage("vda1"), flushes=0.02).storage_use
    assert "only 0.02 for each transaction" in use_sentence(use)


@pytest.mark.parametrize(
    ("data", "record", "is_on_it"),
    [
        (StorageFacts(path="/srv/x", device="vdb"), storage("vda"), False),
        (StorageFacts(path="/srv/x", file_system="xfs"), storage(None), True),
        (StorageFacts(path="/srv2/x", file_system="xfs"), storage(None), False),
        (StorageFacts(path="/srv/x", file_system="tmpfs"), storage(None), False),
        (StorageFacts(path="/srv/x", device="vdb", file_system="xfs"), storage(None), False),
    ],
)
def test_which_storage_holds_the_data(data: StorageFacts, record: StorageRecord, is_on_it: bool) -> None:
    assert bool(study(data, record).storage_use) is is_on_it


def test_a_page_cache_is_said_to_be_one() -> None:
    page = render_markdown(study(StorageFacts(), storage("vda", is_direct=False)))
    assert "does not allow direct I/O" in page


def test_without_storage_there_is_no_section() -> None:
    analysis = study(StorageFacts(device="vda1"), storage("vda1"))
    assert "## Storage" not in render_markdown(analysis.model_copy(update={"storages": (), "storage_use": ()}))
