"""What mysqld_exporter says of a server: its status variables under their own names, and waits for files.

The exporter gives families of status variables one name and a label. Here they get back the names that the server has
for them. Sources: mysqld_exporter 0.14 (collector/global_status.go, perf_schema_file_events.go). Deliberately not here:
the machine (`node`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from plimsoll.telemetry.exporters.text import Exposed
from plimsoll.telemetry.sampler import Sample
from plimsoll.telemetry.server_status import HISTORY, REGULAR, with_checkpoint_age
from plimsoll.telemetry.waits import FILES

_STATUS = "mysql_global_status_"
_LABELLED = {
    f"{_STATUS}commands_total": ("command", "com_"),
    f"{_STATUS}handlers_total": ("handler", "handler_"),
    f"{_STATUS}connection_errors_total": ("error", "connection_errors_"),
    f"{_STATUS}buffer_pool_pages": ("state", "innodb_buffer_pool_pages_"),
    f"{_STATUS}buffer_pool_page_changes_total": ("operation", "innodb_buffer_pool_pages_"),
    f"{_STATUS}innodb_row_ops_total": ("operation", "innodb_rows_"),
}
"""Families of status variables, the label that tells them apart, and how their names begin."""

_RENAMED = {
    f"{_STATUS}buffer_pool_dirty_pages": "innodb_buffer_pool_pages_dirty",
    "mysql_info_schema_innodb_metrics_transaction_trx_rseg_history_len": HISTORY,
}
VARIABLES_MAX = 1_500
"""That are read from a page; servers have some 400 to 600."""

_FILE_WAITS = "mysql_perf_schema_file_events_seconds_total"
_VARIABLE = re.compile(rf"(?=[a-z0-9_]{{1,120}}\Z)(?:{REGULAR})")


def is_known(name: str) -> bool:
    """Whether samples of this name are read."""
    return name.startswith(_STATUS) or name in _RENAMED or name == _FILE_WAITS


class MysqldReader:
    """From the samples of one page after the other to status variables."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}

    def read(self, page: Iterable[Exposed]) -> list[Sample] | None:
        """The status variables of a page that are recorded, and totals of waits for files.

        Returns:
            None where the page tells nothing that the one before did not.
        """
        values, waits_ms = dict[str, float](), dict[str, float]()
        for one in page:
            if one.name == _FILE_WAITS and (metric := FILES.get(one.labels.get("event_name", ""))) is not None:
                waits_ms[metric] = waits_ms.get(metric, 0.0) + one.value * 1e3
            elif len(values) < VARIABLES_MAX and (variable := _variable_of(one)) is not None:
                values[variable] = one.value
        values = with_checkpoint_age(values)
        seen = {**values, **waits_ms}
        if not seen or seen == self._before:
            return None
        self._before = seen
        samples = [Sample("server", name, value) for name, value in values.items()]
        return samples + [Sample("waits", metric, value) for metric, value in waits_ms.items()]


def _variable_of(one: Exposed) -> str | None:
    """The status variable that a sample is of; None for one that is not recorded."""
    if one.name in _LABELLED:
        label, begin = _LABELLED[one.name]
        variable = begin + one.labels.get(label, "")
    elif one.name in _RENAMED:
        variable = _RENAMED[one.name]
    elif one.name.startswith(_STATUS):
        variable = one.name.removeprefix(_STATUS)
    else:
        return None
    return variable if _VARIABLE.fullmatch(variable) else None
