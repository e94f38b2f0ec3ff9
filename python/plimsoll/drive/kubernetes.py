"""A Job that runs one trial in a Kubernetes cluster, as a manifest for `kubectl apply`; pure.

The password is a reference to a Secret, and never in the manifest. The pod runs as an ordinary user on a root file
system that it cannot write, and asks for processors without a limit on them: a limit stops a load generator for the
rest of each 100 ms once its share is used, and what is measured then is the limit. Deliberately not here: anything
that talks to a cluster.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plimsoll.errors import SpecError

Manifest: TypeAlias = dict[str, Any]

PASSWORD_VARIABLE = "PLIMSOLL_PASSWORD"  # noqa: S105 - the name of a variable
RECORDINGS, WORKLOAD, TLS_FILES = "/recordings", "/workload", "/tls"
"""Where volumes are in the container: what is recorded, the user's workload file, certificates and keys."""

_USER = 1000
"""Of the image."""

WORKLOAD_BYTES_MAX = 1_000_000
"""A ConfigMap holds 1 MiB."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_REFERENCE_MAX = 253
_IMAGE = re.compile(r"[a-zA-Z0-9][\w.:/@-]{0,499}", re.ASCII)
_QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?")
_LABEL = re.compile(r"([a-zA-Z0-9][-a-zA-Z0-9._/]{0,251})=([a-zA-Z0-9][-a-zA-Z0-9._]{0,62})?")
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialJob:
    """What the manifest says.

    Attributes:
        image: Of the container; its entry point is `plimsoll`.
        name: Of the Job.
        arguments: Of `plimsoll trial`, but where its password is and where it is recorded.
        namespace: Where it runs; None for that of whoever applies it.
        secret: Name of the Secret with the password, and the key of its value; None where there is no password.
        tls_secret: Secret whose files are mounted at `TLS_FILES`; None for none.
        claim: PersistentVolumeClaim that is mounted at `RECORDINGS`; None where nothing is recorded.
        workload_file: Name and text of a file that is mounted at `WORKLOAD`; None for none.
        cpu: Processors that the pod asks for.
        memory: Memory that it asks for, and its limit.
        node_labels: Labels that its node must have.
        kept_s: How long the Job stays after its end, seconds.
    """

    image: str
    name: str
    arguments: Sequence[str]
    namespace: str | None = None
    secret: tuple[str, str] | None = None
    tls_secret: str | None = None
    claim: str | None = None
    workload_file: tuple[str, str] | None = None
    cpu: str = "2"
    memory: str = "1Gi"
    node_labels: Mapping[str, str] = field(default_factory=dict)
    kept_s: int = 86_400

    @property
    def config_map(self) -> str:
        """Name of the ConfigMap that holds the workload file."""
        return f"{self.name}-workload"


def checked_name(name: str, option: str) -> str:
    """A name that Kubernetes takes for any object.

    Raises:
        SpecError: It is none.
    """
    if not _NAME.fullmatch(name):
        raise SpecError(f"{option}: must be at most 63 lower-case letters, digits and hyphens, is {name[:80]!r}")
    return name


def checked_reference(name: str, option: str) -> str:
    """The name of a Secret or a claim, which may have dots too.

    Raises:
        SpecError: It is none.
    """
    if not _is_reference(name):
        raise SpecError(f"{option}: must be lower-case letters, digits, hyphens and dots, is {name[:80]!r}")
    return name


def _is_reference(name: str) -> bool:
    return len(name) <= _REFERENCE_MAX and all(_NAME.fullmatch(part) for part in name.split("."))


def checked_image(image: str, option: str) -> str:
    """The name of an image, with or without its registry, tag and digest.

    Raises:
        SpecError: It is none.
    """
    if not _IMAGE.fullmatch(image):
        raise SpecError(f"{option}: must be an image such as registry.example/plimsoll:0.1.0, is {image[:80]!r}")
    return image


def checked_quantity(text: str, option: str) -> str:
    """Processors or bytes, as Kubernetes writes them.

    Raises:
        SpecError: It is none.
    """
    if not _QUANTITY.fullmatch(text) or not text.strip("0.mkMGTi"):
        raise SpecError(f"{option}: must be a number above 0 such as 2, 500m or 1Gi, is {text[:60]!r}")
    return text


def secret_of(text: str, option: str) -> tuple[str, str]:
    """Name and key of a Secret, from `NAME` or `NAME/KEY`.

    Raises:
        SpecError: It is neither. What was given is not repeated: it may be the password itself.
    """
    name, slash, key = text.partition("/")
    if not _is_reference(name) or (slash and not _KEY.fullmatch(key)):
        raise SpecError(f"{option}: must be the name of a Secret, or NAME/KEY, and not the password itself")
    return name, key or "password"


def node_labels(written: Sequence[str], option: str) -> dict[str, str]:
    """Labels from `KEY=VALUE`.

    Raises:
        SpecError: One is none.
    """
    labels = {}
    for text in written:
        match = _LABEL.fullmatch(text)
        if match is None:
            raise SpecError(f"{option}: must be KEY=VALUE such as pool=load, is {text[:60]!r}")
        labels[match[1]] = match[2] or ""
    return labels


def manifests(job: TrialJob) -> list[Manifest]:
    """The Job, after the ConfigMap of its workload file where it has one."""
    made = [_object("batch/v1", "Job", job, job.name) | {"spec": _job_spec(job)}]
    if job.workload_file is not None:
        name, text = job.workload_file
        made.insert(0, _object("v1", "ConfigMap", job, job.config_map) | {"data": {name: text}})
    return made


def _object(version: str, kind: str, job: TrialJob, name: str) -> Manifest:
    metadata = {"name": name, "labels": _labels(job)}
    if job.namespace is not None:
        metadata["namespace"] = job.namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _labels(job: TrialJob) -> dict[str, str]:
    return {"app.kubernetes.io/name": "plimsoll", "app.kubernetes.io/instance": job.name}


def _job_spec(job: TrialJob) -> Manifest:
    """One pod, once: a second attempt would be a second measurement."""
    metadata = {
        "labels": _labels(job),
        # A node that is given up, or shared with less, ends the measurement.
        "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
    }
    return {
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        "ttlSecondsAfterFinished": job.kept_s,
        "template": {"metadata": metadata, "spec": _pod_spec(job)},
    }


def _pod_spec(job: TrialJob) -> Manifest:
    spec: Manifest = {
        "restartPolicy": "Never",
        "hostname": job.name,  # that of a pod is another each time, and repetitions are those of one host
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 60,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(job)],
        "volumes": [volume for volume, _ in _volumes(job)],
    }
    if job.node_labels:
        spec["nodeSelector"] = dict(job.node_labels)
    return spec


def _container(job: TrialJob) -> Manifest:
    environment: list[Manifest] = [{"name": "HOME", "value": "/tmp"}]  # noqa: S108 - a volume of the pod alone
    if job.secret is not None:
        name, key = job.secret
        environment.append(
            {"name": PASSWORD_VARIABLE, "valueFrom": {"secretKeyRef": {"name": name, "key": key}}},
        )
    return {
        "name": "plimsoll",
        "image": job.image,
        "args": ["trial", *_arguments(job)],
        "env": environment,
        "resources": {
            "requests": {"cpu": job.cpu, "memory": job.memory},
            "limits": {"memory": job.memory},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [mount for _, mount in _volumes(job)],
    }


def _arguments(job: TrialJob) -> Iterator[str]:
    yield from job.arguments
    if job.secret is not None:
        yield from ("--password-env", PASSWORD_VARIABLE)
    if job.claim is not None:
        yield from ("--record", f"{RECORDINGS}/{job.name}")


def _volumes(job: TrialJob) -> Iterator[tuple[Manifest, Manifest]]:
    """Each volume, and where it is mounted."""
    yield {"name": "tmp", "emptyDir": {}}, {"name": "tmp", "mountPath": "/tmp"}  # noqa: S108
    if job.claim is not None:
        volume = {"name": "recordings", "persistentVolumeClaim": {"claimName": job.claim}}
        yield volume, {"name": "recordings", "mountPath": RECORDINGS}
    if job.workload_file is not None:
        volume = {"name": "workload", "configMap": {"name": job.config_map}}
        yield volume, {"name": "workload", "mountPath": WORKLOAD, "readOnly": True}
    if job.tls_secret is not None:
        volume = {"name": "tls", "secret": {"secretName": job.tls_secret, "defaultMode": 0o440}}
        yield volume, {"name": "tls", "mountPath": TLS_FILES, "readOnly": True}


def yaml_text(documents: Sequence[Manifest]) -> str:
    """The documents as YAML. Texts that are not plainly words are quoted as in JSON, which YAML 1.2 reads alike.

    >>> print(yaml_text([{"kind": "Job", "args": ["--rate", "500"], "env": []}]), end="")
    kind: Job
    args:
    - "--rate"
    - "500"
    env: []
    """
    return "---\n".join("".join(f"{line}\n" for line in _lines(document)) for document in documents)


_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
_NO_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
_BLOCK = re.compile(r"[!-~][ -~]*\n(?:\n*(?:[ -~]*[!-~])\n)*")
"""Lines of printable ASCII that can stand as they are: the first says the indentation, the last is not empty."""


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, Mapping | list) and item:
                yield f"{_scalar(key)}:"
                yield from _indented(item)
            elif isinstance(item, str) and len(item) > 1 and _BLOCK.fullmatch(item):
                yield f"{_scalar(key)}: |"
                yield from (f"  {line}" if line else "" for line in item.splitlines())
            else:
                yield f"{_scalar(key)}: {_scalar(item)}"
        return
    for item in value:
        if isinstance(item, Mapping | list) and item:
            first, *others = _lines(item)
            yield f"- {first}"
            yield from (f"  {line}" if line else "" for line in others)
        else:
            yield f"- {_scalar(item)}"


def _indented(value: Mapping[str, Any] | list[Any]) -> Iterator[str]:
    """Lists stand below the beginning of their key, as in manifests that people write."""
    for line in _lines(value):
        yield line if isinstance(value, list) or not line else f"  {line}"


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _WORD.fullmatch(value) and value.lower() not in _NO_TEXT:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)
