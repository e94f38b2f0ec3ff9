"""Phrases that sentences share: numbers with their confidence intervals, lists, levels, factors.

Also short names of systems beside each other, a plan that was reduced to its budget, and how data was put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from plimsoll.analyse.study.cell_model import VAGUE_FACTOR, Bounds, Estimate, SpreadKind
from plimsoll.record.level import FittedBudget
from plimsoll.record.model import DataReset
from plimsoll.units import (
    format_bytes,
    format_duration,
    format_ms,
    format_number,
    format_rate,
    parse_whole,
)
from plimsoll.wording import changes_words, listed

if TYPE_CHECKING:
    from plimsoll.analyse.findings.missing import MissingGroup
    from plimsoll.analyse.study.cell_model import Durations
    from plimsoll.analyse.study.environments import Change
    from plimsoll.record.level import Level

_UNLIKE: dict[SpreadKind | None, str] = {
    SpreadKind.WITHIN_RUN: "seconds within the run",
    SpreadKind.SESSIONS: "sessions",
    SpreadKind.BLOCKS: "blocks of environments",
}
"""What differs too much for a narrow interval; else repetitions."""


def rate_with_interval(estimate: Estimate, unit: str) -> str:
    """Such as `1,234 tps (95 % CI 1,190 to 1,280)`."""
    rate = format_rate(estimate.value, unit)
    bounds = estimate.bounds
    if bounds is None:
        return rate
    if bounds.is_vague:
        return f"{rate} ({vague_words(bounds)})"
    per = 60 if unit == "tpm" else 1
    return f"{rate} ({confidence(bounds)} CI {format_number(bounds.low * per)} to {format_number(bounds.high * per)})"


VAGUE_SHORT = f"not known within a factor of {VAGUE_FACTOR:.0f}"


def vague_words(bounds: Bounds) -> str:
    """In place of an interval whose ends are more than a factor of 3 apart."""
    unlike = _UNLIKE.get(bounds.basis, "repetitions")
    return f"{VAGUE_SHORT}: {unlike} differ too much"


VAGUE_WORDS = frozenset(f"{VAGUE_SHORT}: {unlike} differ too much" for unlike in ("repetitions", *_UNLIKE.values()))
"""All that `vague_words` says."""


VAGUE_MARKS = ("‡", "§", "¶")
"""In the place of such words where they stand nearby. The dagger is of single runs (`guide.tables`)."""


def vague_once(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts that stand together: what several say of intervals that are too wide is told by the first, and marked.

    >>> words = "not known within a factor of 3: repetitions differ too much"
    >>> vague_once([f"a ({words})", f"b ({words})"])
    ('a (‡ not known within a factor of 3: repetitions differ too much)', 'b (‡)')
    """
    counts = {words: sum(text.count(words) for text in texts) for words in sorted(VAGUE_WORDS)}
    marks = dict(zip((words for words, count in counts.items() if count > 1), VAGUE_MARKS, strict=False))
    marked = list(texts)
    for words, mark in marks.items():
        first = next(index for index, text in enumerate(marked) if words in text)
        marked = [text.replace(words, mark) for text in marked]
        marked[first] = marked[first].replace(mark, f"{mark} {words}", 1)
    return tuple(marked)


def confidence(bounds: Bounds) -> str:
    """Such as `95 %`."""
    return f"{bounds.confidence * 100:.0f} %"


def p99_words(times: Durations) -> str:
    """Such as `p99 response time 20.0 ms`; empty where that is not known."""
    if times.p99 is None:
        each = times.single_runs.get("p99")
        return f"p99 response time {ms_span(each)} in single runs" if each else ""
    at_least = "at least " if "p99" in times.lower_bounds else ""
    return f"p99 response time {at_least}{format_ms(times.p99)}"


def levels_words(levels: Sequence[Level], rate_unit: str = "tps") -> str:
    """Some levels of a kind: `4 and 16 connections`, `target rates 50 and 100 tps`; empty for none that is known."""
    known = [level for level in levels if level.offered > 0]
    if len(known) < 2:
        return "".join(level.label(rate_unit) for level in known)
    figures = listed([level.figure(rate_unit) for level in known])
    return f"target rates {figures} {rate_unit}" if known[0].kind.is_at_rate else f"{figures} connections"


