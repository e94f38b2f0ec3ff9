"""How a run is watched while it goes on: the live panel, a page in a browser, metrics.

Metrics are for Prometheus at an address (`--metrics`) and by OTLP where OTEL_* variables ask. The address is taken, and
what OTLP needs is looked for, before the command starts anything. At the end the last values stay until a scraper that
came before has read them. Deliberately not here: the panel (`panel`), pages (package `serve`), and the metrics (package
`metrics`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.failures import INTERRUPTED
from plimsoll.cli.help import WATCHING
from plimsoll.units import printable

if TYPE_CHECKING:
    from plimsoll.metrics.prometheus import Endpoint
    from plimsoll.metrics.totals import Totals
    from plimsoll.run.events import Event

NoProgressOption = Annotated[
    bool,
    typer.Option(
        "--no-progress",
        help="Plain lines in place of the live panel, as where there is no terminal.",
        rich_help_panel=WATCHING,
    ),
]
WebOption = Annotated[
    bool,
    typer.Option(
        "--web",
        help="Also show the run as a page in a browser of this machine, and print its address.",
        rich_help_panel=WATCHING,
    ),
]
MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="ADDRESS:PORT",
        help="Serve metrics of the run to Prometheus at this address, such as 127.0.0.1:9464.",
        rich_help_panel=WATCHING,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """How a person or a program watches a run."""

    no_progress: NoProgressOption = False
    web: WebOption = False
    metrics: MetricsOption = None

    def metrics_out(self, *, is_quiet: bool) -> AbstractContextManager[Totals | None]:
        """Metrics where they are asked for; as `metrics_out`."""
        return metrics_out(self.metrics, is_quiet=is_quiet)

    @contextmanager
    def page_of(self, folder: Path) -> Iterator[None]:
        """Shows what runs in a folder as a page, if that is asked for, and says its address on standard error."""
        if not self.web:
            yield
            return
        from plimsoll.serve.process import beside

        with beside(folder, _say):
            yield


UNWATCHED = WatchOptions()


@contextmanager
def metrics_out(address: str | None, *, is_quiet: bool) -> Iterator[Totals | None]:
    """Metrics of whatever runs meanwhile in this process.

    Args:
        address: As typed; None for none.
        is_quiet: Where they are is not said, unless others than this machine's users reach it.

    Yields:
        What further facts of the run are told to; None where nobody reads metrics.

    Raises:
        SpecError: The address or a variable is wrong.
        HostError: The address is in use, or the extra `otel` is missing.
    """
    if address is None and not any(name.startswith("OTEL_") for name in os.environ):
        yield None
        return
    from plimsoll.metrics.otlp import Pusher, wanted

    push = wanted(os.environ)
    if address is None and push is None:
        yield None
        return
    from plimsoll.metrics.totals import Totals
    from plimsoll.run.live import observed_by

    totals = Totals()
    with ExitStack() as stack:
        endpoint = None if address is None else _opened(address, totals, is_quiet=is_quiet)
        if push is not None:
            stack.enter_context(Pusher(push, lambda: totals.readings, _say))
        if endpoint is not None:
            stack.enter_context(endpoint)
        try:
            with observed_by(totals.observe):
                yield totals
        except typer.Exit as ended:
            _end(totals, None if ended.exit_code == INTERRUPTED else endpoint)
            raise
        except BaseException:
            _end(totals, None)
            raise
        _end(totals, endpoint)


def _opened(address: str, totals: Totals, *, is_quiet: bool) -> Endpoint:
    from plimsoll.metrics.prometheus import Endpoint, parse_address

    endpoint = Endpoint(parse_address(address), lambda: totals.readings)
    if not endpoint.address.is_loopback:
        _say(f"metrics: {endpoint.url}; anybody who reaches this address can read them")
    elif not is_quiet:
        _say(f"metrics: {endpoint.url}")
    return endpoint


def _end(totals: Totals, endpoint: Endpoint | None) -> None:
    """No load runs any more; a scraper that came before reads the last values, where an endpoint is given."""
    totals.end()
    if endpoint is None or not (limit_s := endpoint.last_read_limit_s):
        return
    _say(f"the metrics can be read for {limit_s:.0f} s more, or until they are; Ctrl-C ends that")
    with suppress(KeyboardInterrupt):  # the run is over, and has its exit code
        endpoint.wait_for_last_read()


def told_both(shown: Callable[[Event], None], totals: Totals | None) -> Callable[[Event], None]:
    """Tells a display of events, and the metrics besides, where somebody reads them."""
    if totals is None:
        return shown

    def tell(event: Event) -> None:
        shown(event)
        totals.happened(event)

    return tell


def _say(text: str) -> None:
    print(f"plimsoll: {printable(text)}", file=sys.stderr, flush=True)
