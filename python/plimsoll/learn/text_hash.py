"""The hash that stands for a text in the tables of a log: the same as the engine's (`plimsoll-logs`, `hash64`).

Values of rows that are hashed in the same way can be told to be those of the log, without either being kept.
"""

from __future__ import annotations

_SEED = 0x243F6A8885A308D3
_FIRST = 0x9E3779B97F4A7C15
_SECOND = 0xC2B2AE3D27D4EB4F
_MASK = 2**64 - 1


def text_hash(text: bytes) -> str:
    """Of the bytes of a text, 16 hexadecimal digits.

    >>> text_hash(b"abc")
    '9f59f5da0c823c49'
    """
    state, whole = _SEED ^ len(text), len(text) // 16 * 16
    last = text[whole:].ljust(16, b"\0")
    for begin in range(0, whole, 16):
        state = _folded(state ^ _word(text, begin), _FIRST ^ _word(text, begin + 8))
    state = _folded(state ^ _word(last, 0), _FIRST ^ _word(last, 8))
    return f"{_folded(state ^ _SECOND, _FIRST):016x}"


def _word(text: bytes, begin: int) -> int:
    return int.from_bytes(text[begin : begin + 8], "little")


def _folded(one: int, other: int) -> int:
    product = one * other
    return (product ^ (product >> 64)) & _MASK
