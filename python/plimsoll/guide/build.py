"""From a study's folder to its guide: reads the recordings, analyses them, writes the files, prints them on paper.

`guide.html` is printed to PDF with a Chromium that is there; Plimsoll brings none. Deliberately not here: how the page
looks on paper, which its style sheet says for every browser.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from plimsoll.analyse.analysis import analyse
from plimsoll.analyse.explain.durability import durability_classes
from plimsoll.analyse.explain.storage import storage_uses
from plimsoll.analyse.model import Analysis, Cover, StudyFile
from plimsoll.errors import HostError, RecordError, SpecError
from plimsoll.guide.sources import of_plan, searches_of_plan
from plimsoll.importers.trials import missing_logs
from plimsoll.private_folder import PrivateFolder
from plimsoll.prose.phrases import LEFT_OUT, is_secret
from plimsoll.record.fault_tests import DURABILITY_FILE, DURABILITY_FORMAT, DurabilityRecord
from plimsoll.record.model import Price, price_of, priced
from plimsoll.record.storage import StorageRecord
from plimsoll.record.store import Recording, StudyRecordings
from plimsoll.record.store import read_study as read_study_recordings
from plimsoll.regular_file import text_regular
from plimsoll.run.capacity_search import read_searches
from plimsoll.run.folder import current_spec, document_folders, read_kept, read_plan
from plimsoll.run.storage import read_storages
from plimsoll.spec.cover import CoverSpec, picture_address, read_logo
from plimsoll.spec.new_study import toml_document
from plimsoll.spec.published import DOCUMENT_FILE, PublishedSpec, read_kept_document
from plimsoll.spec.study import STUDY_FILE, StudySection, StudySpec
from plimsoll.spec.system import UTILISATION, PriceFile, check_systems, read_prices
from plimsoll.units import format_exact

_LOG = logging.getLogger(__name__)


def analyse_folder(folder: Path, price_file: Path | None = None) -> Analysis:
    """Analyses all recordings of a study as it is now.

    A trial that its plan does not hold was made before the study was changed, under other conditions, and would pass
    for one more repetition: it is left out. Planned trials that have not run are listed as missing. Costs are those
    that the study states now, or the file of prices.

    Args:
        folder: The study's folder.
        price_file: Prices kept apart, see `spec.system`; None for none.

    Raises:
        SpecError: The file of prices cannot be read, is wrong, or has a price of a system that the study lacks; or an
            import's `document.toml` is wrong.
        RecordError: There is no study, or nothing in it can be read.
    """
    plan = read_plan(folder)
    study_recordings = of_plan(plan, read_study_recordings(folder))
    if not study_recordings.recordings:
        reason = (
            study_recordings.damaged[0].reason
            if study_recordings.damaged
            else "no trial has been recorded yet; run the study first"
        )
        raise RecordError(f"{folder}: {reason}")
    spec, note = current_spec(folder)
    if note is not None:
        _LOG.warning("%s", note)
    prices = PriceFile() if price_file is None else read_prices(price_file)
    if price_file is not None:
        check_systems(prices, price_file, _names(spec, study_recordings.recordings))
    name = study_recordings.recordings[0].trial.study
    if spec is None:
        return _of_import(folder, name, study_recordings, prices)
    order = [system.name for system in spec.system]
    objective_s = spec.study.objective.response_p99
    stated = {system.name: system.price for system in spec.system}
    analysis = analyse(
        name,
        sorted(
            _priced(stated, prices, study_recordings.recordings),
            key=lambda recording: _place(order, recording.trial.system.name),
        ),
        study_recordings.damaged,
        planned=None if plan is None else plan.trials,
        objective_ms_p99=None if objective_s is None else objective_s * 1000,
        equal_within=spec.study.equal_within,
        at_any_look=spec.study.is_until_decided,
        utilisation=prices.utilisation or spec.study.utilisation,
        claims=spec.claim,
        searches=searches_of_plan(plan, read_searches(folder)),
        fitted=None if plan is None else plan.fitted,
    )
    storages = _of_study(spec, read_storages(folder))
    uses = tuple(storage_uses(storages, analysis.systems, analysis.where_time))
    of_study = {"storages": storages, "storage_use": uses, "study_file": study_file(folder, spec)}
    document = _cover(analysis, spec.document, *document_folders(folder))
    return analysis.model_copy(update=_of_folder(folder, analysis, document) | of_study)


def _of_import(folder: Path, name: str, study_recordings: StudyRecordings, prices: PriceFile) -> Analysis:
    kept = folder / DOCUMENT_FILE
    published = read_kept_document(kept) if kept.exists() else PublishedSpec()
    imported = analyse(
        name,
        list(_priced({}, prices, study_recordings.recordings)),
        (*study_recordings.damaged, *missing_logs(folder)),
        searches=read_searches(folder),
        utilisation=prices.utilisation or UTILISATION,
        claims=published.claim,
    )
    document = _cover(imported, published.document, folder)
    return imported.model_copy(update=_of_folder(folder, imported, document))


def _cover(analysis: Analysis, cover: CoverSpec, *folders: Path) -> Cover:
    """The cover with its logo, from the first of the folders that has it; what cannot be had costs no guide."""
    factors = dict.fromkeys(name for system in analysis.systems for name in (*system.factor_values, *system.factors))
    if cover.group_by and cover.group_by not in factors:
        known = ", ".join(factors) or "none"
        _LOG.warning("document.group_by: no system has a factor %r; known are %s", cover.group_by, known)
    try:
        logo = picture_address(read_logo(cover, *folders))
    except SpecError as error:
        _LOG.warning("%s; the guide shows no logo", error)
        logo = ""
    return Cover(**{**cover.model_dump(), "logo": logo})


def _of_folder(folder: Path, analysis: Analysis, cover: Cover) -> dict[str, object]:
    """What an analysis says that is of the study and of no recording."""
    classes = durability_classes(analysis, _durability(folder))
    return {"document": cover, "durability_classes": classes}


def _durability(folder: Path) -> DurabilityRecord | None:
    """What a test of durability found, where the study's folder holds it."""
    cure = "write what plimsoll durability --json prints into it again, or remove it"
    version = ("durability_format", DURABILITY_FORMAT)
    return read_kept(folder / DURABILITY_FILE, DurabilityRecord, version=version, cure=cure)


