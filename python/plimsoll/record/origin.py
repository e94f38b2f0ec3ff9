"""Where a trial's numbers come from; part of `trial.json`."""

from __future__ import annotations

from plimsoll.record.document import Document


class Origin(Document):
    """Where the numbers come from.

    Attributes:
        kind: `measured`, `imported-table`, `imported-sysbench` or `imported-tpcc`.
        detail: For an import the file's name and line numbers, and its source when known.
    """

    kind: str = "measured"
    detail: str | None = None
