"""Fetches a page of an exporter within limits of time and size, whatever answers there, and reads its known samples.

No redirects, no proxies, no compression: each of them could lead elsewhere, or make a small answer large. Lines that
are not known are dropped unread. What stands between quotes, and how it is escaped, is left to `prometheus_client`. Its
parser takes time that grows with the square of a line's length, so lines and their number are limited before.
Deliberately not here: what samples mean (`readers`).
"""

from __future__ import annotations

import http.client
import io
import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from plimsoll.errors import HostError

LIMIT_S = 4.0
"""For the whole answer; below what a collector waits for a sampler at its end."""

PAGE_BYTES_MAX = 8 * 2**20
_CHUNK_BYTES = 65536


class _RefusedError(Exception):
    """An answer that is not read; its text is our own."""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer.

    Attributes:
        text: All of it.
        size_bytes: Its length.
        took_s: From the first packet to the last.
    """

    text: str
    size_bytes: int
    took_s: float


def fetch_page(
    url: str, token: SecretStr | None = None, *, limit_s: float = LIMIT_S, size_bytes_max: int = PAGE_BYTES_MAX
) -> Page:
    """Gets the page at a URL whose form was checked before.

    Args:
        url: `http` or `https`, without user and password.
        token: To be sent as bearer token; None for none.
        limit_s: For everything from connecting to the last byte.
        size_bytes_max: Of the answer.

    Raises:
        HostError: No page came; the message names URL, what happened, and never the token.
    """
    began_s = time.monotonic()
    try:
        with _answer(url, token, limit_s) as response:
            _check_head(response)
            content = b"".join(_chunks(response, size_bytes_max))
        if time.monotonic() - began_s >= limit_s:
            raise TimeoutError  # a page without a stated length that was cut off looks like a whole one
    except (OSError, http.client.HTTPException, ValueError, _RefusedError) as error:
        late = time.monotonic() - began_s >= limit_s
        reason = f"no complete answer within {limit_s:g} s" if late else _reason(error)
        raise HostError(f"{shown_url(url)}: {reason}") from None
    return Page(content.decode("utf-8", errors="replace"), len(content), time.monotonic() - began_s)


def shown_url(url: str) -> str:
    """A URL for people, without its query.

    >>> shown_url("http://db1:9104/probe?target=db2:3306")
    'http://db1:9104/probe'
    """
    return url.partition("?")[0]


@contextmanager
def _answer(url: str, token: SecretStr | None, limit_s: float) -> Iterator[http.client.HTTPResponse]:
    """The head of an answer; what takes longer than the limit is cut off, even if it comes byte by byte."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    raw = socket.create_connection((host, port), timeout=limit_s)
    # Shutting a duplicate down ends the connection under whoever reads from it. Time limits of sockets begin again with
    # each byte, so they do not stop a server that sends a byte now and then.
    handle = raw.dup()
    timer = threading.Timer(limit_s, _shut, (handle,))
    timer.daemon = True
    timer.start()
    connection = http.client.HTTPConnection(host, port)
    try:
        is_encrypted = parts.scheme == "https"
        connection.sock = ssl.create_default_context().wrap_socket(raw, server_hostname=host) if is_encrypted else raw
        connection.request("GET", path, headers=_headers(token))
        with connection.getresponse() as response:
            yield response
    finally:
        timer.cancel()
        timer.join()
        connection.close()
        raw.close()
        handle.close()


def _headers(token: SecretStr | None) -> dict[str, str]:
    headers = {"Accept": "text/plain;version=0.0.4", "Accept-Encoding": "identity", "User-Agent": "plimsoll"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token.get_secret_value()}"
    return headers


def _shut(handle: socket.socket) -> None:
    try:
        handle.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended by itself


def _check_head(response: http.client.HTTPResponse) -> None:
    if response.status != http.client.OK:
        raise _RefusedError(f"the answer is HTTP {response.status}; 200 is needed, and redirects are not followed")
    if response.getheader("Content-Encoding", "identity").lower() != "identity":
        raise _RefusedError("the answer is compressed, though that was not asked for")


def _chunks(response: http.client.HTTPResponse, size_bytes_max: int) -> Iterator[bytes]:
    size = 0
    while chunk := response.read(_CHUNK_BYTES):
        size += len(chunk)
        if size > size_bytes_max:
            raise _RefusedError(f"the answer is longer than {size_bytes_max} bytes")
        yield chunk
    if response.length:
        raise _RefusedError("the answer ended early")


def _reason(error: Exception) -> str:
    """What went wrong, without what a hostile server wrote into it, and without what was sent."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted: {error.verify_message}; name the authority's file in SSL_CERT_FILE"
    if isinstance(error, _RefusedError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"no HTTP answer ({type(error).__name__})"


LINES_MAX = 10_000
"""That are read; a machine of 500 CPUs has 5,000."""

_LINE_LENGTH_MAX = 1_000
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


@dataclass(frozen=True, slots=True)
class Exposed:
    """One sample of a page; its value is finite."""

    name: str
    labels: Mapping[str, str]
    value: float


def exposed(text: str, is_known: Callable[[str], bool]) -> list[Exposed]:
    """The samples of a page whose names are known.

    Args:
        text: The page.
        is_known: Says of a name whether it is.

    Raises:
        HostError: There are too many, or the page is not in Prometheus' text format.
    """
    from prometheus_client.parser import text_string_to_metric_families  # takes half a second, and most need it not

    lines = list(_known_lines(text, is_known))
    try:
        return [
            Exposed(sample.name, sample.labels, float(sample.value))
            for family in text_string_to_metric_families("\n".join([*lines, ""]))
            for sample in family.samples
            if math.isfinite(sample.value)
        ]
    except Exception:  # whatever a parser does with hostile text
        raise HostError("the answer is not in Prometheus' text format") from None


def _known_lines(text: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    count = 0
    for line in io.StringIO(text):
        if len(line) > _LINE_LENGTH_MAX or (name := _NAME.match(line)) is None or not is_known(name[0]):
            continue
        count += 1
        if count > LINES_MAX:
            raise HostError(f"the answer has more than {LINES_MAX} samples that would be read")
        yield line.rstrip("\n")
