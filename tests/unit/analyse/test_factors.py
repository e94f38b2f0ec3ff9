"""Factors are compared by what servers say of themselves; what is unknown is never a difference."""

from __future__ import annotations

import pytest

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.model import Analysis, SystemSummary
from plimsoll.analyse.study.factors import FactorComparison, compare_factors, factors_of
from plimsoll.guide.facts import factor_table
from plimsoll.prose.phrases import factor_words
from plimsoll.record.environment import ClientFacts, Environment, HostFacts, InstanceFacts
from support.made import measured
from support.told import answer_of

MANAGED = {"server": "mariadb", "profile": "production", "buffer_pool_bytes": "536870912"}
TARGET = {"target": "db1:3306", "tls": "preferred"}
POOL = {"innodb_buffer_pool_size": "536870912", "innodb_flush_log_at_trx_commit": "1", "autocommit": "ON"}


def environment(*variables: dict[str, str], flavour: str | None = "mariadb") -> Environment:
    instances = tuple(
        InstanceFacts(name=f"i/{number}", flavour=flavour, variables=variable)
        for number, variable in enumerate(variables)
    )
    return Environment(host=HostFacts(name="h", cpu_cores=4), instances=instances, client=ClientFacts())


def system(name: str, factors: dict[str, str], *variables: dict[str, str], flavour: str = "mariadb") -> SystemSummary:
    return SystemSummary(
        name=name,
        factors=factors,
        instances=max(len(variables), 1),
        environment=environment(*variables, flavour=flavour),
    )


def compared(one: SystemSummary, other: SystemSummary) -> FactorComparison:
    return compare_factors(factors_of(one), factors_of(other))


def test_a_target_with_the_variables_of_a_managed_server_does_not_differ_from_it() -> None:
    """Said once: "They differ in buffer_pool_bytes (536870912 against unknown)", of two servers with equal settings."""
    assert compared(system("m", MANAGED, POOL), system("t", TARGET, POOL)) == FactorComparison()
    assert compared(system("t", TARGET, POOL), system("m", MANAGED, POOL)) == FactorComparison()


def test_a_target_with_another_pool_differs_by_what_it_says_of_itself() -> None:
    other = {**POOL, "innodb_buffer_pool_size": "134217728"}
    found = compared(system("m", MANAGED, POOL), system("t", TARGET, other))
    assert found == FactorComparison((("buffer_pool_bytes", "536870912", "134217728"),))
    assert factor_words(found.differing) == " They differ in buffer_pool (512 MiB against 128 MiB)."


def test_effective_variables_beat_what_a_study_file_says() -> None:
    stated = {**MANAGED, "innodb-flush-log-at-trx-commit": "2"}
    assert compared(system("a", stated, POOL), system("b", MANAGED, POOL)) == FactorComparison()
    flush = {**POOL, "innodb_flush_log_at_trx_commit": "2"}
    found = compared(system("a", stated, flush), system("b", MANAGED, POOL))
    assert found.differing == (("innodb-flush-log-at-trx-commit", "2", "1"),)


def test_servers_of_two_flavours_differ_also_where_one_is_a_target() -> None:
    found = compared(system("m", MANAGED, POOL), system("t", TARGET, POOL, flavour="mysql"))
    assert found.differing == (("server", "mariadb", "mysql"),)


def test_two_targets_differ_in_where_they_are() -> None:
    found = compared(system("a", TARGET, POOL), system("b", {**TARGET, "target": "db2:3306"}, POOL))
    assert found == FactorComparison((("target", "db1:3306", "db2:3306"),))


def test_a_server_that_says_nothing_of_itself_may_differ_and_does_not() -> None:
    found = compared(system("m", MANAGED, POOL), system("t", TARGET))
    assert found.differing == ()
    assert found.one_sided == (("server", "mariadb", None), ("buffer_pool_bytes", "536870912", None))
    words = factor_words(found.differing, found.one_sided)
    assert words == " Known for only one of them, so it may also differ: server (mariadb) and buffer_pool (512 MiB)."


def test_what_a_study_file_sets_for_one_managed_server_is_not_set_for_the_other() -> None:
    """Said once: "Known for only one of them, so it may also differ: cpu_count (4)", of a study that says it."""
    found = compared(system("a", {**MANAGED, "cpu_count": "4"}, POOL), system("b", MANAGED, POOL))
    assert found == FactorComparison((("cpu_count", "4", "not set"),))
    assert factor_words(found.differing) == " They differ in cpu_count (4 against not set)."
    limited = {**MANAGED, "memory_limit_bytes": str(2**30)}
    words = factor_words(compared(system("a", MANAGED, POOL), system("b", limited, POOL)).differing)
    assert words == " They differ in memory_limit (not set against 1.00 GiB)."


def test_what_a_study_file_sets_for_a_managed_server_is_not_known_of_a_target() -> None:
    found = compared(system("a", {**MANAGED, "cpu_count": "4"}, POOL), system("b", TARGET, POOL))
    assert (found.differing, found.one_sided) == ((), (("cpu_count", "4", None),))


def test_the_table_of_factors_says_what_is_not_set() -> None:
    systems = (system("a", {**MANAGED, "cpu_count": "4"}, POOL), system("b", MANAGED, POOL))
    table = factor_table(Analysis(
        plimsoll_version="0", study="made", answer=(), limits=(), systems=systems, workloads=(), curves=()
    ))  # fmt: skip
    assert table is not None
    assert [[entry.text for entry in row] for row in table.rows] == [["a", "4"], ["b", "not set"]]


def test_spellings_of_one_value_do_not_differ() -> None:
    stated = {"autocommit": "true"}
    assert compared(system("a", stated, POOL), system("b", {}, {**POOL, "autocommit": "1"})) == FactorComparison()


@pytest.mark.parametrize(("each", "differs"), [(178257920, False), (178257920 * 2, True)])
def test_the_buffer_pool_is_that_of_all_instances_together(each: int, *, differs: bool) -> None:
    """512 MiB divided by three are 170 MiB each: rounding is no factor."""
    three = [{**POOL, "innodb_buffer_pool_size": str(each)}] * 3
    found = compared(system("one", MANAGED, POOL), system("three", MANAGED, *three))
    assert ("buffer_pool_bytes" in {name for name, *_ in found.differing}) is differs


def test_instances_that_disagree_show_all_their_values() -> None:
    two = [{**POOL, "autocommit": "ON"}, {**POOL, "autocommit": "OFF"}]
    found = compared(system("one", {"autocommit": "ON"}, POOL), system("two", {}, *two))
    assert ("autocommit", "ON", "ON | OFF") in found.differing


def test_the_answer_of_equal_servers_names_no_difference() -> None:
    recordings = [
        measured([tps + repetition] * 12, system=name, repetition=repetition, factors=factors,
                 environment=environment(POOL))
        for name, factors, tps in (("m", MANAGED, 1000.0), ("t", TARGET, 2000.0))
        for repetition in range(3)
    ]  # fmt: skip
    analysis = analyse("s", recordings)
    (peaks,) = (difference for difference in analysis.differences if difference.level is None)
    assert (peaks.other_factors, peaks.one_sided_factors) == ((), ())
    assert not any("They differ" in text or "may differ too" in text for text in answer_of(analysis))


def test_a_size_of_thousands_of_digits_is_no_size() -> None:
    hostile = {**POOL, "innodb_buffer_pool_size": "9" * 5_000, "innodb_flush_log_at_timeout": "9" * 5_000}
    found = compared(system("m", MANAGED, POOL), system("t", TARGET, hostile))
    assert found.one_sided == (("buffer_pool_bytes", "536870912", None),)
