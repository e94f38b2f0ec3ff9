"""Plimsoll: how much load a MySQL-family database can safely carry, on which hardware and configuration.

From Python, `open_study` is the way in. Nothing is imported before it is called, so that `plimsoll --help` stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from plimsoll.api import Study

__all__ = ["__version__", "open_study"]
__version__ = "0.1.0"


def open_study(path: str | os.PathLike[str], *, whole: bool = False, unplanned: bool = False) -> Study:
    """Opens a study's folder: its recordings as tidy polars frames, and its analysis.

    Args:
        path: The folder of a study, measured or imported.
        whole: With intervals and telemetry from outside of the measured windows; see the column `state`.
        unplanned: With recordings that are no longer in the study's plan; see the column `in_plan`.

    Raises:
        plimsoll.errors.RecordError: There is no study, nothing was recorded, or it is from a newer version.
    """
    from plimsoll.api import open_study as opened

    return opened(path, whole=whole, unplanned=unplanned)
