"""`plimsoll k8s job`: a trial as a Job of a Kubernetes cluster. It prints a manifest and talks to no cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from plimsoll.cli.help import Command, Group
from plimsoll.cli.options import Login, TargetOption, is_file
from plimsoll.cli.trial import load_of, trial

if TYPE_CHECKING:
    from plimsoll.spec.clients import OpenArrivals
    from plimsoll.spec.target import Target

app = typer.Typer(
    cls=Group, no_args_is_help=True, rich_markup_mode=None, help="Print manifests for a Kubernetes cluster."
)

CLUSTER = "Cluster"
_OTHERWISE = {
    "target",
    "password_env",
    "defaults_file",
    "ask_password",
    "drivers",
    "server",
    "replicas",
    "record",
    "no_progress",
    "web",
    "metrics",
}
"""Options of `plimsoll trial` that a pod cannot have, or has by an option of the Job."""

_ENCRYPTION = ("tls", "ca", "cert", "key", "server_public_key_path", "get_server_public_key")

_OPTIONS_OF_TRIAL = {
    name: parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    for name, parameter in inspect.signature(trial).parameters.items()
    if name not in _OTHERWISE
}


def _with_options_of_trial(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options besides its own; it gets their values by name."""
    hints = get_type_hints(command, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints[parameter.name])
        for parameter in inspect.signature(command).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        command(**given)

    parameters += _OPTIONS_OF_TRIAL.values()
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _cluster_option(*names: str, help: str, metavar: str | None = None) -> Any:  # noqa: A002 - as typer has it
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=CLUSTER)


ImageOption = Annotated[
    str, _cluster_option("--image", metavar="IMAGE", help="Image with Plimsoll, in a registry of yours.")
]
NameOption = Annotated[str, _cluster_option("--name", help="Name of the Job.")]
NamespaceOption = Annotated[
    str | None, _cluster_option("--namespace", help="Default: that of whoever applies the manifest.")
]
PasswordSecretOption = Annotated[
    str | None,
    _cluster_option(
        "--password-secret",
        metavar="NAME[/KEY]",
        help="Secret that holds the password, and its key in it. Default key: password.",
    ),
]
TlsSecretOption = Annotated[
    str | None,
    _cluster_option(
        "--tls-secret",
        metavar="NAME",
        help="Secret with certificates and keys. Its files are in /tls: --ca /tls/ca.crt.",
    ),
]
ClaimOption = Annotated[
    str | None,
    _cluster_option(
        "--claim",
        metavar="NAME",
        help="PersistentVolumeClaim that keeps the recording, in a folder of the Job's name. Default: no recording;"
        " the result is in the pod's log.",
    ),
]
CpuOption = Annotated[str, _cluster_option("--cpu", help="Processors that the pod requests. No limit is set.")]
MemoryOption = Annotated[str, _cluster_option("--memory", help="Memory that the pod requests, and its limit.")]
NodeLabelOption = Annotated[
    list[str] | None,
    _cluster_option(
        "--node-label", metavar="KEY=VALUE", help="Label of the nodes that may drive the load. Repeatable."
    ),
]
KeepOption = Annotated[
    str, _cluster_option("--keep", metavar="TIME", help="How long the Job and its log stay after its end.")
]


