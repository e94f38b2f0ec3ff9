"""What limits a curve, in words: the resource or the wait, what more processors would give, and what is not known.

Deliberately not here: tables and charts (`where_time`), and how that is found (`plimsoll.analyse.where_time`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.analyse.links import NETWORK
from plimsoll.analyse.own_processors import CLIENT_CPUS, CPUS_OF, SERVER_CPUS
from plimsoll.analyse.resources import CPU_QUOTA
from plimsoll.analyse.storage_model import StorageUse
from plimsoll.analyse.throttled import THROTTLED_RATIO
from plimsoll.analyse.where_model import (
    BUSIEST,
    CPU,
    DATA_DEVICE,
    ResourceDemand,
    WhatIf,
    WhereLevel,
    WherePart,
    WhereTime,
    WhereVerdict,
    is_device,
)
from plimsoll.analyse.where_time import OTHERS_RATIO
from plimsoll.prose.phrases import confidence, listed, rate_with_interval
from plimsoll.units import format_ms, format_percent, format_rate

PARTS: Mapping[WherePart, str] = {
    WherePart.SERVER_CPU: "server CPU",
    WherePart.CLIENT_CPU: "client CPU",
    WherePart.RUN_QUEUE: "waiting for a CPU",
    WherePart.ROW_LOCKS: "row locks",
    WherePart.REDO: "redo and binary log",
    WherePart.STORAGE_READS: "storage reads",
    WherePart.UNEXPLAINED: "unexplained",
}
CPUS = (CPU, BUSIEST, SERVER_CPUS, CLIENT_CPUS)
LARGE_RATIO = 0.2
"""From this share on, the part of response time that no source explains is said in words."""

_MOST_RATIO = 0.5
"""From this share of the busy time on, who took it is what limits."""

_NAMES = {
    CPU: ("the processors", "are"),
    BUSIEST: ("a single CPU", "is"),
    SERVER_CPUS: ("the server's processors", "are"),
    CLIENT_CPUS: ("the client's processors", "are"),
    CPU_QUOTA: ("the server's quota of processor time", "is"),
}
_PARALLEL = "a device that serves requests in parallel may still have capacity"


def where_sentence(one: WhereTime, unit: str, uses: Iterable[StorageUse] = ()) -> str:
    """What limits one curve, what more processors would give, and how much no source explains.

    Args:
        one: The curve.
        unit: Of its throughput.
        uses: What systems did to storage that fio measured.
    """
    use = next((use for use in uses if (use.system, use.workload) == (one.system, one.workload)), None)
    return f"{one.workload}, {one.system}: {_limit(one, unit, use)}{_throttled(one)}{_unexplained(one)}"


def _limit(one: WhereTime, unit: str, use: StorageUse | None) -> str:
    nothing, network = _no_hardware(one)
    match one.verdict:
        case WhereVerdict.SATURATED | WhereVerdict.FIRST_TO_SATURATE:
            return f"{_resource(one, unit, use)}{_what_if(one.what_if, unit, use)}"
        case WhereVerdict.WAIT_GROWS if one.part is not None:
            return f"{nothing} throughput{_growth(one, one.part)}{_rivals(one)}{network}"
        case WhereVerdict.UNEXPLAINED_WAIT_GROWS:
            return (
                f"{nothing} throughput, and no counter says what does: time that nothing explains grew by"
                f" {_grown(one)} per transaction.{_rivals(one)}{network}"
            )
        case WhereVerdict.NOTHING_GROWS if len(one.levels) == 1:
            return f"no resource was busy at the only level that was measured: more load would show the limit.{network}"
        case WhereVerdict.NOTHING_GROWS:
            return (
                "no resource was busy at the highest throughput and response time hardly grew: more load would show"
                f" the limit.{network}"
            )
    return "telemetry does not say what limits throughput."


def _no_hardware(one: WhereTime) -> tuple[str, str]:
    """That nothing is busy, as far as it is known; and a sentence about the rest."""
    if one.is_network_known:
        return "no hardware resource limits", ""
    return "neither processors nor disks limit", " The network was not measured at both ends, so it may be the limit."


def _growth(one: WhereTime, part: WherePart) -> str:
    """The wait that grew, or the client's processor time; ends the sentence."""
    if part is WherePart.CLIENT_CPU:
        return (
            f". No wait of the server grew as much as the client's own processor time: by {_grown(one)} per"
            " transaction. If the client shares CPUs with the server, give it CPUs of its own."
        )
    return f": {_wait(one, part)}. That wait grew by {_grown(one)} per transaction."


def _wait(one: WhereTime, part: WherePart) -> str:
    if part is WherePart.UNEXPLAINED:
        return "time that nothing explains"
    if part is WherePart.CLIENT_CPU:
        return "the client's own processor time"
    return f"{PARTS[part]} on {one.table}" if part is WherePart.ROW_LOCKS and one.table else PARTS[part]


def _grown(one: WhereTime) -> str:
    grown, bounds = format_ms(one.growth_ms or 0.0), one.growth_bounds
    if bounds is None:
        return grown
    low, high = map(format_ms, (bounds.low, bounds.high))
    return f"{grown} ({confidence(bounds)} CI {low} to {high})"


def _rivals(one: WhereTime) -> str:
    if not one.rival_parts:
        return ""
    others = listed([_wait(one, part) for part in one.rival_parts])
    return f" These trials do not resolve whether it grew more than {others}."