def _of_study(spec: StudySpec, storages: Iterable[StorageRecord]) -> tuple[StorageRecord, ...]:
    """The storages that the study names now."""
    names = {storage.label for storage in spec.storage}
    return tuple(storage for storage in storages if storage.name in names)


def _names(spec: StudySpec | None, recordings: Iterable[Recording]) -> list[str]:
    """The systems that the study states or has recorded."""
    stated = [] if spec is None else [system.name for system in spec.system]
    return list(dict.fromkeys([*stated, *(recording.trial.system.name for recording in recordings)]))


def _place(order: list[str], name: str) -> int:
    """Systems come in the order in which the user wrote them; those that an edited file lacks come last."""
    return order.index(name) if name in order else len(order)


def _priced(
    stated: Mapping[str, Price | None], prices: PriceFile, recordings: Iterable[Recording]
) -> Iterator[Recording]:
    """The recordings with the prices of the file, else of the study: no condition of a trial, and may change later."""
    for recording in recordings:
        system = recording.trial.system
        price = prices.price_of(system.name) or stated.get(system.name) or price_of(system)
        yield replace(
            recording, trial=recording.trial.model_copy(update={"system": system.model_copy(update=priced(price))})
        )


def build_guide(
    folder: Path, to: Path | None = None, price_file: Path | None = None
) -> tuple[Analysis, tuple[Path, ...]]:
    """Analyses a study and writes its guide, the HTML file first.

    Args:
        folder: The study's folder.
        to: Where the files are written; the study's folder when None.
        price_file: Prices kept apart; None for none.

    Raises:
        RecordError: There is no study, or nothing in it can be read.
        HostError: The files cannot be written.
    """
    from plimsoll.guide.files import write_guide  # draws charts, which an analysis needs none of

    analysis = analyse_folder(folder, price_file)
    return analysis, tuple(write_guide(analysis, to or folder, folder))


_OPTIONS = (
    ("warm-up", "warm_up"),
    ("longest warm-up", "warm_up_limit"),
    ("longest wait for a quiet server", "settle_limit"),
    ("measured", "duration"),
    ("repetitions", "repetitions"),
    ("data is put back", "reset"),
    ("design", "design"),
    ("seed", "seed"),
)
"""What a guide calls the keys of `[study]` that say how trials ran."""


def study_file(folder: Path, spec: StudySpec) -> StudyFile:
    """How to repeat the study: its file as it was when the study ran, and the options that decided how."""
    section = spec.study
    options = {name: _option_words(getattr(section, key)) for name, key in _OPTIONS}
    options["data is put back"] = ", ".join(dict.fromkeys(spec.reset_of(system) for system in spec.system))
    if section.warm_up is not None:
        options.pop("longest warm-up")
    options["repetitions"] = _repetitions_words(section)
    return StudyFile(options=options, text=without_secrets(text_regular(folder / STUDY_FILE)))


def _option_words(value: object) -> str:
    if value is None:
        return "auto"
    return f"{format_exact(value)} s" if isinstance(value, float) else str(value)