@app.command("job", cls=Command)
@_with_options_of_trial
def job(
    *,
    context: typer.Context,
    target: TargetOption,
    image: ImageOption,
    name: NameOption = "plimsoll-trial",
    namespace: NamespaceOption = None,
    password_secret: PasswordSecretOption = None,
    tls_secret: TlsSecretOption = None,
    claim: ClaimOption = None,
    cpu: CpuOption = "2",
    memory: MemoryOption = "1Gi",
    node_label: NodeLabelOption = None,
    keep: KeepOption = "24h",
    **given: Any,
) -> None:
    """Print a Job that runs plimsoll trial in a Kubernetes cluster.

    The options below those of the cluster are those of plimsoll trial, and are checked in the same way. The password is
    a reference to a Secret. A workload file of yours becomes a ConfigMap. docs/kubernetes.md shows how to get the
    recording out.

    Examples:

      plimsoll k8s job --image registry.example/plimsoll:0.1.0 --target mysql://bench@db1/sbtest --password-secret db1

      plimsoll k8s job --image registry.example/plimsoll:0.1.0 --target mysql://bench@db1/sbtest --claim runs > job.yaml
    """
    from plimsoll.cli.option_values import duration_s
    from plimsoll.drive.kubernetes import (
        TrialJob,
        checked_image,
        checked_name,
        checked_quantity,
        checked_reference,
        manifests,
        node_labels,
        secret_of,
        yaml_text,
    )

    load = load_of(**{option: given[option] for option in inspect.signature(load_of).parameters})
    _refuse_target(Login(**{option: given[option] for option in _ENCRYPTION}).target(target))
    _refuse_unrecordable(claim, load.arrivals, given)
    file = _workload_file(given)
    secret = None if password_secret is None else secret_of(password_secret, "--password-secret")
    made = TrialJob(
        image=checked_image(image, "--image"),
        name=checked_name(name, "--name"),
        arguments=["--target", target, *_words(context.command.params, given)],
        namespace=None if namespace is None else checked_name(namespace, "--namespace"),
        secret=secret,
        tls_secret=None if tls_secret is None else checked_reference(tls_secret, "--tls-secret"),
        claim=None if claim is None else checked_reference(claim, "--claim"),
        workload_file=file,
        cpu=checked_quantity(cpu, "--cpu"),
        memory=checked_quantity(memory, "--memory"),
        node_labels=node_labels(node_label or (), "--node-label"),
        kept_s=round(duration_s(keep, "--keep")),
    )
    typer.echo(yaml_text(manifests(made)), nl=False)


def _refuse_target(target: Target) -> None:
    """Refuses what a manifest must not hold, and what is not reached from a pod.

    Raises:
        SpecError: It is such a target.
    """
    from plimsoll.errors import SpecError
    from plimsoll.spec.addresses import is_loopback

    if target.password.get_secret_value():
        raise SpecError("--target: holds a password, and a manifest is kept and shown; use --password-secret")
    if target.socket is not None:
        raise SpecError("--target: a pod reaches no socket of another machine; name the host")
    if is_loopback(target.host or ""):
        raise SpecError(f"--target: {target.host} is the pod itself there; name the host of the server, or its Service")


def _refuse_unrecordable(claim: str | None, arrivals: OpenArrivals | None, given: dict[str, Any]) -> None:
    """Refuses wrong names and labels of what is recorded, all of them where nothing is, and a rate that changes.

    Raises:
        SpecError: There is such an option.
    """
    from plimsoll.cli.option_values import labels
    from plimsoll.errors import SpecError
    from plimsoll.run.single import name_faults

    labels(given["label"] or ())
    if faults := name_faults(Path("runs"), given["record_system"], given["record_workload"]):
        raise SpecError(*faults)
    for name in ("record_system", "record_workload", "label"):
        if claim is None and given[name]:
            raise SpecError(f"--{name.replace('_', '-')}: names what is recorded; add --claim, or leave it out")
    if claim is not None and arrivals is not None and arrivals.steady_tps is None:
        raise SpecError("--claim: guides cannot compare a rate that changes; give --rate a single rate")


def _workload_file(given: dict[str, Any]) -> tuple[str, str] | None:
    """Name and text of a workload file of the user's, which the pod finds where it is mounted; None for others.

    Raises:
        SpecError: It is too large for a ConfigMap.
    """
    from plimsoll.drive.kubernetes import WORKLOAD, WORKLOAD_BYTES_MAX
    from plimsoll.errors import SpecError
    from plimsoll.regular_file import text_regular
    from plimsoll.spec.workloads import shipped

    written = given["workload"]
    if not is_file(written) or written in shipped():
        return None
    text = text_regular(Path(written))
    if len(text.encode()) > WORKLOAD_BYTES_MAX:
        raise SpecError(f"--workload {written}: is larger than a ConfigMap can be, 1 MiB; put it into the image")
    given["workload"] = f"{WORKLOAD}/workload.toml"
    return "workload.toml", text


def _words(parameters: Iterable[Any], given: dict[str, Any]) -> Iterator[str]:
    """The options of the trial as they are typed; those that have their default are left out."""
    for parameter in parameters:
        if parameter.name not in _OPTIONS_OF_TRIAL or given[parameter.name] == parameter.default:
            continue
        option, value = max(parameter.opts, key=len), given[parameter.name]
        if value is True:
            yield option
            continue
        for each in value if isinstance(value, list | tuple) else [value]:
            yield from (option, str(each))