def _resource(one: WhereTime, unit: str, use: StorageUse | None) -> str:
    demand = next(demand for demand in one.demands if demand.resource == one.resource)
    name, verb = _name(demand.resource)
    used = _used(demand)
    at = rate_with_interval(demand.saturation_tps, unit)
    is_full = one.verdict is WhereVerdict.SATURATED
    if is_device(demand.resource):
        later = "" if is_full else f", and all the time at about {at} if demand per transaction stays the same"
        text = f"{name} {verb} the busiest resource: {used} at the highest throughput{later}; {_PARALLEL}."
        text += _of_fio(demand.resource, use)
    elif is_full and _is_of_others(one, demand.resource):
        text = (
            f"{name} {verb} saturated, and not by this load: {used} at the highest throughput, and"
            f" {format_percent(one.others_ratio or 0.0)} of the busy time was that of other processes than server and"
            " client. End them, and measure again."
        )
    elif is_full:
        text = f"{name} {verb} saturated: {used} at the highest throughput."
    else:
        text = (
            f"{name} {verb} the first to saturate, at about {at} if demand per transaction stays the same: {used}"
            " at the highest throughput."
        )
    return f"{text}{_rival(one)}{_client_and_others(one, demand.resource)}"


def _is_of_others(one: WhereTime, resource: str) -> bool:
    """Whether most of the processors' busy time was neither the server's nor the client's."""
    return resource in CPUS and (one.others_ratio or 0.0) > _MOST_RATIO


def _used(demand: ResourceDemand) -> str:
    share = format_percent(demand.utilisation_ratio)
    if demand.resource.startswith(NETWORK):
        return f"{share} of its speed used"
    return f"{share} used" if demand.resource == CPU_QUOTA else f"{share} busy"


def _of_fio(resource: str, use: StorageUse | None) -> str:
    if use is None or use.device_ratio is None or not resource.startswith(DATA_DEVICE):
        return ""
    return f" It did {format_percent(use.device_ratio)} of the random reads and writes that fio reached on it."


def _rival(one: WhereTime) -> str:
    if one.rival is None:
        return ""
    name = _name(one.rival)[0]
    if is_device(one.resource) and not is_device(one.rival):
        used = next(_used(demand) for demand in one.demands if demand.resource == one.rival)
        return f" What limits may therefore be {name}: {used}."
    return f" The repetitions leave open whether it is {name}."


def _client_and_others(one: WhereTime, resource: str) -> str:
    shared = f" The client took {format_percent(one.client_ratio)} of the busy time." if one.client_ratio else ""
    others = ""
    is_told = one.verdict is WhereVerdict.SATURATED and _is_of_others(one, resource)
    if one.others_ratio is not None and one.others_ratio >= OTHERS_RATIO and resource in CPUS and not is_told:
        others = f" Neither server nor client used {format_percent(one.others_ratio)} of it: something else did."
    client = " The server may sustain more: give the client more CPUs." if resource == CLIENT_CPUS else ""
    return f"{shared}{others}{client}"


def _name(resource: str) -> tuple[str, str]:
    """A resource in words, and the verb that goes with it."""
    if resource.startswith(CPUS_OF):
        return f"the CPUs of {resource.removeprefix(CPUS_OF)}", "are"
    if resource.startswith(NETWORK):
        return f"the network link {resource.removeprefix(NETWORK)}", "is"
    return _NAMES.get(resource, (f"the {resource}", "is"))


def _what_if(what_if: WhatIf | None, unit: str, use: StorageUse | None) -> str:
    if what_if is None:
        return ""
    is_other = what_if.limited_by not in (CPU, SERVER_CPUS)
    limit = f", where {_name(what_if.limited_by)[0]} would saturate" if is_other else ""
    return (
        f" Twice the CPUs: at most {rate_with_interval(what_if.bound_tps, unit)}{limit}, assuming that demands stay"
        f" the same and contention does not rise.{_device_before(what_if, unit, use)}"
    )


def _device_before(what_if: WhatIf, unit: str, use: StorageUse | None) -> str:
    if what_if.device is None or what_if.device_busy_tps is None:
        return ""
    at = rate_with_interval(what_if.device_busy_tps, unit)
    text = f" From {at} on, {_name(what_if.device)[0]} would be busy all the time and may be the limit; {_PARALLEL}."
    if use is None or use.device_limit_tps is None or not what_if.device.startswith(DATA_DEVICE):
        return text
    enough = format_rate(use.device_limit_tps, unit)
    return f"{text} The random reads and writes that fio reached on it are enough for about {enough}."


def _throttled(one: WhereTime) -> str:
    level = _limit_level(one)
    stopped_s = 0.0 if level is None else level.throttled_s_per_s or 0.0
    if stopped_s <= THROTTLED_RATIO:
        return ""
    return (
        f" CPUs of the server's control group were stopped for {stopped_s:.2f} s in each second, because it had used up"
        " its quota of processor time."
    )


def _unexplained(one: WhereTime) -> str:
    """At the level that the verdict is about: where waits grow, that is the highest."""
    level = _limit_level(one) if one.resource else one.levels[-1]
    if level is None or level.unexplained_ratio is None or level.unexplained_ratio <= LARGE_RATIO:
        return ""
    share = format_percent(level.unexplained_ratio)
    return f" No source explains {share} of the response time at {level.level.label()}."


def _limit_level(one: WhereTime) -> WhereLevel | None:
    return next((level for level in one.levels if level.level == one.limit_level), None)
