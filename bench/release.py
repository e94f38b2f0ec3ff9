"""The engine that users get, whatever the environment holds: tests have one that is built faster and runs slower."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bench.children import ChildError

ROOT = Path(__file__).parents[1]
NAMED = "PLIMSOLL_ENGINE"


def use_release() -> None:
    """Builds the engine as a release and lets everything here find it, unless one is named in the environment.

    Raises:
        ChildError: It cannot be built.
    """
    if os.environ.get(NAMED):
        return
    words = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "plimsoll-engine-cli"]
    try:
        subprocess.run(words, cwd=ROOT, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ChildError(f"the engine cannot be built: {error}") from None
    os.environ[NAMED] = str(ROOT / "target" / "release" / "plimsoll-engine")
