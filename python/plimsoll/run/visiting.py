"""Before the first trial of a study whose environments a hook switches: each is made to be there once, and looked at.

So a guest that does not start, a host that lacks something, or machines that are not equal end a study before anything
is measured, and not after hours. Only where a system's servers run on a machine that must be switched to: of others,
there is nothing more to find out. Deliberately not here: switching by hand, where one environment is there (`study`).
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.errors import HostError
from plimsoll.plan.model import PlannedTrial
from plimsoll.run.elsewhere import unfit_hosts
from plimsoll.run.environments import Switcher, there_from_the_start
from plimsoll.run.equal_machines import EqualMachines
from plimsoll.run.study_preflight import StudyPreflight
from plimsoll.spec.study import StudySpec


def look_at_machines(
    spec: StudySpec,
    todo: Sequence[PlannedTrial],
    switcher: Switcher,
    preflight: StudyPreflight,
    equal: EqualMachines,
) -> None:
    """Looks at every machine that will be measured: now at those that are there, and at the others in turn.

    Args:
        spec: What is measured now.
        todo: The trials that are missing, in order.
        switcher: Makes environments be there.
        preflight: Judges machines and servers.
        equal: Compares the machines.

    Raises:
        HookError: An environment cannot be switched to.
        HostError: A host cannot be reached or lacks something, the machines are not equal, or pre-flight checks refuse.
    """
    hosts = switcher.hosts
    here = there_from_the_start(spec)
    preflight.judge_before(here)
    for system in here:
        equal.add(system, hosts.of(system))
    equal.refuse_unequal()
    waiting = {system.name: system for system in spec.system if system not in here}
    in_order = [waiting[trial.system].environment for trial in todo if trial.system in waiting]
    for environment in reversed(dict.fromkeys(in_order)):  # the one that is measured first comes last: saves a switch
        own = [system for system in waiting.values() if system.environment == environment]
        switcher.to(environment)
        if faults := list(unfit_hosts(spec, hosts, own)):
            raise HostError("\n".join(faults))
        hosts.sweep(own)
        preflight.judge_before(own)
        for system in own:
            equal.add(system, hosts.of(system))
        equal.refuse_unequal()
