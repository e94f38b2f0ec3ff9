"""What all messages of the engine have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class EngineMessage(BaseModel):
    """Something that the engine said."""

    model_config = ConfigDict(frozen=True, extra="forbid")
