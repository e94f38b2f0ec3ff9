"""The pages as an application: addresses, who may ask, what a browser may do with an answer, what each second brings.

Every address begins with a token, so nobody who does not know it learns anything. The name that a browser asks for must
be one of this machine's addresses: another name would be another site that leads here (DNS rebinding). Policies let
pages run only their own scripts and talk only to where they came from. Nothing is ever written. Deliberately not here:
sockets and processes (`process`), and what the pages show (`standing`, `course`, templates).

Whatever comes from a folder is escaped by the template engine.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plimsoll import __version__
from plimsoll.errors import PlimsollError, RecordError
from plimsoll.guide.page_safety import policy_hash, template_environment
from plimsoll.record.files import checked_id, recordings_folder
from plimsoll.record.store import read_recording
from plimsoll.regular_file import read_regular
from plimsoll.run.folder import GUIDE_HTML
from plimsoll.serve import worker
from plimsoll.serve.course import Course
from plimsoll.serve.folders import Folders, runs_of
from plimsoll.serve.moments import tables_of_recording
from plimsoll.serve.standing import FollowedFolder, Standing, trial_document
from plimsoll.spec.addresses import address_in, host_asked_for
from plimsoll.units import format_duration, format_number

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Pages of ours: their scripts and styles are files beside them."""

DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; script-src {scripts}"
)
"""Documents in one file, such as guides: of scripts only those that this version writes."""

STATIC = {
    "serve.css": "text/css",
    "serve.js": "text/javascript",
    "uplot.css": "text/css",
    "uplot.js": "text/javascript",
    "guide.css": "text/css",
}
TICK_S = 1.0
LISTENERS_MAX = 32
_GUIDE_BYTES_MAX = 256 * 2**20
_COURSES_KEPT = 8
_HEARTBEAT_S = 15.0


@dataclass(slots=True)
class Watched:
    """A folder that at least one page shows.

    Attributes:
        standing: Reads what stands in it.
        following: Reads the trials that run in it.
        listeners_count: How many pages do.
        at_s: When it was read last, by the monotonic clock.
        document: Where it stands, as JSON.
        trials: Those that run, as JSON.
        courses: How each of them goes, by its id.
    """

    standing: Standing
    following: FollowedFolder
    listeners_count: int = 0
    at_s: float = -1.0
    document: str = ""
    trials: list[dict[str, Any]] = field(default_factory=list)
    courses: dict[str, Course] = field(default_factory=dict)
    _reading: asyncio.Future[None] | None = None

    async def read_on(self, *, is_last: bool = False) -> None:
        """Reads what is new; one of the pages that leaves does not end it.

        Args:
            is_last: The run has ended: all that it left is read, however recent the last look was. Otherwise once a
                second for all that listen.
        """
        if is_last and self._reading is not None:
            await asyncio.shield(self._reading)
        is_due = is_last or time.monotonic() - self.at_s >= TICK_S / 2
        if self._reading is None or (self._reading.done() and is_due):
            self._reading = asyncio.ensure_future(asyncio.to_thread(self._read_on))
        await asyncio.shield(self._reading)

    def _read_on(self) -> None:
        self.document = _as_json(self.standing.document())
        trials = self.following.read_on()
        named = [(trial, trial.trial.trial_id if trial.trial is not None else trial.folder.name) for trial in trials]
        self.courses = {name: trial.course for trial, name in named}
        self.trials = [trial_document(trial.trial, name) for trial, name in named]
        self.at_s = time.monotonic()