def ms_span(values_ms: Sequence[float]) -> str:
    """Times from the shortest to the longest: `26.3 ms to 29.1 ms`, or `26.3 ms` where they look the same."""
    return " to ".join(dict.fromkeys(format_ms(value) for value in (min(values_ms), max(values_ms))))


def plain(value: float) -> str:
    """A number, without decimals where it is whole.

    >>> plain(8.0), plain(2.5)
    ('8', '2.50')
    """
    return f"{value:,.0f}" if value == round(value) else format_number(value)


def words_of_changes(changes: Sequence[Change]) -> str:
    """The same of changes as they were found."""
    return changes_words([(change.what, change.before, change.after) for change in changes])


def group_words(group: MissingGroup) -> str:
    """A group of missing trials in one line."""
    place = ", ".join(part for part in (group.system, group.workload, levels_words(group.levels)) if part)
    repetitions = spans(group.repetitions)
    noun = "repetition" if len(group.repetitions) == 1 else "repetitions"
    return f"{place}, {noun} {repetitions}" if repetitions else place or group.trial_ids[0]


def spans(repetitions: Sequence[int]) -> str:
    """Rising repetitions, counted from 0, as people count them.

    >>> spans([0, 1, 2, 4]), spans([1]), spans([0, 1])
    ('1 to 3 and 5', '2', '1 and 2')
    """
    return listed(list(_spans(repetitions)))


def _spans(repetitions: Sequence[int]) -> Iterator[str]:
    for _, run in groupby(enumerate(repetitions), key=lambda pair: pair[1] - pair[0]):
        span = [str(number + 1) for _, number in run]
        yield from [f"{span[0]} to {span[-1]}"] if len(span) > 2 else span


def factor_name(name: str) -> str:
    """A factor as people read it; sizes carry their unit in the value."""
    return name.removesuffix("_bytes")


LEFT_OUT = "(left out)"
"""Stands for what is called a secret."""

