"""Exporters of a system: pages in Prometheus' text format that tell how its server and the machine below it do.

Deliberately not here: reading them (`plimsoll.telemetry.exporters`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from plimsoll.spec.fields import DurationS, VariableName, Written

INTERVAL_S, INTERVAL_S_MIN, INTERVAL_S_MAX = 5.0, 1.0, 300.0
EXPORTERS_MAX = 8
_URL_LENGTH_MAX = 2000
_QUERY_KEYS = frozenset({"collect[]", "exclude[]", "target", "auth_module", "module"})
"""What node_exporter and mysqld_exporter take in a query; anything else could be a secret."""

_FORM = "write http://host:9100/metrics"


def _checked_url(url: str) -> str:
    """A fault does not repeat the URL, which may hold a password."""
    if not (url.isascii() and url.isprintable()) or " " in url or len(url) > _URL_LENGTH_MAX:
        raise ValueError(f"must be a URL of at most {_URL_LENGTH_MAX} visible ASCII characters; {_FORM}")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"host or port cannot be read; {_FORM}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("holds a user or password, and study files are kept; name a token's variable in bearer_env")
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise ValueError(f"must begin with http:// or https:// and a host, and have no #; {_FORM}")
    if unknown := {key for key, _ in parse_qsl(parts.query, keep_blank_values=True)} - _QUERY_KEYS:
        raise ValueError(
            f"unknown keys after the ?: {len(unknown)}; known are {', '.join(sorted(_QUERY_KEYS))}; a token is named in"
            " bearer_env"
        )
    return url


class ExporterSpec(Written):
    """A page in Prometheus' text format, such as that of node_exporter or mysqld_exporter.

    Attributes:
        url: Of the page, such as `http://db1:9100/metrics`; without user or password. A text in the list stands for a
            table with only this key.
        interval: Time from one request to the next: 1 s to 5 min. Slow exporters are asked less often.
        bearer_env: Name of the environment variable that holds the token to send. Needs https, or an address of this
            machine.
        device: The disk that holds the server's data, as node_exporter names it. Without it there are no figures of
            the data's device.
    """

    url: Annotated[str, AfterValidator(_checked_url)]
    interval: Annotated[DurationS, Field(ge=INTERVAL_S_MIN, le=INTERVAL_S_MAX)] = INTERVAL_S
    bearer_env: VariableName | None = None
    device: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] | None = None


def _as_tables(value: object) -> object:
    """A text stands for a table that has only the URL."""
    if not isinstance(value, list):
        return value
    return tuple({"url": one} if isinstance(one, str) else one for one in value)


Exporters = Annotated[tuple[ExporterSpec, ...], BeforeValidator(_as_tables), Field(max_length=EXPORTERS_MAX)]
"""A list of URLs and tables."""


def exporter_faults(place: str, exporters: tuple[ExporterSpec, ...], *, is_managed: bool) -> Iterator[str]:
    """What is wrong with a system's exporters together, one line each."""
    if exporters and is_managed:
        yield f"{place}.exporters: belongs to a target; Plimsoll samples the machine of a managed server itself"
    urls = [one.url for one in exporters]
    for index, one in enumerate(exporters):
        if one.url in urls[:index]:
            yield f"{place}.exporters[{index}].url: is listed twice"
        if one.bearer_env is not None and not _is_private(one.url):
            yield f"{place}.exporters[{index}].bearer_env: a token would cross the network in clear; write https://"


def _is_private(url: str) -> bool:
    """Whether nobody on the way can read what is sent there."""
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
