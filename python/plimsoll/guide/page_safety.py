"""What keeps a page safe: templates that escape, and a content security policy that names its scripts."""

from __future__ import annotations

import base64
import hashlib

import jinja2


def template_environment(package: str) -> jinja2.Environment:
    """Of the templates of a package, which escape whatever they are given."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def policy_hash(script: str) -> str:
    """The script's digest, as `script-src` has it.

    >>> policy_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"