class Pages:
    """What the addresses lead to."""

    def __init__(self, root: Path) -> None:
        """Takes the folder that is served."""
        self.folders = Folders(root.resolve())
        self.closing = asyncio.Event()
        self._watched: dict[Path, Watched] = {}
        self._courses: OrderedDict[tuple[Path, int], dict[str, Any]] = OrderedDict()
        self._guides: OrderedDict[tuple[Path, int], str] = OrderedDict()
        self._scripts: tuple[str, ...] | None = None
        self._working = asyncio.Semaphore(1)

    async def home(self, request: Request) -> Response:
        """All studies and folders of runs."""
        entries = await asyncio.to_thread(self.folders.entries)
        is_part = "part" in request.query_params
        name = "entries.html.jinja" if is_part else "home.html.jinja"
        return _html(page(name, entries=entries, root=str(self.folders.root), base="./", now_unix_s=time.time()))

    async def compare(self, request: Request) -> Response:
        """The difference of two sides."""
        sides = [request.query_params.get(name, "") for name in ("a", "b")]
        known = {side for entry in await asyncio.to_thread(self.folders.entries) for side in entry.sides}
        if not set(sides) <= known:
            return _message("Choose two sides of the list.", status=404, base="./")
        answer = await self._work({"do": "compare", "base": sides[0], "system": sides[1]})
        if "fault" in answer:
            return _message(answer["fault"], status=422, base="./")
        return _document(answer["html"], ())

    async def at(self, request: Request) -> Response:
        """Whatever belongs to one folder: its page, its guide, what runs there, its recordings."""
        rest = str(request.path_params["rest"])
        place, _, last = rest.rpartition("/")
        ups = "../" * (rest.count("/") + 1)
        before, is_recording, trial_id = place.rpartition("recordings/")
        if is_recording and (not before or before.endswith("/")):
            return await self._recording(before.rstrip("/"), trial_id, last, ups)
        folder = self.folders.path_of(place)
        if folder is None:
            return _message("There is no such study or folder of runs here.", status=404, base=ups)
        match last:
            case "":
                return await self._folder(request, folder, place, ups)
            case "live":
                return self._live(folder)
            case "guide.html":
                return await self._guide(folder, ups, is_new="new" in request.query_params)
        return _message("There is no such page.", status=404, base=ups)

    async def _folder(self, request: Request, folder: Path, place: str, ups: str) -> Response:
        entry = await asyncio.to_thread(self.folders.entry, folder)
        first = max(_whole(request.query_params.get("from", "0")), 0)
        runs = await asyncio.to_thread(runs_of, folder, first)
        return _html(page("folder.html.jinja", entry=entry, base=ups, place=place, runs=runs, mode="live"))

    async def _recording(self, place: str, trial_id: str, last: str, ups: str) -> Response:
        folder = self.folders.path_of(place)
        try:
            path = recordings_folder(folder or Path()) / checked_id(trial_id)
            if folder is None or not path.is_dir():
                return _message("There is no such recording here.", status=404, base=ups)
            if last == "":
                entry = await asyncio.to_thread(self.folders.entry, folder)
                return _html(page("trial.html.jinja", entry=entry, base=ups, trial_id=trial_id, mode="replay"))
            if last not in ("course.json", "trial.html"):
                return _message("There is no such page.", status=404, base=ups)
            document = await self._course(path)
        except RecordError as error:
            return _message(str(error), status=422, base=ups)
        if last == "course.json":
            return Response(_as_json(document), media_type="application/json")
        return _export(document)

    async def _course(self, path: Path) -> dict[str, Any]:
        """How a recorded trial went, read once."""
        key = (path, path.stat().st_mtime_ns)
        if key not in self._courses:
            async with self._working:
                self._courses[key] = await asyncio.to_thread(course_of, path)
            while len(self._courses) > _COURSES_KEPT:
                self._courses.popitem(last=False)
        return self._courses[key]

    async def _guide(self, folder: Path, ups: str, *, is_new: bool) -> Response:
        """The guide as it was built, else one that is built now."""
        if not is_new and (folder / GUIDE_HTML).is_file():
            text = await asyncio.to_thread(read_regular, folder / GUIDE_HTML, _GUIDE_BYTES_MAX)
            return _document(text.decode(errors="replace"), await self._script_hashes())
        key = (folder, recordings_folder(folder).stat().st_mtime_ns)
        if key not in self._guides:
            answer = await self._work({"do": "guide", "folder": str(folder)})
            if "fault" in answer:
                return _message(answer["fault"], status=422, base=ups)
            self._guides[key] = answer["html"]
            while len(self._guides) > _COURSES_KEPT:
                self._guides.popitem(last=False)
        return _document(self._guides[key], await self._script_hashes())

    async def _script_hashes(self) -> tuple[str, ...]:
        """Of the scripts of guides; none where the process that knows them failed: charts then stay pictures."""
        if self._scripts is None:
            answer = await self._work({"do": "scripts"})
            self._scripts = tuple(answer.get("scripts", ()))
        return self._scripts

    async def _work(self, request: dict[str, Any]) -> dict[str, Any]:
        """One after the other: a browser that asks for ten guides must not start ten processes."""
        async with self._working:
            return await worker.ask(request, self.folders.root)

    def _live(self, folder: Path) -> Response:
        if sum(watched.listeners_count for watched in self._watched.values()) >= LISTENERS_MAX:
            return PlainTextResponse("too many pages are open", status_code=503)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(folder), media_type="text/event-stream", headers=headers)

    async def _events(self, folder: Path) -> AsyncIterator[str]:
        """What a page needs, each second what is new (server-sent events)."""
        if folder not in self._watched:
            self._watched[folder] = Watched(Standing(folder), FollowedFolder(folder))
        watched = self._watched[folder]
        watched.listeners_count += 1
        try:
            sent = _Sent()
            while not self.closing.is_set():
                await watched.read_on()
                for line in sent.new(watched):
                    yield line
                try:
                    await asyncio.wait_for(self.closing.wait(), TICK_S)
                except TimeoutError:
                    continue
            await watched.read_on(is_last=True)
            for line in sent.new(watched):
                yield line
            yield "event: ended\ndata: {}\n\n"
        finally:
            watched.listeners_count -= 1
            if not watched.listeners_count:
                self._watched.pop(folder, None)


