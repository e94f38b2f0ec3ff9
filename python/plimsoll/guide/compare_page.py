"""A comparison on the terminal, and as Markdown for a pull request: the answer in one sentence, then the table.

Deliberately not here: what is said (`plimsoll.guide.compare`).
"""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from plimsoll.analyse.compare_model import CompareAnswer
from plimsoll.guide.compare import sentences, trials_words
from plimsoll.guide.compare_table import compare_table
from plimsoll.guide.markdown_text import escape_markdown
from plimsoll.guide.tables import Entry
from plimsoll.guide.terminal_table import show_table
from plimsoll.guide.words import clean


def compare_terminal(answer: CompareAnswer) -> Group:
    """The answer, the table, and what to know."""
    first, *rest = sentences(answer)
    table = compare_table(answer)
    return Group(
        Text(clean(first), style="bold"),
        Text(),
        show_table(table),
        *(Text(clean(note)) for note in table.notes),
        Text(),
        *(Text(clean(line)) for line in (*rest, trials_words(answer))),
    )


def compare_markdown(answer: CompareAnswer) -> str:
    """The same as text for a pull request (GitHub's dialect)."""
    first, *rest = sentences(answer)
    table = compare_table(answer)
    rows = [
        [escape_markdown(column.heading) for column in table.columns],
        ["---:" if column.numeric else "---" for column in table.columns],
        *([_entry(entry) for entry in row] for row in table.rows),
    ]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    known = "\n".join(f"- {escape_markdown(line)}" for line in (*rest, trials_words(answer)))
    notes = escape_markdown(" ".join(table.notes))
    return "\n\n".join([f"**{escape_markdown(first)}**", lines, notes, known]) + "\n"


def _entry(entry: Entry) -> str:
    detail = f" ({escape_markdown(entry.detail)})" if entry.detail else ""
    return f"{escape_markdown(entry.text)}{detail}"