def _repetitions_words(section: StudySection) -> str:
    kind = "rounds" if section.is_duet else "repetitions"
    if section.climbs and section.is_duet:
        return f"{section.repetition_count} rounds of ramps at most, until decided"
    until = f"until decided, at most {section.repetitions_limit} {kind}"
    if section.is_duet:
        rounds = until if section.is_until_decided else f"{section.repetition_count} {kind}"
        return f"{rounds}, turns of {section.turn:g} s"
    return until if section.is_until_decided else str(section.repetition_count)


def without_secrets(text: str) -> str:
    """A study file, written again from what it says, without what may be secret.

    Comments, the arguments of hooks and whatever is called a secret may hold passwords.
    """
    document = tomllib.loads(text)
    public = {
        name: [_public(table, (name,)) for table in content] if isinstance(content, list) else _public(content, (name,))
        for name, content in document.items()
    }
    return toml_document(public)


def _public(value: Any, path: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {key: _public(item, (*path, key)) for key, item in value.items()}
    is_program = path[:2] in _PROGRAMS or (path[2:3] == ("check",) and path[0] == "environment")
    if is_program and path[-1] != "limit":
        words = shlex.split(value) if isinstance(value, str) else [str(word) for word in value]
        return [*words[:1], LEFT_OUT] if words[1:] else words
    if path[:2] != ("workload", "rows") and is_secret(path[-1]):
        return LEFT_OUT
    if isinstance(value, list):
        return [_public(item, path) for item in value]
    return _public_text(value) if isinstance(value, str) else value


_PROGRAMS = (("study", "hooks"), ("system", "hooks"))
_SET = re.compile(r"([\w-]+)=(\S+)")
_LOGIN = re.compile(r"(?:(\w+)://|(?<!\S))([^\s:@/]*)(:\S*)?@")
_LOGIN_SCHEMES = ("mysql", "mariadb", "ssh")


def _public_text(text: str) -> str:
    """A text without passwords of addresses, and without what it sets that is called a secret."""

    def login(match: re.Match[str]) -> str:
        scheme, user, password = match.groups()
        if scheme is None and password is None:
            return match[0]
        name = user if password or scheme in _LOGIN_SCHEMES else "…"
        return f"{'' if scheme is None else scheme + '://'}{name}{':…' if password else ''}@"

    text = _LOGIN.sub(login, text)
    return _SET.sub(lambda match: f"{match[1]}={LEFT_OUT}" if is_secret(match[1]) else match[0], text)


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
"""Commands that print alike, in the order in which they are tried."""

LIMIT_S = 120.0
"""A guide of 500 recordings takes a few seconds; a browser that hangs must not hang the command."""

_CURE = "Open guide.html in a browser and print it to a file."


def print_pdf(page: Path, to: Path, *, limit_s: float = LIMIT_S) -> Path:
    """Prints a page that lies on this machine; the PDF stands there whole or not at all.

    The browser gets a profile of its own, which is removed, and goes nowhere: guides fetch nothing.

    Args:
        page: An HTML file.
        to: Where the PDF goes.
        limit_s: After so many seconds the browser is ended.

    Returns:
        `to`.

    Raises:
        HostError: There is no browser, it failed, it took too long, or the file cannot be written.
    """
    command = _browser()
    with PrivateFolder("print") as profile:
        printed = profile / "guide.pdf"
        words = [command, *_flags(profile), f"--print-to-pdf={printed}", page.resolve().as_uri()]
        _run(words, limit_s)
        if not printed.exists() or not printed.read_bytes().startswith(b"%PDF"):
            raise HostError(f"{command} made no PDF of {page}. {_CURE}")
        try:
            partial = to.with_name(f".{to.name}-partial")
            shutil.copyfile(printed, partial)
            partial.replace(to)
        except OSError as error:
            raise HostError(f"{to}: cannot be written: {error.strerror}; choose another folder with --to") from error
    return to


def _browser() -> str:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise HostError(
            "a PDF needs Chromium or Chrome, and none is installed here (looked for "
            f"{', '.join(BROWSERS)}). Install one (apt install chromium), or: {_CURE}"
        )
    return browser


def _flags(profile: Path) -> list[str]:
    flags = ["--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-pdf-header-footer"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium has no sandbox for root; the page is our own and runs no other script
    return [*flags, f"--user-data-dir={profile}"]


def _run(words: list[str], limit_s: float) -> None:
    """Runs a browser to its end, in a process group of its own: at the limit its children end with it."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        code = process.wait(limit_s)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{words[0]} did not print within {limit_s:.0f} s and was ended. {_CURE}") from error
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()
    if code != 0:
        raise HostError(f"{words[0]} failed to print (exit code {code}). {_CURE}")
