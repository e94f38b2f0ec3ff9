"""How a control connection is encrypted: the same settings as the load has, in PyMySQL's words.

Deliberately not here: what users say (`spec.tls`), and the load's own connections, which are the engine's.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plimsoll.errors import SpecError
from plimsoll.spec.target import Target
from plimsoll.spec.tls import Tls


def connect_arguments(target: Target) -> dict[str, Any]:
    """Arguments of `pymysql.connect` that encrypt as the target wants it.

    Raises:
        SpecError: A file of certificates or keys cannot be used.
    """
    tls = target.tls
    if tls.mode == "disabled" or (tls.mode == "preferred" and target.socket is not None):
        return {"ssl_disabled": True}
    # Saying nothing is PyMySQL's preferred mode; a context is demanded of the server, and nothing is sent without it.
    return {"ssl": _context(tls)} if tls.is_demanded else {}


def why_refused(error: ssl.SSLError) -> str:
    """What went wrong between the two ends, and the cure."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({error.verify_message}): set ca to the certificate of the authority that"
            " signed it, and connect by a name in the certificate, or use tls=verify-ca, which accepts any name"
        )
    return (
        f"the TLS handshake failed ({error.reason or error}): does the server support TLS 1.2 or 1.3? Does it"
        " require a client certificate (cert and key)?"
    )


def _context(tls: Tls) -> ssl.SSLContext:
    """Trusts whom the engine trusts: names count as subjectAltName, and a server's own certificate in `ca` will do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = tls.mode == "verify-identity"
    context.hostname_checks_common_name = False
    context.verify_mode = ssl.CERT_REQUIRED if tls.verifies else ssl.CERT_NONE
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VerifyFlags.VERIFY_X509_STRICT
    if tls.ca is not None:
        _use("ca", tls.ca, lambda: context.load_verify_locations(cafile=tls.ca))
    if tls.cert is not None and tls.key is not None:
        cert, key = tls.cert, tls.key
        _use("key", key, lambda: key.open("rb").close())  # OpenSSL does not say which of the two it could not read
        # An encrypted key would be asked for on the terminal; the engine cannot read it either.
        _use("cert", cert, lambda: context.load_cert_chain(cert, key, password=""))
    return context


def _use(name: str, path: Path, action: Callable[[], None]) -> None:
    try:
        action()
    except ssl.SSLError as error:
        raise SpecError(f"{name}: {path} cannot be used: {error.reason or error}; it must be in PEM format") from None
    except OSError as error:
        raise SpecError(f"{name}: {path} cannot be read: {error.strerror}") from None
