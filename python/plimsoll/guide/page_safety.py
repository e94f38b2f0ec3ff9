"""How a content security policy names a script that stands within a page."""

from __future__ import annotations

import base64
import hashlib


def policy_hash(script: str) -> str:
    """The script's digest, as `script-src` has it.

    >>> policy_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"
