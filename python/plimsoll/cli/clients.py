"""Options about how clients behave: think time, connecting, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.help import ARRIVALS, CLIENTS

if TYPE_CHECKING:
    from plimsoll.spec.clients import Clients

ThinkTimeOption = Annotated[
    str | None,
    typer.Option(
        "--think-time",
        metavar="TIME",
        help="Think time: pause between two transactions of a connection. A mean such as 5s draws exponentially"
        " distributed pauses; a range such as 1s..5s draws them uniformly.",
        rich_help_panel=CLIENTS,
    ),
]
ConnectRateOption = Annotated[
    float | None,
    typer.Option(
        "--connect-rate",
        metavar="N",
        help="Open at most N connections per second. Default: as fast as possible.",
        rich_help_panel=CLIENTS,
    ),
]
AllConnectionsOption = Annotated[
    bool,
    typer.Option(
        "--all-connections",
        help="Fail if any connection cannot be opened. Default: run with those that opened.",
        rich_help_panel=CLIENTS,
    ),
]
RetryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retry",
        metavar="RULE",
        help="Retry transactions after these errors: CODES[:TIMES[:PAUSE]], such as 1213,1205:10:5ms; or none."
        " Repeatable. Default: 1213,1205,1020:99.",
        rich_help_panel=CLIENTS,
    ),
]
BurstinessOption = Annotated[
    float,
    typer.Option(
        "--burstiness",
        metavar="N",
        help="With --rate: index of dispersion of arrivals over long windows. 1: independent arrivals. plimsoll learn"
        " report shows that of a log.",
        rich_help_panel=ARRIVALS,
    ),
]
GiveUpOption = Annotated[
    str,
    typer.Option(
        "--give-up",
        metavar="TIME",
        help="End the load after this long without any connection.",
        rich_help_panel=CLIENTS,
    ),
]


NetworkTimeoutOption = Annotated[
    str,
    typer.Option(
        "--network-timeout",
        metavar="TIME",
        help="A connection counts as lost after this long without a packet from the server's machine. Does not limit"
        " how long a statement may take.",
        rich_help_panel=CLIENTS,
    ),
]
ReadTimeoutOption = Annotated[
    str,
    typer.Option(
        "--read-timeout",
        metavar="TIME",
        help="A connection counts as lost after a statement has gone unanswered for this long. none: wait for ever.",
        rich_help_panel=CLIENTS,
    ),
]


def clients_of(
    *,
    think_time: str | None,
    connect_rate: float | None,
    all_connections: bool,
    retry: list[str] | None,
    give_up: str,
    network_timeout: str,
    read_timeout: str,
    burstiness: float,
    is_open: bool,
) -> Clients:
    """How clients behave, from options of the command line.

    Args:
        think_time: `--think-time`; each of the others is the option of its name.
        connect_rate: Connections per second.
        all_connections: Whether all are needed.
        retry: Rules, as typed.
        give_up: A time.
        network_timeout: A time.
        read_timeout: A time, or none.
        burstiness: A number from 1.
        is_open: Transactions are due at a target rate.

    Raises:
        SpecError: An option's value is wrong.
    """
    from pydantic import ValidationError

    from plimsoll.errors import SpecError
    from plimsoll.spec.clients import Clients
    from plimsoll.spec.fields import faults_of

    if is_open and think_time is not None:
        raise SpecError("--think-time: belongs to a closed loop; with --rate nobody waits for the last transaction")
    if not is_open and burstiness != 1:
        raise SpecError("--burstiness: belongs to load at a rate; add --rate, or leave it out")
    written: dict[str, object] = {
        "think_time": _think_time(think_time),
        "connect_per_s": connect_rate,
        "all_connections": all_connections,
        "burstiness": burstiness,
        "reconnect": {"give_up": give_up, "network_timeout": network_timeout, "read_timeout": read_timeout},
    }
    if retry:
        written["retry"] = _rules(retry)
    try:
        return Clients.model_validate(written)
    except ValidationError as error:
        raise SpecError(*(_as_option(fault) for fault in faults_of(error))) from None


def _think_time(text: str | None) -> object:
    if text is None or ".." not in text:
        return text
    least, _, most = text.partition("..")
    return {"min": least, "max": most}


def _rules(texts: list[str]) -> list[object]:
    from plimsoll.errors import SpecError
    from plimsoll.spec.clients import parse_retry

    if texts == ["none"]:
        return []
    try:
        return [parse_retry(text) for text in texts]
    except SpecError as error:
        raise SpecError(*(f"--retry: {fault}" for fault in error.faults)) from None


_OPTIONS = {
    "think_time": "--think-time",
    "connect_per_s": "--connect-rate",
    "retry": "--retry",
    "burstiness": "--burstiness",
    "give_up": "--give-up",
    "network_timeout": "--network-timeout",
    "read_timeout": "--read-timeout",
}


def _as_option(fault: str) -> str:
    """Names the option instead of the field."""
    path, _, wrong = fault.partition(":")
    field = path.removeprefix("reconnect.").split(".")[0].split("[")[0]
    return f"{_OPTIONS[field]}:{wrong}"
