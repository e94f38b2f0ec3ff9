"""Plimsoll: how much load a MySQL-family database can safely carry, on which hardware and configuration.

Nothing is imported here, so that `plimsoll --help` stays fast.
"""

__version__ = "0.1.0"