class _Sent:
    """What one page has, so that only what is new is sent."""

    def __init__(self) -> None:
        self._document = ""
        self._points: dict[str, tuple[int, int]] = {}
        self._indexes: dict[str, int] = {}
        self._at_s = time.monotonic()

    def new(self, watched: Watched) -> list[str]:
        """Events that bring the page up to date."""
        events = []
        if watched.document != self._document:
            self._document = watched.document
            events.append(f"event: standing\ndata: {watched.document}\n\n")
        for trial in watched.trials:
            name, course = trial["trial_id"], watched.courses[trial["trial_id"]]
            if course.last_index == self._indexes.get(name):
                continue
            self._indexes[name] = course.last_index
            revision, count = self._points.get(name, (-1, 0))
            since = max(count - 1, 0) if revision == course.revision else 0
            self._points[name] = (course.revision, course.points_count)
            both = {
                "trial": trial,
                "course": course.document(since),
                "trials": [each["trial_id"] for each in watched.trials],
            }
            events.append(f"event: trial\ndata: {_as_json(both)}\n\n")
        if events:
            self._at_s = time.monotonic()
        elif time.monotonic() - self._at_s > _HEARTBEAT_S:  # so that a browser that is gone is noticed
            self._at_s = time.monotonic()
            events.append(": still here\n\n")
        return events


def course_of(path: Path) -> dict[str, Any]:
    """How a recorded trial went, as a page draws it.

    Raises:
        RecordError: The recording is damaged, or from a newer version.
    """
    recording, course = read_recording(path), Course()
    for moment in tables_of_recording(recording).moments():
        course.add(moment)
    outcome = recording.outcome
    ended = {
        "verdict": str(outcome.verdict),
        "reason": outcome.reason,
        "warnings": [{"code": each.code, "evidence": each.evidence} for each in outcome.warnings],
    }
    return {"trial": trial_document(recording.trial, path.name) | ended, "course": course.document()}


