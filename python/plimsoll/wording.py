"""English of counts, lists and changes, which knows nothing of what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SHOWN_MAX = 6
_CHANGES_MAX = 4
_VALUE_CHARACTERS_MAX = 60


def counted(count: float, noun: str) -> str:
    """Such as `1 trial`, `2 trials`, `2 searches`, `2 studies`; an estimate is rounded."""
    whole = round(count)
    plural = f"{noun[:-1]}ies" if noun.endswith("dy") else f"{noun}{'es' if noun.endswith('ch') else 's'}"
    return f"{whole:,} {noun if whole == 1 else plural}"


def counted_are(count: int, noun: str) -> str:
    """Such as `1 trial is`, `2 trials are`."""
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'}"


def repeat_noun(*, is_duet: bool) -> str:
    """What a study measures several times: a repetition, in a duet a round."""
    return "round" if is_duet else "repetition"


def listed(names: Sequence[str]) -> str:
    """Such as `a, b and c`; names with commas in them are set apart by semicolons."""
    if len(names) < 2:
        return "".join(names)
    between = "; " if any(", " in name for name in names) else ", "
    return f"{between.join(names[:-1])} and {names[-1]}"


def first_few(names: Sequence[str]) -> str:
    """Such as `a, b, c and 9 more`."""
    rest = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" and {rest} more" if rest > 0 else "")


def capitalised(text: str, names: Iterable[str]) -> str:
    """A sentence with a capital, unless it begins with a name: a name stands as somebody wrote it.

    Args:
        text: The sentence.
        names: With which it may begin, of systems and the like.

    >>> capitalised("one run was enough", ["durable"]), capitalised("one server/0 was down", ["one server"])
    ('One run was enough', 'one server/0 was down')
    """
    if any(name and text.startswith(name) and not text[len(name) :][:1].isalnum() for name in names):
        return text
    return text[:1].upper() + text[1:]


def changes_words(changes: Sequence[tuple[str, str, str]]) -> str:
    """The first few changes, as (name, before, after), and how many more there are."""
    rest = len(changes) - _CHANGES_MAX
    phrases = [f"{what} from {shortened(old)} to {shortened(new)}" for what, old, new in changes[:_CHANGES_MAX]]
    words = phrases + ([f"{rest} more"] if rest > 0 else [])
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else "".join(words)


def shortened(value: str) -> str:
    """The begin of a value that is too long for a sentence."""
    return value if len(value) <= _VALUE_CHARACTERS_MAX else f"{value[: _VALUE_CHARACTERS_MAX - 1]}…"
