"""What all messages of the engine have in common, and the numbers that they may have.

An engine may run on a machine that nobody here controls: what it says is bounded where it is read, so that tables and
computations take whatever passes.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0, lt=2**53)]
"""How many, or bytes: as exact as a floating-point number is."""

Nanoseconds = Annotated[int, Field(ge=0, lt=2**63)]
"""A duration, a sum of durations or a moment: 292 years."""

Ordinal = Annotated[int, Field(ge=0, lt=2**32)]
"""An index or a process id."""

ErrorCode = Annotated[int, Field(ge=0, lt=2**16)]
"""MySQL's error number."""


class EngineMessage(BaseModel):
    """Something that the engine said."""

    model_config = ConfigDict(frozen=True, extra="forbid")