_SECRET = re.compile(r"passw|passphrase|secret|token|credential|api_?key|pwd|(^|_)auth(_|$)|private_key", re.IGNORECASE)
_NO_SECRET = re.compile(
    r"(loose_)?(password_env|defaults_file|mysql_native_password|validate_password.*|.*token_size|old_passwords"
    r"|.*password_(lifetime|history|reuse_interval|require_current)|disconnect_on_expired_password"
    r"|max_password_errors|secure_auth|strict_password_validation|generated_random_password_length"
    r"|(caching_sha2|sha256|mysql_native)_password_(digest_rounds|proxy_users|auto_generate_rsa_keys"
    r"|(private|public)_key_path))",
    re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Whether an option or parameter is called so that its value may be a secret.

    >>> is_secret("report_password"), is_secret("wsrep_sst_auth"), is_secret("innodb_ft_min_token_size")
    (True, True, False)
    >>> is_secret("secure_auth"), is_secret("sha256_password_private_key_path"), is_secret("ssl_passphrase")
    (False, False, True)
    """
    plain = name.replace("-", "_")
    return _SECRET.search(plain) is not None and _NO_SECRET.fullmatch(plain) is None


def factor_value(name: str, value: str) -> str:
    """A factor's value; sizes in a unit that can be read, and nothing of what is called a secret.

    >>> factor_value("buffer_pool_bytes", "536870912"), factor_value("sql_mode", "")
    ('512 MiB', '(empty)')
    """
    if is_secret(name):
        return LEFT_OUT
    size_bytes = parse_whole(value) if name.endswith("_bytes") else None
    if size_bytes is not None:
        return format_bytes(size_bytes)
    return value or "(empty)"


def factor_words(
    factors: Sequence[tuple[str, str, str]], one_sided: Sequence[tuple[str, str | None, str | None]] = ()
) -> str:
    """What two points differ in, and what may differ too, as whole sentences with a blank before them.

    Args:
        factors: As (name, the one's value, the other's).
        one_sided: In the same form, None for the one that is not known.
    """
    text = ""
    if factors:
        pairs = [
            f"{factor_name(name)} ({factor_value(name, value)} against {factor_value(name, other)})"
            for name, value, other in factors
        ]
        text = f" They differ in {listed(pairs)}."
        text += " These trials cannot separate the effects of these factors." if len(factors) > 1 else ""
    if one_sided:
        known = listed(
            [f"{factor_name(name)} ({factor_value(name, value or other or '')})" for name, value, other in one_sided]
        )
        text += f" Known for only one of them, so it may also differ: {known}."
    return text


def lost_words(figures: Mapping[str, Any], system: str | None = None) -> str:
    """What a system may lose and others do not, behind what it sustains; empty where nothing.

    Args:
        figures: Of a finding.
        system: Its name, where the sentence has another subject.

    >>> lost_words({"less_durable": "may lose the last second at power loss"}, "a")
    ', but a may lose the last second at power loss'
    """
    lost = figures.get("less_durable")
    return f", but {system} {lost}" if lost and system else f", but {lost}" if lost else ""


def within_words(objective_ms_p99: float) -> str:
    """A response-time objective, behind a throughput.

    >>> within_words(15.0)
    'with p99 within 15.0 ms'
    """
    return f"with p99 within {format_ms(objective_ms_p99)}"


def plain_percent(ratio: float) -> str:
    """A share that somebody chose, as percent.

    >>> plain_percent(0.05), plain_percent(0.025)
    ('5 %', '2.50 %')
    """
    return f"{plain(round(ratio * 100, 6))} %"


def ratio_so_far_words(base: str, system: str, ratio: float, interval: tuple[float, float] | None) -> str:
    """How the loads that two systems bear compare so far, with the 95 % confidence interval where there is one yet."""
    ends = "" if interval is None else f" (95 % confidence {' to '.join(map(format_number, interval))})"
    return f"{system} bears {format_number(ratio)} times the load of {shorter(base, system)}{ends}"


def shorter(name: str, beside: str) -> str:
    """How a side is called beside another one that has just been named.

    >>> shorter("sync_binlog=1", "sync_binlog=0"), shorter("new", "old"), shorter("a=1, b=1", "a=2, b=2")
    ('=1', 'new', 'a=1, b=1')
    """
    setting, equals, value = name.partition("=")
    is_one_setting = equals and "=" not in value and beside.count("=") == 1 and beside.startswith(f"{setting}=")
    return f"={value}" if is_one_setting else name


def fitted_words(fitted: FittedBudget) -> str:
    """One sentence, without the full stop."""
    return (
        f"{fitted.repetitions} repetitions are planned instead of {fitted.repetitions_asked}, which would take about"
        f" {format_duration(fitted.asked_s)}: the budget is {format_duration(fitted.budget_s)}"
    )


def reset_words(reset: DataReset | None) -> str:
    """How data came to be as a trial met it, as part of a sentence.

    >>> reset_words(DataReset(way="copy", duration_s=2.0, size_bytes=1048576, other_s=30.0))
    'data as prepared: 1.00 MiB copied in 2 s (loading took 30 s)'
    """
    if reset is None or reset.way == "left":
        return "data as the last trial left it"
    kind = "aged data as it was kept" if reset.is_aged else "data as prepared"
    if reset.way == "fresh" or reset.duration_s is None:
        return kind
    took = format_duration(reset.duration_s)
    if reset.way == "hook":
        return f"{kind}: put back by the hook reset in {took}"
    if reset.way == "prepare":
        other = "" if reset.other_s is None else f" (copying took {format_duration(reset.other_s)})"
        return f"{kind}: loaded again in {took}{other}"
    cloned = f", {format_bytes(reset.cloned_bytes)} of it as shared blocks" if reset.cloned_bytes else ""
    other = "" if reset.other_s is None else f" (loading took {format_duration(reset.other_s)})"
    return f"{kind}: {format_bytes(reset.size_bytes or 0)} copied in {took}{cloned}{other}"