def _as_json(value: Any) -> str:
    """Without line feeds, as server-sent events want it, and without what would end a script."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def _html(text: str) -> Response:
    return HTMLResponse(text, headers={"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-store"})


def _message(text: str, *, status: int, base: str) -> Response:
    response = _html(page("message.html.jinja", text=text, base=base))
    response.status_code = status
    return response


def _document(text: str, scripts: Sequence[str]) -> Response:
    policy = DOCUMENT_POLICY.format(scripts=" ".join(scripts) or "'none'")
    return HTMLResponse(text, headers={"Content-Security-Policy": policy, "Cache-Control": "no-store"})


def _export(document: dict[str, Any]) -> Response:
    """The page of a trial as one file that works offline."""
    scripts = (resource("uplot.js"), resource("serve.js"))
    hashes = tuple(map(policy_hash, scripts))
    styles = "".join(map(resource, ("guide.css", "uplot.css", "serve.css")))
    text = page(
        "export.html.jinja",
        trial=document["trial"],
        data=_as_json(document),
        scripts=scripts,
        hashes=hashes,
        styles=styles,
    )
    name = f"trial-{checked_id(document['trial']['trial_id'])}.html"
    response = _document(text, hashes)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class Guarded:
    """Lets only those in who know the token and ask for this machine by one of its addresses."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str]) -> None:
        """Takes what to guard, and names of this machine besides its addresses, in lower case."""
        self._app, self._token, self._hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, or refuses, one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        _, _, path = str(scope["path"]).partition("/")
        token, slash, rest = path.partition("/")
        if not is_own(host, self._hosts):
            refusal = PlainTextResponse("this name does not lead to Plimsoll\n", status_code=421)
            await refusal(scope, receive, send)
        elif not secrets.compare_digest(token.encode(errors="replace"), self._token.encode()):
            await PlainTextResponse("not found\n", status_code=404)(scope, receive, send)
        elif not slash:
            await RedirectResponse(f"/{self._token}/")(scope, receive, send)
        else:
            inner = {**scope, "path": f"/{rest}", "raw_path": None}
            await self._app(inner, receive, _with_headers(send))


_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}


def _with_headers(send: Send) -> Send:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *_HEADERS.items()]
        await send(message)

    return sending


def is_own(host: str, names: frozenset[str]) -> bool:
    """Whether the name in a request is an address, or one of the names of this machine: no other site has either.

    >>> is_own("127.0.0.1:5665", frozenset()), is_own("[::1]:5665", frozenset()), is_own("evil.example", frozenset())
    (True, True, False)
    """
    name = host_asked_for(host)
    return name.lower() in names or address_in(name) is not None


def application(root: Path, *, token: str, names: frozenset[str] = frozenset()) -> tuple[ASGIApp, Pages]:
    """The pages of a folder, guarded, and what to tell when they close.

    Args:
        root: The folder.
        token: Every address begins with it.
        names: Of this machine, besides its addresses.
    """
    pages = Pages(root)
    routes = [
        Route("/", pages.home),
        Route("/compare", pages.compare),
        Route("/static/{name}", static),
        Route("/at/{rest:path}", pages.at),
    ]
    handlers: Any = {PlimsollError: _failed, OSError: _failed}
    starlette = Starlette(routes=routes, exception_handlers=handlers)
    return Guarded(starlette, token=token, hosts=names | {"localhost"}), pages


async def _failed(request: Request, error: Exception) -> Response:
    """What a page says where a folder cannot be read, or was removed meanwhile."""
    return _message(str(error), status=422, base="../" * (request.url.path.count("/") - 1) or "./")


async def static(request: Request) -> Response:
    """A file that pages need."""
    name = str(request.path_params["name"])
    if name not in STATIC:
        return PlainTextResponse("not found\n", status_code=404)
    return Response(resource(name), media_type=STATIC[name], headers={"Cache-Control": "max-age=3600"})


_LONG_AGO_S = 36 * 3600


@cache
def resource(name: str) -> str:
    """A file that pages need; the guide's style is that of all."""
    if name == "guide.css":
        return resources.files("plimsoll.guide").joinpath("templates", name).read_text(encoding="utf-8")
    return resources.files("plimsoll.serve").joinpath("static", name).read_text(encoding="utf-8")


def page(name: str, **values: Any) -> str:
    """A page as text.

    Args:
        name: Of the template.
        values: What it shows.
    """
    return _environment().get_template(name).render(version=__version__, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = template_environment("plimsoll.serve")
    environment.filters["when"] = when
    environment.filters["number"] = format_number
    return environment


def when(unix_s: float, now_unix_s: float | None = None) -> str:
    """A moment as people say it: how long ago, or the day.

    >>> when(0.0, 90.0), when(0.0, 864000.0)
    ('1 min 30 s ago', '1970-01-01 00:00 UTC')
    """
    ago_s = (time.time() if now_unix_s is None else now_unix_s) - unix_s
    if ago_s < _LONG_AGO_S:
        return f"{format_duration(max(ago_s, 0))} ago"
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(unix_s))
