"""The manifest of a Job: as the published schemas want it, readable by any YAML parser, and without a password."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.drive.kubernetes import TrialJob, manifests, node_labels, secret_of, yaml_text
from plimsoll.errors import SpecError

PLAIN = TrialJob(image="registry.example/plimsoll:0.1.0", name="t", arguments=["--target", "mysql://b@db1/s"])
FULL = TrialJob(
    image="registry.example/plimsoll@sha256:0a",
    name="t",
    arguments=["--target", "mysql://b@db1/s", "--workload", "/workload/workload.toml", "--ca", "/tls/ca.crt"],
    namespace="bench",
    secret=("db1", "bench.password"),
    tls_secret="certificates.db1",
    claim="recordings",
    workload_file=("workload.toml", '# a file\n[[transaction]]\nname = "é"\n\n  indented = 1\n'),
    cpu="500m",
    memory="2Gi",
    node_labels={"pool": "load"},
    kept_s=60,
)
VERSIONS = ["1.29", kubernetes_validate.latest_version()]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("job", [PLAIN, FULL], ids=["plain", "full"])
def test_the_published_schemas_take_it(job: TrialJob, version: str) -> None:
    for document in manifests(job):
        kubernetes_validate.validate(document, version, strict=True)


def test_the_schemas_would_refuse_what_is_wrong() -> None:
    (job,) = manifests(PLAIN)
    job["spec"]["template"]["spec"]["containers"][0]["readOnlyRootFilesystem"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, VERSIONS[0], strict=True)


@pytest.mark.parametrize("job", [PLAIN, FULL], ids=["plain", "full"])
def test_a_parser_reads_what_was_meant(job: TrialJob) -> None:
    assert list(yaml.safe_load_all(yaml_text(manifests(job)))) == manifests(job)


TEXTS = st.text(max_size=30) | st.sampled_from(
    ["yes", "No", "null", "1e3", "~", "- a", "a: b", "#", "a\n\n b\n", "|\n"]
)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3))
def test_any_document_is_read_as_it_was_written(document: dict[str, Any]) -> None:
    assert yaml.safe_load(yaml_text([document])) == document


def container_of(job: TrialJob) -> dict[str, Any]:
    document = manifests(job)[-1]
    return dict(document["spec"]["template"]["spec"]["containers"][0])


def test_the_password_is_a_reference() -> None:
    container = container_of(FULL)
    assert container["args"][-4:] == ["--password-env", "PLIMSOLL_PASSWORD", "--record", "/recordings/t"]
    reference = {"secretKeyRef": {"name": "db1", "key": "bench.password"}}
    assert {"name": "PLIMSOLL_PASSWORD", "valueFrom": reference} in container["env"]
    assert "--password-env" not in container_of(PLAIN)["args"]


def test_no_limit_throttles_the_load() -> None:
    resources = container_of(FULL)["resources"]
    assert resources == {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"memory": "2Gi"}}


def test_it_is_one_attempt_by_an_ordinary_user() -> None:
    spec = manifests(FULL)[-1]["spec"]
    pod = spec["template"]["spec"]
    assert (spec["backoffLimit"], spec["completions"], pod["restartPolicy"]) == (0, 1, "Never")
    assert pod["securityContext"]["runAsNonRoot"]
    assert container_of(FULL)["securityContext"]["readOnlyRootFilesystem"]
    mounts = {mount["name"] for mount in container_of(FULL)["volumeMounts"]}
    assert mounts == {volume["name"] for volume in pod["volumes"]} == {"tmp", "recordings", "workload", "tls"}


def test_a_secret_is_a_name_and_what_is_none_is_not_repeated() -> None:
    assert (secret_of("db1", "-"), secret_of("db1.x/pw", "-")) == (("db1", "password"), ("db1.x", "pw"))
    for wrong in ("Kw3!Pf9", "db1/", "db1/a/b", "", "a" * 300):
        with pytest.raises(SpecError, match="not the password itself") as caught:
            secret_of(wrong, "--password-secret")
        assert not wrong or wrong not in str(caught.value)


def test_labels_are_keys_with_values() -> None:
    assert node_labels(["pool=load", "a.example/b="], "-") == {"pool": "load", "a.example/b": ""}
    with pytest.raises(SpecError, match="KEY=VALUE"):
        node_labels(["pool"], "--node-label")
